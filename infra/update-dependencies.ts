// `npm run update`: every dependency to its newest version of the same major, or with `-- --major` to its newest, then `npm
// test`. Versions stay exact.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as z from "zod";
import { ROOT } from "./built.ts";

const Package = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
});

const { major } = parseArgs({ options: { major: { type: "boolean", default: false } } }).values;

function npm(...args: string[]): void {
  const { status } = spawnSync("npm", args, { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}

const versions = (): Map<string, string> => {
  const { dependencies, devDependencies, optionalDependencies } = Package.parse(
    JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")),
  );
  return new Map(Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }));
};

const before = versions();
const packages = [...before].map(([name, version]) => `${name}@${major ? "latest" : `^${version}`}`);
// The lockfile alone: the tests install it, as on any machine.
npm("install", "--save-exact", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", ...packages);
const updated = [...versions()].filter(([name, version]) => before.get(name) !== version);
for (const [name, version] of updated) console.log(`${name} ${before.get(name)} -> ${version}`);
if (updated.length === 0) console.log("Every dependency is up to date");
else npm("test");
