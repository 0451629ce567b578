// One call of an SDK: authenticates, authorizes, forwards, records and returns it.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Contention } from "../dynamodb/contention.ts";
import { AwsFault } from "../errors.ts";
import type { Need } from "../iam/iam.ts";
import { permissionsFor, type Known } from "../iam/permissions.ts";
import { corsHeaders, type Cors } from "../s3/cors.ts";
import { nameOperation, readOperation } from "../s3/operation.ts";
import { asSeenBy, authenticate, findNeed, readPayloadHash, requireAllowed, type Principal } from "./authorize.ts";
import type { Call, Service } from "./calls.ts";
import { toFault, s3Error, unavailable } from "./faults.ts";
import { dynamodb, json, type ServiceResponse, type Services } from "./services.ts";
import { checkSignature, readCall, readSignature, sha256Hex, type HttpCall, type Signed } from "./signature.ts";

const LARGEST_BODY = 20 * 1024 * 1024; // of the JSON services; BatchWriteItem's own limit is 16 MB

const TARGETS = new Map<string, Service>([
  ["DynamoDB_20120810", "dynamodb"],
  ["AWSStepFunctions", "states"],
  ["secretsmanager", "secretsmanager"],
  ["AmazonSQS", "sqs"],
]);

/** "refuse" breaks the connection, "silent" accepts it and never responds, true responds like a service that is down. */
export type Outage = boolean | "refuse" | "silent";

/** What goes wrong with one call. */
export type Fault =
  | { kind: "refuse" | "silent" }
  /** It waits, and then takes effect as usual. */
  | { kind: "slow"; milliseconds: number }
  /** It has no effect, and the caller gets this error. */
  | { kind: "error"; fault: AwsFault }
  /** It takes effect, and the response is lost. */
  | { kind: "lost" }
  /** It takes effect, and a second time, as if the network had duplicated it. */
  | { kind: "twice" };

/** What is known of a call before it is served. */
export interface Arriving {
  service: Service;
  action: string;
  /** The function that makes the call, or the operator. */
  principal: string;
}

export interface Endpoint {
  principals: (accessKeyId: string) => Principal | undefined;
  services: Services;
  cors: Cors;
  known: Known;
  outageOf: (service: Service) => Outage;
  /** The fault of this call, if it has one. */
  toFault: (call: Arriving) => Fault | undefined;
  /** What transactions do to each other. */
  contention: Contention;
  /** The input for DynamoDB, in place of the caller's. */
  redirected: (action: string, input: unknown) => unknown;
  record: (call: Call) => void;
  /** Whether to lose the response to this action. */
  loses: (action: string) => boolean;
  log: (line: string) => void;
}

export async function serve(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const http = readCall(request);
  const [target = "", action = "?"] = (http.headers["x-amz-target"] ?? "").split(".");
  const service = TARGETS.get(target) ?? "s3";
  const fault = injectedInto(endpoint, http, service, action);
  if (fault?.kind === "refuse") return void request.socket.destroy();
  if (fault?.kind === "silent") return void request.resume();
  if (fault?.kind === "slow") await sleep(fault.milliseconds);
  const cors = service === "s3" ? corsHeaders(endpoint.cors, http) : undefined;
  if (http.method === "OPTIONS") return void response.writeHead(cors === undefined ? 403 : 200, cors).end();
  const call = newCall(service, action);
  const reply = await respond(endpoint, { call, http, request }, fault).catch((error: unknown): ServiceResponse => {
    const fault = toFault(error, endpoint.log);
    if (fault.name === "AccessDenied" || fault.name === "AccessDeniedException")
      endpoint.log(`${call.principal}: ${fault.message}`);
    call.error = fault.name;
    return service === "s3"
      ? s3Error(fault, http, call.requestId)
      : json({ __type: fault.name, message: fault.message, ...fault.details }, fault.status);
  });
  call.status = reply.status;
  endpoint.record(call); // before the response is sent, so that its recipient finds the call
  if (fault?.kind === "lost" || endpoint.loses(call.action)) return void request.socket.destroy();
  await send({ ...reply, headers: { ...reply.headers, ...cors } }, call.requestId, http.method, response);
  request.resume(); // reads a rejected body, so that its sender gets to the response
}

/** An outage comes before a fault of the one call. */
function injectedInto(endpoint: Endpoint, http: HttpCall, service: Service, action: string): Fault | undefined {
  const outage = endpoint.outageOf(service);
  if (outage === true) return { kind: "error", fault: unavailable(service) };
  if (outage !== false) return { kind: outage };
  const principal = endpoint.principals(readSignature(http)?.accessKeyId ?? "")?.name ?? "?";
  return endpoint.toFault({ service, action: service === "s3" ? nameOperation(http) : action, principal });
}

const newCall = (service: Service, action: string): Call => ({
  at: new Date().toISOString(),
  requestId: randomUUID(),
  principal: "?",
  service,
  action,
  actions: [],
  resources: [],
  status: 200,
});

/** Checks a call before forwarding it. */
interface Caller {
  principal: Principal;
  signed: Signed;
  /** The signature covers a hash of the body. */
  checkSignature: (payloadHash: string) => void;
  authorize: (needs: Need[]) => Promise<void>;
}

interface Exchange {
  call: Call;
  http: HttpCall;
  request: IncomingMessage;
}

async function respond(endpoint: Endpoint, exchange: Exchange, fault: Fault | undefined): Promise<ServiceResponse> {
  const { call, http } = exchange;
  if (fault?.kind === "error") throw fault.fault;
  const { principal, signed } = authenticate(endpoint.principals, call.service, http);
  call.principal = principal.name;
  const caller: Caller = {
    principal,
    signed,
    checkSignature: (payloadHash) =>
      checkSignature(http, signed, { secretAccessKey: principal.secretAccessKey, payloadHash }, Date.now()),
    authorize: async (needs) => {
      call.actions = [...new Set(needs.map((need) => need.action))];
      call.resources = [...new Set(needs.map(({ resource }) => resource))];
      await requireAllowed(principal, needs);
    },
  };
  return call.service === "s3"
    ? callS3(endpoint, exchange, caller)
    : callJsonService(endpoint, { ...exchange, service: call.service }, caller, fault?.kind === "twice");
}

async function callS3({ services }: Endpoint, { call, http, request }: Exchange, caller: Caller): Promise<ServiceResponse> {
  const payloadHash = readPayloadHash(http, caller.signed);
  caller.checkSignature(payloadHash);
  const operation = readOperation(http);
  call.action = operation.name;
  await caller.authorize([findNeed(operation)]);
  return services.storage.handle(operation, request, payloadHash).catch(async (error: unknown) => {
    throw await asSeenBy(caller.principal, operation, error);
  });
}

async function callJsonService(
  { services, known, redirected, contention }: Endpoint,
  { call, request, service }: Exchange & { service: Exclude<Service, "s3"> },
  caller: Caller,
  twice: boolean,
): Promise<ServiceResponse> {
  const { action } = call;
  const body = await readBody(request);
  caller.checkSignature(sha256Hex(body));
  const input = parseJson(body.toString());
  await caller.authorize(await permissionsFor(service, action, input, known));
  const deliver = async (): Promise<ServiceResponse> =>
    service === "dynamodb"
      ? contention(action, input, () => dynamodb(services, action, redirected(action, input), call))
      : json(await services[service](action, input));
  const response = await deliver();
  if (service === "dynamodb" && response.status === 200) services.written(action, input);
  if (twice) await deliver().catch(() => undefined); // the caller only sees the first
  return response;
}

const Bytes = z.instanceof(Buffer);

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Bytes.parse(chunk);
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

async function send(
  { status, headers, body }: ServiceResponse,
  requestId: string,
  method: string,
  response: ServerResponse,
): Promise<void> {
  // Clients set their clock by it, so it is the clock that signatures are checked with.
  const date = new Date().toUTCString();
  response.writeHead(status, { ...headers, date, "x-amzn-requestid": requestId, "x-amz-request-id": requestId });
  if (body === undefined || typeof body === "string" || method === "HEAD") response.end(body);
  else await pipeline(body, response);
}
