// The product as a user receives it: a copy in its own folder, started by `npm start` and known only by its output.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = resolve(import.meta.dirname, "..", "..");

export interface Product {
  folder: string;
  /** Another data folder, which does not exist yet. */
  newDataDir: () => string;
  start: (options?: StartOptions) => Started;
  /** Copies builds of the same sources, so that a start has to make them no more. */
  bring: (builds: readonly string[]) => void;
  /** Ends what a failed test has left running. */
  killAll: () => Promise<void>;
  remove: () => void;
}

interface StartOptions {
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface Started {
  pid: number;
  stdout: () => string;
  stderr: () => string;
  /** Resolves once it says that it is ready; rejects with its output if it ends before. */
  ready: () => Promise<void>;
  ended: Promise<number | null>;
  /** Interrupts as a terminal does: the signal goes to the whole process group. */
  interrupt: () => Promise<number | null>;
  /** Kills the process with all of its child processes. */
  kill: () => Promise<void>;
  /** The process and all of its children. */
  processes: () => number[];
}

/** The files of the repository, including new ones, with the dependencies of this copy. */
export function copyProduct(): Product {
  // A path without links, because tests find processes by theirs.
  const home = realpathSync(mkdtempSync(join(tmpdir(), "product-")));
  const folder = join(home, "copy");
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  // The copy would install its own in this one's place.
  if (!existsSync(join(ROOT, "node_modules", ".installed")))
    throw new Error("Install the dependencies by `npm start` or `npm test`");
  for (const file of files.split("\0").filter(Boolean)) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const running = new Set<Started>();
  let dataDirs = 0;
  return {
    folder,
    newDataDir: () => join(home, `data ${(dataDirs += 1)}`),
    start: (options) => {
      const started = startIn(folder, options);
      running.add(started);
      void started.ended.then(() => running.delete(started));
      return started;
    },
    bring: (builds) => {
      for (const build of builds) cpSync(build, join(folder, relative(ROOT, build)), { recursive: true });
    },
    killAll: async () => {
      await Promise.all([...running].map((each) => each.kill()));
    },
    remove: () => {
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** Nothing of the tests' own environment. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(AWS_|VITEST|NODE_|npm_|TABLE_NAME|ENVIRONMENT$|PORT$|SANDBOX_)/.test(name),
    ),
  );

function startIn(cwd: string, { args = [], env = {} }: StartOptions = {}): Started {
  const child = spawn("npm", ["start", "--silent", ...(args.length > 0 ? ["--", ...args] : [])], {
    cwd,
    env: { ...environment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("npm could not be started");
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "close").then(([code]: unknown[]) => (typeof code === "number" ? code : null));
  const ready = async (): Promise<void> => {
    let over = false;
    void ended.then(() => (over = true));
    while (!/^Ready after/m.test(stdout)) {
      if (over) throw new Error(`It ended before it was ready: ${stdout}\n${stderr}`);
      await sleep(50);
    }
    while (!/Paste these|signs in to machines/.test(stdout) || !stdout.endsWith("\n\n")) await sleep(10);
  };
  return {
    pid,
    stdout: () => stdout,
    stderr: () => stderr,
    ready,
    ended,
    interrupt: () => {
      send(-pid, "SIGINT");
      return ended;
    },
    kill: async () => {
      const all = descendants(pid);
      send(-pid, "SIGKILL");
      for (const each of all) send(each, "SIGKILL");
      await ended;
      while (all.some(isAlive)) await sleep(20);
    },
    processes: () => descendants(pid),
  };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it is gone, as intended
  }
}

/** A process, as /proc describes it: its parent, and whether it still runs. */
function statOf(pid: number): { parent: number; state: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== "Z";
}

function descendants(root: number): number[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: statOf(Number(name))?.parent }));
  const pids = [root];
  for (const pid of pids) pids.push(...all.filter(({ parent }) => parent === pid).map((each) => each.pid));
  return pids;
}

/** Addresses on which processes listen, in the format of /proc. */
export function listeners(pids: readonly number[]): string[] {
  const sockets = new Set(pids.flatMap(socketsOf));
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .slice(1)
      .flatMap((line) => {
        const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
        return state === "0A" && sockets.has(inode) ? [local] : [];
      }),
  );
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, fd)))?.[1] ?? [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

/** A folder of commands without one of them. */
export function commandsWithout(product: Product, missing: string): string {
  const folder = mkdtempSync(join(dirname(product.folder), "bin-"));
  for (const name of ["node", "npm", "sh", "bash", "env", "git"].filter((each) => each !== missing)) {
    const path = execFileSync("which", [name], { encoding: "utf8" }).trim();
    symlinkSync(realpathSync(path), join(folder, name));
  }
  return folder;
}
