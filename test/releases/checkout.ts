// The code of a release beside this one, with the dependencies of this one.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as z from "zod";

const ROOT = resolve(import.meta.dirname, "..", "..");
const Manifest = z.object({ dependencies: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) });

const git = (...args: string[]): string => execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: "pipe" });

/** Why a release cannot run here; undefined if it can. */
export function obstacleOf(release: string): string | undefined {
  try {
    git("rev-parse", "--verify", "--quiet", `${release}^{commit}`);
  } catch {
    return `this clone has no commit ${release}: fetch the history`;
  }
  const { dependencies, devDependencies } = Manifest.parse(JSON.parse(git("show", `${release}:package.json`)));
  const other = Object.entries({ ...dependencies, ...devDependencies }).find(
    ([name, version]) => majorOf(name) !== version.split(".")[0],
  );
  return other && `${release} needs ${other.join(" ")}, which is not installed in this major version`;
}

function majorOf(name: string): string | undefined {
  try {
    const text = readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8");
    return z.object({ version: z.string() }).parse(JSON.parse(text)).version.split(".")[0];
  } catch {
    return undefined;
  }
}

/** The folder of its code; `remove` deletes it. */
export function checkOut(release: string): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "release-code-"));
  const tar = execFileSync("git", ["archive", release], { cwd: ROOT, maxBuffer: 1e9 });
  execFileSync("tar", ["-x", "-C", folder], { input: tar });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
