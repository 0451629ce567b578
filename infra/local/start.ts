// `npm start`: the whole service on this machine, from its sources to its first answer.
import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openapi } from "../../shared/api/openapi.ts";
import { bundleIfChanged } from "../bundle.ts";
import { buildDashboard } from "../dashboard-build.ts";
import type { DashboardConfig } from "../dashboard-headers.ts";
import { type Environment, ENVIRONMENTS, stackName } from "../settings.ts";
import { DEFAULT_DATA_DIR, writeAccess } from "./access.ts";
import { startCloud, variableOf } from "./cloud.ts";
import { type Demo, demoAccount } from "./demo.ts";
import { docsPage } from "./docs-page.ts";
import { LocalError } from "./errors.ts";
import { liveWelcome, prepareLive } from "./live.ts";
import { lockDirectory } from "./lock.ts";
import { configurationFrom, storeFrom } from "./operator.ts";
import { serve } from "./pages.ts";
import { synthIfChanged } from "./synthesized.ts";

/** Both may run side by side. */
const DEFAULTS: Readonly<Record<Environment, { port: number; dataDir: string }>> = {
  test: { port: 3000, dataDir: DEFAULT_DATA_DIR },
  live: { port: 3100, dataDir: join(DEFAULT_DATA_DIR, "live") },
};
const USAGE = [
  "npm start [-- [--environment test|live] [--reset] [--data DIR] [--other-dashboard URL]]     PORT=3000 by default (live: 3100)",
  "--reset starts with no data (test only)",
  "--data keeps them in DIR",
  "--other-dashboard is where the other environment's dashboard is, to which this one's leads",
].join("; ");

async function start(): Promise<void> {
  const began = performance.now();
  const { environment, dataDir, port, reset, otherDashboard } = options();
  const given = environment === "live" ? { configuration: configurationFrom(process.env), store: storeFrom(process.env) } : {};
  await requireFree(port);
  makeDirectory(dataDir);
  if (reset) removeData(dataDir);
  const [outDir, dashboard] = await told("Building and synthesizing", () =>
    Promise.all([bundleIfChanged().then((bundles) => synthIfChanged(bundles, [environment])), buildDashboard()]),
  );
  const docs = docsPage(openapi(environment), `http://127.0.0.1:${port}`);
  const fallback = serve({ dashboard, docs, environment, otherDashboard });
  const cloud = await told("Starting the database, storage, workflows and API", () =>
    startCloud({ outDir, stack: stackName(environment), dataDir, port, fallback, ...given }),
  );
  stopWith(cloud.stop);
  void cloud.databaseExited.then(() =>
    end(new LocalError("The database ended unexpectedly; see the logs in " + join(dataDir, "logs"))),
  );
  const HOSTS_KEY = variableOf(cloud.template, "HOSTS_KEY") ?? "";
  const access = { ...cloud.operator.environment, TABLE_NAME: cloud.tableName, ENVIRONMENT: environment, HOSTS_KEY };
  Object.assign(process.env, access);
  writeAccess(dataDir, access);
  const greeting =
    environment === "live"
      ? liveWelcome(await told("Asking providers what they offer", () => prepareLive(cloud)), cloud.apiUrl, dataDir)
      : welcome(await told("Preparing the demo account", () => demoAccount(dataDir, cloud.apiUrl, environment)));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`\nReady after ${seconds} s. Ctrl-C stops it; data are kept in ${dataDir} (--reset removes them).\n${greeting}`);
}

interface Options {
  environment: Environment;
  dataDir: string;
  port: number;
  reset: boolean;
  otherDashboard: DashboardConfig["other_dashboard"];
}

function options(): Options {
  const { values } = parseOptions();
  const environment = ENVIRONMENTS.find((name) => name === (values.environment ?? "test"));
  if (environment === undefined) throw new LocalError(`--environment is ${ENVIRONMENTS.join(" or ")}: ${USAGE}`);
  if (environment === "live" && values.reset)
    throw new LocalError(
      "--reset is not for live: it would remove all backups, and the keys to machines that go on costing money. Delete the servers first, then remove the data's folder yourself.",
    );
  const usual = DEFAULTS[environment];
  const port = Number(process.env["PORT"] ?? usual.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new LocalError(`PORT is ${process.env["PORT"]}: set it to a number from 1 to 65535.`);
  const url = values["other-dashboard"];
  if (url !== undefined && !/^https?:\/\/[^/]/.test(url)) throw new LocalError(`${url} is no address of a dashboard: ${USAGE}`);
  const otherDashboard: Options["otherDashboard"] =
    url === undefined ? null : { environment: environment === "live" ? "test" : "live", url };
  return { environment, dataDir: resolve(values.data ?? usual.dataDir), port, reset: values.reset ?? false, otherDashboard };
}

function parseOptions() {
  try {
    const text = { type: "string" } as const;
    return parseArgs({ options: { environment: text, reset: { type: "boolean" }, data: text, "other-dashboard": text } });
  } catch (error) {
    const [what] = String(error instanceof Error ? error.message : error).split(". "); // what follows is of another command line
    throw new LocalError(`${what}: ${USAGE}`, { cause: error });
  }
}

/** Told before anything is built: it is the most common thing to be in the way. */
function requireFree(port: number): Promise<void> {
  return new Promise((free, taken) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) =>
      taken(
        new LocalError(
          error.code === "EADDRINUSE"
            ? `Port ${port} is taken: stop what uses it, or choose another, e.g. PORT=${port + 1} npm start`
            : `Port ${port} cannot be used (${error.code}): choose another, e.g. PORT=3001 npm start`,
          { cause: error },
        ),
      ),
    );
    probe.listen(port, "127.0.0.1", () => probe.close(() => free()));
  });
}

/** Not with `recursive`: Node tries for ever where a file system has folders in which nothing can be made, such as /proc. */
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

/** What a start makes in its data directory. Nothing else there is ours to remove, whatever directory we were given. */
const DATA = ["access.json", "aws-port", "demo.json", "dynamodb", "executions", "local-secret", "logs", "s3", "secrets.json"];

function removeData(dataDir: string): void {
  const release = lockDirectory(dataDir); // not under a running service
  for (const name of DATA) rmSync(join(dataDir, name), { recursive: true, force: true });
  release();
}

async function told<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  process.stdout.write(`${what} … `);
  const result = await work();
  console.log(`${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
}

let stopping = false;
let stopAll: () => Promise<void> = () => Promise.resolve();

function stopWith(stop: () => Promise<void>): void {
  stopAll = stop;
}

/** Stops everything that was started, once, and leaves. */
async function end(error?: unknown): Promise<void> {
  if (stopping) return;
  stopping = true;
  if (error !== undefined) console.error(`\n${sayingOf(error)}`);
  else console.log("\nStopping …");
  try {
    await stopAll();
  } catch (stopError) {
    console.error(String(stopError));
  }
  process.exit(error === undefined ? 0 : 1);
}

/** A bug is shown with its place; what the user can mend needs none. */
function sayingOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof LocalError) return error.message;
  return isOfData(error)
    ? `The data cannot be used (${error.message}): start with --reset to remove them, or choose another folder with --data DIR`
    : (error.stack ?? error.message);
}

/** Something in the data folder is not what a start has left there: a file in place of a folder, or no JSON. */
const isOfData = (error: Error): boolean => error instanceof SyntaxError || ("syscall" in error && "errno" in error);

function welcome(demo: Demo): string {
  const auth = `-H 'Authorization: Bearer ${demo.token}'`;
  const server = JSON.stringify({
    name: "erp-1",
    provider: "sandbox",
    region: "eu-central",
    size: "small",
    ssh_key_id: demo.ssh_key_id,
  });
  return `
  Dashboard  ${demo.dashboard_url}
  API        ${demo.base_url}
  API page   ${demo.dashboard_url}docs
  Log in as  ${demo.email}  ${demo.password}
  Token      ${demo.token}

Paste these to begin:

curl -s ${demo.base_url}/catalog ${auth}
curl -s ${demo.base_url}/servers ${auth} -H 'Content-Type: application/json' -d '${server}'
curl -s ${demo.base_url}/servers ${auth}
`;
}

process.on("SIGINT", () => void end());
process.on("SIGTERM", () => void end());
process.on("disconnect", () => void end()); // whoever started us is gone
await start().catch(end);
