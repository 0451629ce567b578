// Runs a script of the project with Node 24 and all dependencies, whatever Node is on the PATH (20 or later; 24 on macOS).
// Plain JavaScript without dependencies, because it runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const [script, ...args] = process.argv.slice(2);

/** What serves for long, and the benchmark that starts it. */
const SERVES = ["infra/local/start.ts", "test/benchmark/run.ts"];
/** Gives memory back, for more CPU: tests, whose processes end soon, took 7 % more. */
const SERVICE_MEMORY = {
  // Functions run in threads that end when they are idle. With an arena each, what a thread held is given back; shared with what
  // stays, 50,000 requests left 600 MB of holes.
  MALLOC_ARENA_MAX: "128",
  // A fixed limit keeps it from raising the limit with every large buffer: those are given back as soon as they are free.
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

install();
run(findNode());

/**
 * Installs what the lockfile lists, unless that was the last installation. `npm ci` begins with an empty folder: no stamp
 * survives a failure.
 */
function install() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.log("Installing dependencies …");
  // None of our packages needs its install script, and a script that does not run cannot do harm.
  const npm = spawnSync(
    "npm",
    ["ci", "--include=dev", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    },
  );
  if (npm.status !== 0)
    fail("The dependencies could not be installed: run `npm ci --ignore-scripts` to see why, then try again.");
  writeFileSync(stamp, lock);
}

/** The Node 24 from the dependencies, if there is one for this machine; else the one on the PATH, if it is new enough. */
function findNode() {
  for (const platform of ["linux-x64", "linux-arm64", "win-x64"]) {
    if (platform !== `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`) continue;
    const node = join(root, "node_modules", `node-${platform}`, "bin", process.platform === "win32" ? "node.exe" : "node");
    if (existsSync(node)) return node;
  }
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 24)
    fail(
      `Node 24 or later is needed on ${process.platform}-${process.arch}, and this is ${process.versions.node}: install it and try again.`,
    );
  return process.execPath;
}

function run(node) {
  // The channel ends with this process, however it ends: the child then stops too.
  const child = spawn(node, [join(root, script), ...args], {
    cwd: root,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: {
      // Stores what Node compiles, and the sources without types, for the next start and for this one's child processes.
      NODE_COMPILE_CACHE: join(root, ".local", "compile-cache"),
      ...(SERVES.includes(script) && SERVICE_MEMORY),
      ...process.env,
    },
  });
  process.on("SIGINT", () => {}); // a terminal signals the child as well; this process stays to pass on its exit code
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  process.on("SIGHUP", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
