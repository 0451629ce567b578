// One call of an SDK: authenticates, authorizes, forwards and returns it.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { AwsFault } from "../errors.ts";
import type { Hooks } from "../hooks.ts";
import type { Need } from "../iam/iam.ts";
import { permissionsFor, type Known } from "../iam/permissions.ts";
import { corsHeaders, type Cors } from "../s3/cors.ts";
import { nameOperation, readOperation } from "../s3/operation.ts";
import { asSeenBy, authenticate, findNeed, readPayloadHash, requireAllowed, type Principal } from "./authorize.ts";
import type { Call, Service } from "./calls.ts";
import { toFault, s3Error } from "./faults.ts";
import { dynamodb, invokeFunction, json, type ServiceResponse, type Services } from "./services.ts";
import { checkSignature, readCall, readSignature, sha256Hex, type HttpCall, type Signed } from "./signature.ts";

const LARGEST_BODY = 20 * 1024 * 1024; // of the JSON services; BatchWriteItem's own limit is 16 MB

const TARGETS = new Map<string, Service>([
  ["DynamoDB_20120810", "dynamodb"],
  ["AWSStepFunctions", "states"],
  ["secretsmanager", "secretsmanager"],
  ["AmazonSQS", "sqs"],
]);

/** The path of an invocation in Lambda's REST protocol. */
const INVOCATION = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/** Undefined breaks the connection. */
export type Reply = ServiceResponse | undefined;

export interface Endpoint {
  principals: (accessKeyId: string) => Principal | undefined;
  services: Services;
  cors: Cors;
  resources: Known;
  run: Hooks<Call, Reply>["run"];
  log: (line: string) => void;
}

export async function serve(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const http = readCall(request);
  const [target = "", action = "?"] = (http.headers["x-amz-target"] ?? "").split(".");
  const invoked = INVOCATION.exec(http.path)?.[1];
  const service = TARGETS.get(target) ?? (invoked === undefined ? "s3" : "lambda");
  const cors = service === "s3" ? corsHeaders(endpoint.cors, http) : undefined;
  if (http.method === "OPTIONS") return void response.writeHead(cors === undefined ? 403 : 200, cors).end();
  const readOnce = once(() => readBody(request));
  const call: Call = {
    requestId: randomUUID(),
    principal: endpoint.principals(readSignature(http)?.accessKeyId ?? "")?.name ?? "?",
    service,
    action: service === "s3" ? nameOperation(http) : invoked === undefined ? action : "InvokeFunction",
    attempt: Number(/attempt=(\d+)/.exec(http.headers["amz-sdk-request"] ?? "")?.[1] ?? 1),
    input: once(async () => parseJson((await readOnce()).toString())),
    actions: [],
    resources: [],
  };
  const rejected = (error: unknown): ServiceResponse => {
    const fault = toFault(error, endpoint.log);
    if (fault.name === "AccessDenied" || fault.name === "AccessDeniedException")
      endpoint.log(`${call.principal}: ${fault.message}`);
    call.error = fault.name;
    return service === "s3"
      ? s3Error(fault, http, call.requestId)
      : json({ __type: fault.name, message: fault.message, ...fault.details }, fault.status);
  };
  const reply = await endpoint
    .run(call, (served) => respond(endpoint, { call: served, http, request, body: readOnce }).catch(rejected))
    .catch(rejected);
  if (reply === undefined) return void request.socket.destroy();
  await send({ ...reply, headers: { ...reply.headers, ...cors } }, call.requestId, http.method, response);
  request.resume(); // reads a rejected body, so that its sender gets to the response
}

function once<T>(get: () => Promise<T>): () => Promise<T> {
  let got: Promise<T> | undefined;
  return () => (got ??= get());
}

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
  body: () => Promise<Buffer>;
}

async function respond(endpoint: Endpoint, exchange: Exchange): Promise<ServiceResponse> {
  const { call, http } = exchange;
  const { principal, signed } = authenticate(endpoint.principals, call.service, http);
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
  if (call.service === "lambda") return callLambda(endpoint, exchange, caller);
  return call.service === "s3"
    ? callS3(endpoint, exchange, caller)
    : callJsonService(endpoint, { ...exchange, service: call.service }, caller);
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

async function callLambda({ services }: Endpoint, { call, http, body }: Exchange, caller: Caller): Promise<ServiceResponse> {
  caller.checkSignature(sha256Hex(await body()));
  const resource = decodeURIComponent(INVOCATION.exec(http.path)?.[1] ?? "");
  await caller.authorize([{ action: "lambda:InvokeFunction", resource }]);
  return invokeFunction(services, resource, await call.input());
}

async function callJsonService(
  { services, resources }: Endpoint,
  { call, body, service }: Exchange & { service: Exclude<Service, "s3" | "lambda"> },
  caller: Caller,
): Promise<ServiceResponse> {
  const { action } = call;
  caller.checkSignature(sha256Hex(await body()));
  const input = await call.input();
  await caller.authorize(await permissionsFor(service, action, input, resources));
  if (service !== "dynamodb") return json(await services[service](action, input));
  const response = await dynamodb(services, action, call.forwarded ?? input, call);
  if (response.status === 200) services.written(action, input);
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
