// `npm ci` works with every version of npm: the lockfiles have an entry for whatever their packages may need, on any platform.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";

const Names = z.record(z.string(), z.string()).default({});
const Package = z.object({
  dependencies: Names,
  devDependencies: Names,
  optionalDependencies: Names,
  peerDependencies: Names,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().default(false) })).default({}),
});
const Lockfile = z.object({ packages: z.record(z.string(), Package) });

describe.each([".", "test/benchmark/peers"])("the lockfile in %s", (folder) => {
  const { packages } = Lockfile.parse(JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")));

  test("has an entry for each dependency of each package", () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      [
        ...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies, ...(path === "" && entry.devDependencies) }),
        ...Object.keys(entry.peerDependencies).filter((name) => entry.peerDependenciesMeta[name]?.optional !== true),
      ].flatMap((name) => (placesFor(path, name).some((place) => place in packages) ? [] : `${path} needs ${name}`)),
    );
    expect(missing).toEqual([]);
  });

  test("lists what package.json does", () => {
    const manifest = Package.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
    expect(packages[""]).toEqual(manifest);
  });

  test("is accepted by npm ci", () => {
    const copy = mkdtempSync(join(tmpdir(), "lockfile-"));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(folder, file), join(copy, file));
    const args = [
      "ci",
      "--dry-run",
      "--offline",
      "--ignore-scripts",
      "--include=dev",
      "--loglevel=error",
      "--cache",
      join(copy, "cache"),
    ];
    const { status, stderr } = spawnSync("npm", args, { cwd: copy, encoding: "utf8", shell: process.platform === "win32" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

/** Returns the paths at which a package finds another one: in its own folder, then in those around it. */
function placesFor(path: string, name: string): string[] {
  const folders = path.split("/node_modules/").map((_, depth, parts) => parts.slice(0, depth + 1).join("/node_modules/"));
  return ["", ...folders.filter((folder) => folder !== "")].map((folder) => join(folder, "node_modules", name));
}
