// Builds the dashboard: the same files for every environment, because it fetches what differs at run time.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { builtOnce, computeFingerprint, ROOT } from "./built.ts";

/** Everything that goes into the files: the dashboard, the code it shares with the API, dependencies and build code. */
export const SOURCES = [
  "dashboard",
  "CHANGELOG.md",
  "shared/api",
  "shared/domain",
  "shared/platform/concurrently.ts",
  "shared/api/parse.ts",
  "infra/dashboard-build.ts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
];

/** The folder of the current sources' dashboard: built if there is none yet. */
export const buildDashboard = async (cache = join(ROOT, ".local", "dashboard")): Promise<string> =>
  builtOnce(cache, await computeFingerprint(SOURCES), build);

const run = promisify(execFile);

/** Builds in a separate process: other work continues, and nothing of this process's environment gets into the files. */
async function build(outDir: string): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin", "vite.js");
  const config = join(ROOT, "dashboard", "vite.config.ts");
  const options = ["--config", config, "--outDir", outDir, "--emptyOutDir", "--logLevel", "warn"];
  try {
    await run(process.execPath, [vite, "build", ...options], { cwd: ROOT, env: { NODE_ENV: "production", NO_COLOR: "1" } });
  } catch (cause) {
    const output = cause instanceof Error && "stderr" in cause ? String(cause.stderr) : String(cause);
    throw new Error(`The dashboard cannot be built: ${output}`, { cause });
  }
}
