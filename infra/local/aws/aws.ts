// AWS as the SDKs see it (AWS_ENDPOINT_URL), on 127.0.0.1: checks signatures and IAM permissions as AWS does, so that a missing grant fails
// here and not after deployment; then DynamoDB Local, the local Step Functions, Secrets Manager or S3 responds.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { callDynamoDb, type Database, describeTable, type Table } from "../dynamodb/dynamodb.ts";
import { holdIndexes, type HeldIndexes } from "../dynamodb/held-indexes.ts";
import { AwsFault, LocalError } from "../errors.ts";
import { allows, type Context, type Need, type PolicyDocument } from "../iam/iam.ts";
import { permissionsFor, type Known } from "../iam/permissions.ts";
import { checkSignature, readCall, readSignature, sha256Hex, type HttpCall, type Signed } from "./signature.ts";
import { escapeXml, readOperation, type S3Operation, type Storage } from "../s3/storage.ts";
import { ACCOUNT, REGION } from "../template/template.ts";

const LARGEST_BODY = 20 * 1024 * 1024; // of the JSON services; BatchWriteItem's own limit is 16 MB
const CALLS_KEPT = 10_000;

export type Service = "dynamodb" | "states" | "secretsmanager" | "s3";
const TARGETS = new Map<string, Service>([
  ["DynamoDB_20120810", "dynamodb"],
  ["AWSStepFunctions", "states"],
  ["secretsmanager", "secretsmanager"],
]);

export interface Principal {
  name: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** One array for each principal, because decisions are cached by it; "operator" may do everything. */
  policies: readonly PolicyDocument[] | "operator";
}

type JsonService = (action: string, input: unknown) => Promise<unknown>;
export interface Services {
  database: Database;
  /** Persists what DynamoDB Local has acknowledged. */
  flush: () => Promise<void>;
  states: JsonService;
  secretsmanager: JsonService;
  storage: Storage;
}

/** One call with its result. `actions` are the IAM actions it needed, `capacity` DynamoDB's units. */
export interface Call {
  at: string;
  requestId: string;
  principal: string;
  service: Service;
  action: string;
  actions: string[];
  resources: string[];
  status: number;
  error?: string;
  capacity?: number;
}

/** "refuse" breaks the connection, "silent" accepts it and never responds, true responds like a service that is down. */
export type Outage = boolean | "refuse" | "silent";

export interface Aws {
  url: string;
  calls: { list: () => readonly Call[]; clear: () => void; subscribe: (listener: (call: Call) => void) => () => void };
  outage: (service: Service, mode: Outage) => void;
  /** The next call of the action is done, but its response is lost. */
  loseAnswer: (action: string) => void;
  /** Queries of the tables' indexes see no write from now on, until the returned function is called: AWS's indexes lag behind. */
  holdIndexes: () => Promise<() => Promise<void>>;
  stop: () => Promise<void>;
}

export interface AwsOptions {
  principals: (accessKeyId: string) => Principal | undefined;
  services: Services;
  log?: ((line: string) => void) | undefined;
  /** To listen on, if it is free: presigned URLs contain it, and must stay valid after a restart. */
  port?: number | undefined;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Readable;
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening"); // rejects when the server says that it cannot
}

export async function startAws({ principals, services, log = () => undefined, port: wanted = 0 }: AwsOptions): Promise<Aws> {
  const outages = new Map<Service, Outage>();
  const lost = new Set<string>();
  const listeners = new Set<(call: Call) => void>();
  let calls: Call[] = [];
  const record = (call: Call): void => {
    calls.push(call);
    if (calls.length > CALLS_KEPT) calls = calls.slice(-CALLS_KEPT / 2);
    for (const listener of listeners) listener(call);
  };
  const known = knownOf(services);
  let held: HeldIndexes | undefined;
  const heldBack = (action: string, input: unknown): unknown => held?.redirect(action, input) ?? input;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const http = readCall(request);
    const [target = "", action = "?"] = (http.headers["x-amz-target"] ?? "").split(".");
    const service = TARGETS.get(target) ?? "s3";
    const outage = outages.get(service) ?? false;
    if (outage === "refuse") return void request.socket.destroy();
    if (outage === "silent") return void request.resume();
    const call: Call = {
      at: new Date().toISOString(),
      requestId: randomUUID(),
      principal: "?",
      service,
      action,
      actions: [],
      resources: [],
      status: 200,
    };
    let answer: Answer;
    try {
      if (outage) throw unavailable(service);
      const { principal, signed } = authenticate(principals, service, http);
      call.principal = principal.name;
      const check = (payloadHash: string): void =>
        checkSignature(http, signed, principal.secretAccessKey, payloadHash, Date.now());
      const authorize = async (needs: Need[]): Promise<void> => {
        call.actions = [...new Set(needs.map((need) => need.action))];
        call.resources = [...new Set(needs.map(({ resource }) => resource))];
        await requireAllowed(principal, needs);
      };
      if (service === "s3") {
        const payloadHash = payloadHashOf(http, signed);
        check(payloadHash);
        const operation = readOperation(http);
        call.action = operation.name;
        await authorize([needOf(operation)]);
        answer = await services.storage.handle(operation, request, payloadHash).catch(async (error: unknown) => {
          throw await asSeenBy(principal, operation, error);
        });
      } else {
        const body = await readBody(request);
        check(sha256Hex(body));
        const input = parseJson(body.toString());
        await authorize(await permissionsFor(service, action, input, known));
        if (service === "dynamodb") answer = await dynamodb(services, action, heldBack(action, input), call);
        else answer = json(await services[service](action, input));
      }
    } catch (error) {
      const fault = faultOf(error, log);
      if (fault.name === "AccessDenied" || fault.name === "AccessDeniedException") log(`${call.principal}: ${fault.message}`);
      call.error = fault.name;
      answer =
        service === "s3"
          ? s3Error(fault, http, call.requestId)
          : json({ __type: fault.name, message: fault.message }, fault.status);
    }
    call.status = answer.status;
    record(call); // before the response is sent, so that its receiver finds the call
    if (lost.delete(call.action)) return void request.socket.destroy();
    await send(answer, call.requestId, http.method, response);
    request.resume(); // drains a rejected request, so that its sender gets to the response
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      log(`The local AWS broke off an answer: ${String(error)}`);
      request.socket.destroy();
    });
  });
  server.requestTimeout = 0; // a backup may take longer to arrive than Node's 5 minutes
  server.keepAliveTimeout = 3_600_000; // the SDKs keep connections open; one that we closed just then would fail a call
  await listen(server, wanted).catch(() => listen(server, 0));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    calls: {
      list: () => calls,
      clear: () => void (calls = []),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    outage: (service, mode) => void outages.set(service, mode),
    loseAnswer: (action) => void lost.add(action),
    holdIndexes: async () => {
      const copy = await holdIndexes(services.database);
      held = copy;
      return async () => {
        held = undefined;
        await copy.remove();
      };
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function knownOf({ database, secretsmanager }: Services): Known {
  const tables = new Map<string, Table>();
  return {
    async partitionKey(name, index) {
      const table = tables.get(name) ?? (await describeTable(database, name));
      if (table === undefined) return undefined;
      tables.set(name, table);
      const indexes = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
      const keys = index === undefined ? table.KeySchema : indexes.find(({ IndexName }) => IndexName === index)?.KeySchema;
      return keys?.find(({ KeyType }) => KeyType === "HASH")?.AttributeName;
    },
    async secretArn(SecretId) {
      const described = await secretsmanager("DescribeSecret", { SecretId }).catch(() => undefined);
      const found = z.object({ ARN: z.string() }).safeParse(described).data?.ARN;
      return found ?? (SecretId.startsWith("arn:") ? SecretId : `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:${SecretId}`);
    },
  };
}

function authenticate(
  principals: AwsOptions["principals"],
  service: Service,
  http: HttpCall,
): { principal: Principal; signed: Signed } {
  const signed = readSignature(http);
  const s3 = service === "s3";
  if (signed === undefined)
    throw s3
      ? new AwsFault("AccessDenied", "Access Denied: the request is not signed", 403)
      : new AwsFault("MissingAuthenticationTokenException", "Request is missing Authentication Token", 403);
  const principal = principals(signed.accessKeyId);
  if (principal === undefined)
    throw s3
      ? new AwsFault("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", 403)
      : new AwsFault("UnrecognizedClientException", "The security token included in the request is invalid.");
  if (signed.region !== REGION || signed.service !== service)
    throw s3
      ? new AwsFault("AuthorizationHeaderMalformed", `The credential must be for ${REGION}/${service}`)
      : new AwsFault("InvalidSignatureException", `Credential should be scoped to ${REGION}/${service}`);
  return { principal, signed };
}

/** An address that was presigned says nothing of the body unless its maker signed a hash into it. */
function payloadHashOf({ headers, query }: HttpCall, { lifetimeSeconds }: Signed): string {
  const hash =
    headers["x-amz-content-sha256"] ??
    query.get("X-Amz-Content-Sha256") ??
    (lifetimeSeconds === undefined ? undefined : "UNSIGNED-PAYLOAD");
  if (hash === undefined) throw new AwsFault("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  if (/^([0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER)$/.test(hash)) return hash;
  throw new AwsFault("NotImplemented", `The local S3 does not take x-amz-content-sha256: ${hash}`, 501);
}

function needOf({ bucket, key, permission, query }: S3Operation): Need {
  const context = async (): Promise<Context> =>
    Object.fromEntries(
      ["prefix", "delimiter", "max-keys"].flatMap((name) => (query.has(name) ? [[`s3:${name}`, query.get(name) ?? ""]] : [])),
    );
  return { action: permission, resource: `arn:aws:s3:::${bucket}${key === "" ? "" : `/${key}`}`, context };
}

async function requireAllowed({ name, policies }: Principal, needs: Need[]): Promise<void> {
  if (policies === "operator") return;
  for (const need of needs) {
    if (await allows(policies, ACCOUNT, need)) continue;
    const user = `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`;
    const why = `because no identity-based policy allows the ${need.action} action`;
    const message = `User: ${user} is not authorized to perform: ${need.action} on resource: ${need.resource} ${why}`;
    throw need.action.startsWith("s3:")
      ? new AwsFault("AccessDenied", message, 403)
      : new AwsFault("AccessDeniedException", message);
  }
}

/** As on AWS, whoever may not list a bucket is told nothing of what is not in it: 403 where the code waits for 404. */
async function asSeenBy(principal: Principal, { bucket, key, permission }: S3Operation, error: unknown): Promise<unknown> {
  if (!(error instanceof AwsFault) || error.name !== "NoSuchKey" || permission !== "s3:GetObject") return error;
  const context = async (): Promise<Context> => ({ "s3:prefix": key });
  return requireAllowed(principal, [{ action: "s3:ListBucket", resource: `arn:aws:s3:::${bucket}`, context }]).then(
    () => error,
    (denied: unknown) => denied,
  );
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = z.instanceof(Buffer).parse(chunk);
    size += bytes.length;
    if (size > LARGEST_BODY) throw new AwsFault("RequestEntityTooLargeException", "The request is too large", 413);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AwsFault("SerializationException", "The body is not JSON");
  }
}

const MEASURED = /^(Get|Put|Update|Delete|BatchGet|BatchWrite|TransactGet|TransactWrite)Items?$|^(Query|Scan)$/;
const Units = z.object({ CapacityUnits: z.number() });
const Failed = z.looseObject({});
const Consumed = z.looseObject({ ConsumedCapacity: z.union([Units, z.array(Units)]) });

/** Asks for the consumed capacity, which tests count, and takes it out again where the caller did not ask. */
async function dynamodb({ database, flush }: Services, action: string, input: unknown, call: Call): Promise<Answer> {
  const asked = z.looseObject({ ReturnConsumedCapacity: z.string().default("NONE") }).parse(input);
  const hidden = MEASURED.test(action) && asked.ReturnConsumedCapacity === "NONE";
  const { status, body } = await callDynamoDb(
    database,
    action,
    hidden ? { ...asked, ReturnConsumedCapacity: "TOTAL" } : input,
  ).catch((cause: unknown) => {
    throw new AwsFault("InternalServerError", `DynamoDB Local does not answer: ${String(cause)}`, 500);
  });
  if (status === 200 && action === "TransactWriteItems") await flush();
  if (status !== 200) call.error = String(Failed.parse(body)["__type"]).split("#").at(-1) ?? "?";
  const answerOf = (value: unknown): Answer => ({ status, headers: { "content-type": JSON_TYPE }, body: JSON.stringify(value) });
  const measured = Consumed.safeParse(body);
  if (!measured.success) return answerOf(body);
  const { ConsumedCapacity, ...rest } = measured.data;
  call.capacity = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  return answerOf(hidden ? rest : body);
}

const JSON_TYPE = "application/x-amz-json-1.0";

/** Times are seconds in AWS's JSON; a local service may return a Date. */
function json(value: unknown, status = 200): Answer {
  const body = JSON.stringify(value ?? {}, function seconds(this: Record<string, unknown>, key, text: unknown) {
    const given = this[key];
    return given instanceof Date ? given.getTime() / 1000 : text;
  });
  return { status, headers: { "content-type": JSON_TYPE }, body };
}

function s3Error({ name, message, status }: AwsFault, { method, path }: HttpCall, requestId: string): Answer {
  const parts = { Code: name, Message: message, Resource: path, RequestId: requestId };
  const inside = Object.entries(parts).map(([tag, text]) => `<${tag}>${escapeXml(text)}</${tag}>`);
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inside.join("")}</Error>`;
  return { status, headers: { "content-type": "application/xml" }, ...(method === "HEAD" ? {} : { body }) };
}

function unavailable(service: Service): AwsFault {
  if (service === "dynamodb") return new AwsFault("InternalServerError", "The service is down, as the test asked", 500);
  return new AwsFault(
    service === "s3" ? "ServiceUnavailable" : "ServiceUnavailableException",
    "The service is down, as the test asked",
    503,
  );
}

// What a service throws to its caller has AWS's error code as its name; these are mistakes of ours.
const BUGS = /^(Aggregate|Type|Range|Reference|Syntax|Assertion|Local)?Error( \[.*)?$/;

function faultOf(error: unknown, log: (line: string) => void): AwsFault {
  if (error instanceof AwsFault) return error;
  if (error instanceof z.ZodError) return new AwsFault("ValidationException", z.prettifyError(error));
  if (error instanceof Error && "code" in error && error.code === "ECONNRESET")
    return new AwsFault("IncompleteBody", "The sender broke off");
  if (error instanceof Error && !BUGS.test(error.name)) return new AwsFault(error.name, error.message);
  log(`The local AWS failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return new AwsFault(
    "InternalServerError",
    error instanceof LocalError ? error.message : "The local AWS failed; its log says why",
    500,
  );
}

async function send(
  { status, headers, body }: Answer,
  requestId: string,
  method: string,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(status, { ...headers, "x-amzn-requestid": requestId, "x-amz-request-id": requestId });
  if (body === undefined || typeof body === "string" || method === "HEAD") response.end(body);
  else await pipeline(body, response);
}
