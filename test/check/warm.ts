// Keeps a DynamoDB Local for the next `npm run check`: a new one takes seconds until Java has compiled what tests call. It is a
// process of its own, ends when nobody has used it for a while, and is used only by a check of the same sources.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { computeFingerprint, ROOT } from "../../infra/built.ts";
import { startDynamoDb } from "../../infra/local/dynamodb/dynamodb.ts";

const FOLDER = join(ROOT, ".local", "warm");
const STATE = join(FOLDER, "state.json");
const IDLE_MINUTES = 15;
/** Tables of checks that were killed stay until then. */
const USES_MAX = 40;
const READY_WITHIN_SECONDS = 240;

const State = z.object({ port: z.number(), token: z.string(), sources: z.string(), databaseUrl: z.string() });
type State = z.infer<typeof State>;

/** What the process runs: one of other sources is left to its end. */
const sources = (): Promise<string> => computeFingerprint(["infra/local/dynamodb", "package-lock.json", "test/check/warm.ts"]);

export interface Warm {
  databaseUrl: string;
  /** Lets it go: from then on it counts as unused. */
  release: () => void;
}

/** The one that is running, or a new one. */
export async function useWarmDatabase(): Promise<Warm> {
  const now = await sources();
  const running = await connect(now);
  if (running !== undefined) return running;
  mkdirSync(FOLDER, { recursive: true });
  const log = openSync(join(FOLDER, "log"), "w");
  spawn(process.execPath, [import.meta.filename], { cwd: ROOT, detached: true, stdio: ["ignore", log, log] }).unref();
  for (let waited = 0; waited < READY_WITHIN_SECONDS * 10; waited++) {
    await sleep(100);
    const started = await connect(now);
    if (started !== undefined) return started;
  }
  throw new Error(`DynamoDB Local did not start: see ${join(FOLDER, "log")}`);
}

/** Holds a request open as long as it uses the database. Undefined if nobody responds, or somebody else does. */
async function connect(now: string): Promise<Warm | undefined> {
  const state = readState();
  if (state === undefined || state.sources !== now) return undefined;
  const { port, token, databaseUrl } = state;
  const response = await new Promise<IncomingMessage | undefined>((done) => {
    const request = get({ host: "127.0.0.1", port, path: `/${token}`, agent: false }, done);
    request.on("error", () => done(undefined));
  });
  if (response?.statusCode !== 200) return undefined;
  response.on("error", () => undefined);
  return { databaseUrl, release: () => response.destroy() };
}

function readState(): State | undefined {
  try {
    return State.parse(JSON.parse(readFileSync(STATE, "utf8")));
  } catch {
    return undefined; // none was ever started here
  }
}

/** The process itself. Java ends with it, however it ends. */
async function serve(): Promise<void> {
  const now = await sources();
  const database = await startDynamoDb({ optimizing: true });
  const token = randomBytes(16).toString("hex");
  let [users, uses] = [0, 0];
  const end = (): void => void database.stop().finally(() => process.exit());
  const startIdle = (): NodeJS.Timeout => setTimeout(end, IDLE_MINUTES * 60_000);
  let idle = startIdle();
  const server = createServer((request, response) => {
    if (request.url !== `/${token}` || uses >= USES_MAX) {
      response.writeHead(410).end();
      return;
    }
    clearTimeout(idle);
    users += 1;
    uses += 1;
    response.writeHead(200).flushHeaders();
    response.on("close", () => {
      users -= 1;
      if (users === 0 && uses >= USES_MAX) end();
      else if (users === 0) idle = startIdle();
    });
  });
  void database.exited.finally(() => process.exit(1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const state: State = { port, token, sources: now, databaseUrl: database.url };
  writeFileSync(`${STATE}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${STATE}.new`, STATE);
}

if (process.argv[1] === import.meta.filename) await serve();
