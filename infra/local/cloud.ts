// The synthesized app, running on this machine: every part of the local runner, composed, started and stopped as one.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startAws, type Aws, type Principal } from "./aws/aws.ts";
import type { Services } from "./aws/services.ts";
import { createTable, type Database, deleteTable, type DynamoDb, startDynamoDb } from "./dynamodb/dynamodb.ts";
import { dashboardUrl } from "./dashboard-url.ts";
import { replaceFile } from "./durable.ts";
import { LocalError } from "./errors.ts";
import { startEvents, type Events } from "./events/events.ts";
import { startGateway, type Fallback } from "./gateway/gateway.ts";
import { deriveCredentials, startLambda, type Credentials, type Lambda } from "./lambda/lambda.ts";
import { openLog } from "./lambda/log.ts";
import { lockDirectory } from "./lock.ts";
import { openSecrets, type Secrets } from "./secrets/secrets.ts";
import { startQueues, type Queues } from "./queues/queues.ts";
import { startStates, type States } from "./states/states.ts";
import { listCorsRules } from "./s3/cors.ts";
import { openStorage } from "./s3/storage.ts";
import { readTemplate, type Template } from "./template/template.ts";
import { REGION } from "./template/resolve.ts";

export interface CloudOptions {
  /** The folder of the synthesized app. */
  outDir: string;
  stack: string;
  /** The folder of data, secrets, executions and logs; without it everything is in memory and lost at the end. */
  dataDir?: string;
  /** The API's port; 0, the default, selects a free one. */
  port?: number;
  /** Requests without a valid credential that an address may send in five minutes; without it any number. */
  unauthenticatedMax?: number;
  /** Added to every function's environment. */
  environment?: Record<string, string>;
  /** The operator's settings, which replace the secret that functions know as PROVIDERS_SECRET. */
  configuration?: Readonly<Record<string, unknown>>;
  /** Added to the environment of the functions that keep backups: a store in place of the template's bucket. */
  store?: Record<string, string> | undefined;
  /** Added to the environment of the function that sends mail: how it does. */
  mail?: Readonly<Record<string, string>>;
  /** The URL of a running DynamoDB Local in memory that other clouds share; without it the cloud starts its own. */
  databaseUrl?: string;
  /**
   * How long a transaction keeps others from its items, as DynamoDB's do: with 50, an item takes part in twenty a second. Without
   * it no time, as in DynamoDB Local.
   */
  transactionMilliseconds?: number | undefined;
  /** Multiplies waits, pauses before retries and schedules' periods, never timeouts. 0: immediately, and no schedules. */
  timeScale?: number;
  /** Whether rules with a schedule run automatically; `events.fire` runs them in any case. */
  schedules?: boolean;
  /** Whether the table's stream invokes functions; by default if rules with a schedule run. */
  streams?: boolean;
  /** How long a function's thread is kept without invocations: memory for time. */
  idleSeconds?: number;
  /** A clock that a test drives, which functions read in place of the machine's. */
  clock?: SharedArrayBuffer;
  fallback?: Fallback;
}

export interface Cloud {
  /** The gateway's URL, without a trailing slash; the API is below /api/v1. */
  apiUrl: string;
  awsUrl: string;
  /** What the URLs of archives begin with. */
  storeUrl: string;
  /** DynamoDB Local itself, which checks no permissions. */
  databaseUrl: string;
  tableName: string;
  /** May call everything. `environment` points an SDK at this machine. */
  operator: Credentials & { environment: Record<string, string> };
  template: Template;
  invoke: Lambda["invoke"];
  lambda: Lambda;
  states: States;
  events: Events;
  aws: Aws;
  /** The errors of the gateway, the executions, the rules and the local AWS. */
  log: string[];
  /** Settles if the database ends before the cloud stops it. */
  databaseExited: Promise<number | null>;
  stop: () => Promise<void>;
}

const SECRET_BYTES = 32;

/** The secret that all credentials of this data directory derive from. */
function localSecret(dataDir: string | undefined): string {
  const file = dataDir === undefined ? undefined : join(dataDir, "local-secret");
  if (file !== undefined && existsSync(file)) {
    const stored = readFileSync(file, "utf8");
    if (stored.length < SECRET_BYTES) throw new LocalError(`${file} is damaged: restore it from a backup of the folder`);
    return stored;
  }
  const secret = randomBytes(SECRET_BYTES).toString("hex");
  if (file !== undefined) replaceFile(file, secret, { mode: 0o600 });
  return secret;
}

/** The port that the local AWS last had: clients' presigned URLs contain it. */
function lastPort(file: string | undefined): number {
  return file !== undefined && existsSync(file) ? Number(readFileSync(file, "utf8")) || 0 : 0;
}

/** A variable with the same value wherever it appears. */
export const variableOf = (template: Template, name: string): string | undefined =>
  template.functions.find(({ environment }) => name in environment)?.environment[name];

function listPrincipals(template: Template, secret: string, operator: Credentials): Map<string, Principal> {
  const principals = template.functions.map(({ name, role }): Principal => {
    const policies = template.roles.find(({ arn }) => arn === role)?.policies ?? [];
    // A separate array per function: IAM decisions are cached by it.
    return { name, ...deriveCredentials(secret, name), policies: [...policies] };
  });
  const all: Principal[] = [...principals, { name: "operator", ...operator, policies: "operator" }];
  return new Map(all.map((principal) => [principal.accessKeyId, principal]));
}

const buildEnvironment = ({ accessKeyId, secretAccessKey }: Credentials, awsUrl: string): Record<string, string> => ({
  AWS_ENDPOINT_URL: awsUrl,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_SESSION_TOKEN: "", // the shell may have one, of its own credentials
});

export async function startCloud(options: CloudOptions): Promise<Cloud> {
  const stops: (() => void | Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    // Last started, first stopped; a failure to stop one does not affect the others.
    const errors: unknown[] = [];
    for (let each = stops.pop(); each; each = stops.pop())
      await Promise.resolve(each()).catch((error: unknown) => errors.push(error));
    if (errors.length > 0)
      throw new LocalError(`Not everything stopped cleanly: ${errors.map(String).join("; ")}`, { cause: errors[0] });
  };
  try {
    return await start(options, stops, stop);
  } catch (error) {
    await stop().catch(() => undefined); // the first cause says more
    throw error;
  }
}

/** Ends with the process that started it, and has nothing to persist. */
const existingDatabase = async (url: string): Promise<Pick<DynamoDb, "url" | "flush" | "exited">> => ({
  url,
  flush: async () => undefined,
  exited: new Promise(() => undefined),
});

/** Starts parts, and records how to stop each. */
type Started = <T extends { stop: () => void | Promise<void> }>(starting: Promise<T>) => Promise<T>;

async function start(options: CloudOptions, stops: (() => void | Promise<void>)[], stop: () => Promise<void>): Promise<Cloud> {
  const { dataDir, outDir, stack } = options;
  const started: Started = async (starting) => {
    const part = await starting;
    stops.push(() => part.stop());
    return part;
  };
  const template = readTemplate(outDir, stack);
  const { table, api } = requireTableAndApi(template);
  if (dataDir !== undefined) stops.push(lockDirectory(dataDir));
  const log = openLog(dataPath(options, "logs"), "local-runner");
  stops.push(log.close);
  const writeLog = (line: string): void => log.write(`${new Date().toISOString()} ${line}\n`);

  const secret = localSecret(dataDir);
  const credentials = deriveCredentials(secret, "operator");
  const data = await startData(options, template, credentials, { started, stops });
  const principals = listPrincipals(template, secret, credentials);
  const late: Late = {};
  const portFile = dataPath(options, "aws-port");
  const aws = await started(
    startAws({
      principals: (accessKeyId) => principals.get(accessKeyId),
      services: servicesOf(data, late),
      log: writeLog,
      transactionMilliseconds: options.transactionMilliseconds,
      cors: {
        rules: listCorsRules(template.buckets),
        origins: () => (late.url === undefined ? [] : [dashboardUrl(late.url), late.url]),
      },
      port: lastPort(portFile),
    }),
  );
  if (portFile !== undefined) writeFileSync(portFile, new URL(aws.url).port);
  const resolved = resolvedBy(data.secrets);
  const compute = await startCompute(options, template, { secret, awsUrl: aws.url, resolved, writeLog }, stops);
  late.states = compute.states;
  late.queues = compute.queues;
  late.lambda = compute.lambda;
  const front = template.front && { ...template.front, requestHeaders: resolved(template.front.requestHeaders) };
  const gateway = await started(startGateway({ port: 0, ...options, api, ...compute.lambda, front, log: writeLog }));
  late.url = gateway.url;
  compute.states.resume();
  return {
    apiUrl: gateway.url,
    awsUrl: aws.url,
    storeUrl: chooseStoreUrl(options, template, aws.url),
    databaseUrl: data.dynamodb.url,
    tableName: table.name,
    operator: { ...credentials, environment: buildEnvironment(credentials, aws.url) },
    template,
    invoke: compute.lambda.invoke,
    ...compute,
    aws,
    log: log.lines,
    databaseExited: data.dynamodb.exited,
    stop,
  };
}

const servicesOf = ({ tables, dynamodb, secrets, storage }: Awaited<ReturnType<typeof startData>>, late: Late): Services => ({
  database: tables,
  flush: () => dynamodb.flush(),
  states: async (action, body) => late.states?.handle(action, body),
  secretsmanager: (action, input) => secrets.call(action, input),
  sqs: async (action, input) => late.queues?.call(action, input),
  lambda: async (functionArn, payload) => late.lambda?.invoke(functionArn, payload),
  written: (action, input) => late.queues?.written(action, input),
  storage,
});

/** Requests only arrive once a function runs, and by then everything named here exists. */
interface Late {
  states?: States;
  queues?: Queues;
  lambda?: Lambda;
  url?: string;
}

const chooseStoreUrl = ({ store = {} }: CloudOptions, template: Template, awsUrl: string): string =>
  `${store["BACKUP_S3_ENDPOINT"] ?? awsUrl}/${store["BACKUP_BUCKET"] ?? variableOf(template, "BACKUP_BUCKET") ?? ""}/`;

function requireTableAndApi({ stack, tables: [table], apis: [api, another] }: Template) {
  if (!table || !api || another) throw new LocalError(`${stack} needs a table and exactly one REST API to run here`);
  return { table, api };
}

const dataPath = ({ dataDir }: CloudOptions, name: string): string | undefined =>
  dataDir === undefined ? undefined : join(dataDir, name);

type Resolve = (values: Record<string, string>) => Record<string, string>;
const resolvedBy =
  ({ resolved }: Secrets): Resolve =>
  (values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, resolved(value)]));

/** What survives a stop: the database with its table, the buckets, the secrets. */
async function startData(
  options: CloudOptions,
  template: Template,
  { accessKeyId }: Credentials,
  { started, stops }: { started: Started; stops: (() => void | Promise<void>)[] },
) {
  const { databaseUrl } = options;
  const database =
    databaseUrl === undefined
      ? started(startDynamoDb({ dataDir: dataPath(options, "dynamodb"), accessKeyId }))
      : existingDatabase(databaseUrl);
  const files = started(openStorage({ dir: dataPath(options, "s3") }));
  // Waits for all before it reports one's failure: otherwise nothing would ever stop a part that started late.
  await Promise.allSettled([database, files]);
  const [dynamodb, storage] = await Promise.all([database, files]);

  const tables: Database = { url: dynamodb.url, accessKeyId };
  const secrets = openSecrets({ file: dataPath(options, "secrets.json") });
  for (const each of template.secrets) secrets.ensure(each);
  const configured = variableOf(template, "PROVIDERS_SECRET");
  if (configured !== undefined && options.configuration !== undefined) secrets.cover(configured, options.configuration);
  await Promise.all([
    ...template.tables.map(({ name, properties }) => createTable(tables, { ...properties, TableName: name })),
    ...template.buckets.map(({ name }) => storage.createBucket(name)),
  ]);
  if (databaseUrl !== undefined)
    stops.push(() => Promise.all(template.tables.map(({ name }) => deleteTable(tables, name))).then(() => undefined));
  return { dynamodb, storage, secrets, tables };
}

interface ComputeOptions {
  secret: string;
  awsUrl: string;
  resolved: Resolve;
  writeLog: (line: string) => void;
}

/** What runs code: functions, rules and state machines. They stop together, because each calls the others. */
async function startCompute(
  options: CloudOptions,
  template: Template,
  { secret, awsUrl, resolved, writeLog }: ComputeOptions,
  stops: (() => void | Promise<void>)[],
): Promise<Pick<Cloud, "lambda" | "events" | "states"> & { queues: Queues }> {
  const { dataDir, outDir, timeScale = 1, schedules = true, idleSeconds, clock } = options;
  const functions = template.functions.map((each) => ({
    ...each,
    environment: {
      ...resolved(each.environment),
      ...("BACKUP_BUCKET" in each.environment ? options.store : {}),
      ...("MAIL_BRAND" in each.environment ? options.mail : {}),
    },
  }));
  const environment = { ...options.environment, AWS_ENDPOINT_URL: awsUrl };
  // The cache is beside the bundles, and lasts as long as they do.
  const compileCache = join(outDir, "compile-cache");
  const lambda = startLambda({ functions, environment, localSecret: secret, dataDir, compileCache, idleSeconds, clock });
  const { invoke } = lambda;
  const events = startEvents({ rules: template.rules, invoke, timeScale, schedules, log: writeLog });
  const late: { states?: States } = {};
  // Without schedules, nothing invokes functions by itself but a test that asks for it.
  const { streams, queues: consumers } = template.mappings;
  const queues = startQueues({
    streams: (options.streams ?? schedules) ? streams : [],
    queues: consumers,
    queueResources: template.queues,
    invoke,
    timeScale,
    log: writeLog,
  });
  stops.push(async () => {
    queues.stop();
    late.states?.stop();
    events.stop();
    await lambda.stop();
    await late.states?.settled();
  });
  const states = await startStates({ machines: template.machines, invoke, emit: events.put, log: writeLog, dataDir, timeScale });
  late.states = states;
  return { lambda, events, states, queues };
}
