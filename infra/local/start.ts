// `npm start`: the whole service on this machine, from its sources to its first response.
// Checks the command line, the port and the data folder first, before it loads anything that builds or runs the service.
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve, sep } from "node:path";
import { parseArgs } from "node:util";
import type { RunOptions } from "./run.ts";
import { type Environment, ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { BrandError, readBrand } from "../brand.ts";
import { DEFAULT_DATA_DIR, readEnvironment } from "./access.ts";
import { LocalError } from "./errors.ts";
import { UNAUTHENTICATED_MAX } from "./gateway/unauthenticated-limit.ts";
import { lockDirectory } from "./lock.ts";

/** The environments differ in both, so that they may run at the same time. */
const DEFAULTS: Readonly<Record<Environment, { port: number; dataDir: string }>> = {
  test: { port: 3000, dataDir: DEFAULT_DATA_DIR },
  live: { port: 3100, dataDir: join(DEFAULT_DATA_DIR, "live") },
};
const USAGE = [
  "npm start [-- [--environment test|live] [--reset] [--data DIR] [--other-dashboard URL] [--brand FILE]]     PORT=3000 by default (live: 3100)",
  "--reset starts with no data (test only)",
  "--data stores the data in DIR",
  "--other-dashboard is the URL of the other environment's dashboard, which this one links to",
  "--brand is a file with the name, logo, color and support link that the dashboard shows (docs/deploy.md)",
].join("; ");

/** The data folder, once it is known. */
let inUse = "";

async function start(): Promise<void> {
  const options = readOptions();
  inUse = options.dataDir;
  await requireFree(options.port);
  makeDirectory(options.dataDir);
  const release = lockDirectory(options.dataDir); // not while the service is running
  try {
    requireOwn(options.dataDir);
    requireEnvironment(options);
    if (options.reset) removeData(options.dataDir);
    else requireData(options.dataDir);
    makeFolders(options.dataDir);
  } finally {
    release();
  }
  const { run } = await import("./run.ts");
  await run(options, { stopWith, end });
}

interface Options extends RunOptions {
  reset: boolean;
}

function readOptions(): Options {
  const { values } = parseOptions();
  const environment = ENVIRONMENTS.find((name) => name === (values.environment ?? "test"));
  if (environment === undefined) throw new LocalError(`--environment is ${ENVIRONMENTS.join(" or ")}: ${USAGE}`);
  if (environment === "live" && values.reset)
    throw new LocalError(
      "--reset does not work in live: it would delete all backups, and the keys to machines that continue to cost money. Delete the servers first, then delete the data folder yourself.",
    );
  const usual = DEFAULTS[environment];
  const port = Number(process.env["PORT"] ?? usual.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new LocalError(`PORT is ${process.env["PORT"]}: set it to a number from 1 to 65535.`);
  const unauthenticatedMax =
    numberIn("REQUESTS_WITHOUT_CREDENTIAL", "how many an address may send in five minutes") ?? UNAUTHENTICATED_MAX;
  const url = values["other-dashboard"];
  if (url !== undefined && !/^https?:\/\/[^/]/.test(url)) throw new LocalError(`${url} is not the URL of a dashboard: ${USAGE}`);
  const otherDashboard: RunOptions["otherDashboard"] =
    url === undefined ? null : { environment: environment === "live" ? "test" : "live", url };
  const brand = values.brand === undefined ? null : brandIn(values.brand);
  return {
    environment,
    dataDir: resolve(values.data ?? usual.dataDir),
    port,
    unauthenticatedMax,
    transactionMilliseconds: numberIn("TRANSACTION_MILLISECONDS", "how long a transaction keeps others from its items"),
    reset: values.reset ?? false,
    otherDashboard,
    brand,
  };
}

function brandIn(path: string): RunOptions["brand"] {
  try {
    return readBrand(path);
  } catch (error) {
    throw error instanceof BrandError ? new LocalError(error.message, { cause: error }) : error;
  }
}

/** An environment variable, if it is set. */
function numberIn(name: string, meaning: string): number | undefined {
  const value = process.env[name];
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new LocalError(`${name} is ${meaning}: set it to a whole number.`);
  return Number(value);
}

function parseOptions() {
  try {
    const text = { type: "string" } as const;
    return parseArgs({
      options: { environment: text, reset: { type: "boolean" }, data: text, "other-dashboard": text, brand: text },
    });
  } catch (error) {
    const [problem] = String(error instanceof Error ? error.message : error).split(". "); // the rest belongs to another command
    throw new LocalError(`${problem}: ${USAGE}`, { cause: error });
  }
}

/** Checked before anything is built, because it is the most common obstacle. */
async function requireFree(port: number): Promise<void> {
  await requireFreeAt(port, "127.0.0.1");
  await requireFreeAt(port, "::1"); // where browsers look for localhost first
}

function requireFreeAt(port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(error.code ?? "")) return resolve(); // a machine without IPv6
      reject(
        new LocalError(
          error.code === "EADDRINUSE"
            ? `Port ${port} is taken: stop what uses it, or choose another, e.g. PORT=${port + 1} npm start`
            : `Port ${port} cannot be used (${error.code}): choose another, e.g. PORT=3001 npm start`,
          { cause: error },
        ),
      );
    });
    probe.listen(port, address, () => probe.close(() => resolve()));
  });
}

/**
 * Creates a folder without `recursive`: Node retries for ever if a file system has folders in which nothing can be created, such
 * as /proc.
 */
function makeDirectory(directory: string): void {
  try {
    if (!existsSync(dirname(directory))) makeDirectory(dirname(directory));
    if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
    if (!statSync(directory).isDirectory()) throw new Error("it is a file");
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError(
      `${directory} cannot be used for data (${error instanceof Error ? error.message : String(error)}): choose another with --data DIR`,
      { cause: error },
    );
  }
}

/** What a start creates in its data directory. Nothing else in there is ours to remove. */
const FOLDERS = ["dynamodb", "executions", "logs", "mails", "s3"];
/** Written anew by each start, at its end. */
const REWRITTEN = "access.json";
const FILES = [REWRITTEN, "aws-port", "demo.json", "local-secret", "secrets.json"];

/** What every start after the first one needs, or it would begin with nothing, or with other keys. */
const LASTING = [join("dynamodb", "shared-local-instance.db"), "local-secret", "secrets.json"];

/** Folders of these names may be somebody else's: a service would write into them, and `--reset` delete them. */
function requireOwn(dataDir: string): void {
  if (FILES.some((name) => existsSync(join(dataDir, name)))) return;
  const foreign = FOLDERS.map((name) => join(dataDir, name)).find((path) => isFolder(path) && readdirSync(path).length > 0);
  if (foreign !== undefined) throw new LocalError(`${foreign} is not of this service: choose another folder with --data DIR`);
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Without this check, live data would be opened as the test environment's, and `--reset` would delete it. */
function requireEnvironment({ environment, dataDir }: Options): void {
  const existing = readEnvironment(dataDir);
  if (existing !== undefined && existing !== environment)
    throw new LocalError(
      `${dataDir} has the data of the environment ${existing}: start it with --environment ${existing}, or choose another folder with --data DIR`,
    );
}

/** Whoever else may use this machine must not read what is in them, not even if the folder around them existed before. */
function makeFolders(dataDir: string): void {
  for (const name of FOLDERS) {
    mkdirSync(join(dataDir, name), { recursive: true });
    chmodSync(join(dataDir, name), 0o700);
  }
}

function removeData(dataDir: string): void {
  for (const name of [...FOLDERS, "service-backup", ...FILES]) rmSync(join(dataDir, name), { recursive: true, force: true });
}

/** An earlier start leaves folders, files and JSON. Their readers check the contents. */
function requireData(dataDir: string): void {
  for (const name of FOLDERS) requireReadable(join(dataDir, name), readdirSync);
  if (readEnvironment(dataDir) !== undefined)
    for (const name of LASTING)
      if (!existsSync(join(dataDir, name)))
        throw new LocalError(dataCannotBeUsed(`${join(dataDir, name)} is missing: restore it from a backup of the folder`));
  for (const name of FILES.filter((each) => each !== REWRITTEN))
    requireReadable(join(dataDir, name), name.endsWith(".json") ? readJson : readFileSync);
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

function requireReadable(path: string, read: (path: string) => unknown): void {
  if (!existsSync(path)) return;
  try {
    read(path);
  } catch (cause) {
    throw new LocalError(dataCannotBeUsed(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`), { cause });
  }
}

const dataCannotBeUsed = (reason: string): string =>
  `The data cannot be used (${reason}): start with --reset to delete it (in test only), or choose another folder with --data DIR`;

let stopping = false;
let stopAll: () => Promise<void> = () => Promise.resolve();

function stopWith(stop: () => Promise<void>): void {
  stopAll = stop;
}

/** Stops everything that was started, once, and exits. */
async function end(error?: unknown): Promise<void> {
  if (stopping) return;
  stopping = true;
  if (error !== undefined) console.error(`\n${formatMessage(error)}`);
  else console.log("\nStopping …");
  try {
    await stopAll();
  } catch (stopError) {
    console.error(String(stopError));
  }
  process.exit(error === undefined ? 0 : 1);
}

/** A bug is shown with its stack; what the user can fix needs none. */
function formatMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof LocalError) return error.message;
  if ("code" in error && error.code === "ENOSPC") return `The disk is full (${error.message}): make room, and start again`;
  return isOfData(error) ? dataCannotBeUsed(error.message) : (error.stack ?? error.message);
}

/**
 * Something in the data folder is damaged: a file in place of a folder, or invalid JSON. What else fails is no reason to touch
 * the data.
 */
function isOfData(error: Error): boolean {
  if (error instanceof SyntaxError) return true;
  const path = "path" in error && typeof error.path === "string" ? error.path : "";
  return [...FOLDERS, ...FILES].some((name) => `${path}${sep}`.startsWith(join(inUse, name) + sep));
}

process.on("SIGINT", () => void end());
process.on("SIGTERM", () => void end());
process.on("disconnect", () => void end()); // the parent is gone
await start().catch(end);
