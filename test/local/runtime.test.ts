// Functions, gateway, executions and events of a synthesized stack, run as on AWS; without a database, because none of this needs
// one.
import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { matches, startEvents, type Events } from "../../infra/local/events/events.ts";
import { startGateway, type Gateway } from "../../infra/local/gateway/gateway.ts";
import { FunctionError } from "../../infra/local/lambda/function-error.ts";
import { startLambda, type Lambda } from "../../infra/local/lambda/lambda.ts";
import { openSandbox } from "../../infra/local/lambda/sandbox.ts";
import { runnable } from "../../infra/local/states/runnable.ts";
import { startStates, type Execution, type States, type TaskCall } from "../../infra/local/states/states.ts";
import { readTemplate, type Template } from "../../infra/local/template/template.ts";
import { STACK, synthesize } from "./fixture/stack.ts";

/** The parts of the responses of the fixture's functions and gateway that tests check. */
const body = z.looseObject({
  event: z.looseObject({ resource: z.string(), headers: z.record(z.string(), z.string()) }).optional(),
  context: z.looseObject({ awsRequestId: z.string(), left: z.number() }).optional(),
  env: z.record(z.string(), z.string()).optional(),
  error: z.looseObject({ code: z.string() }).optional(),
});

let template: Template;
let lambda: Lambda;
let events: Events;
let states: States;
let gateway: Gateway;
const log: string[] = [];
const writeLog = (line: string): void => void log.push(line);
/** `vi.waitFor` alone waits for a second. */
const ON_A_BUSY_MACHINE = { timeout: 60_000 };

beforeAll(async () => {
  const outDir = mkdtempSync(join(tmpdir(), "fixture-"));
  synthesize(outDir);
  template = readTemplate(outDir, STACK);
  process.env["SECRET_OF_THE_PARENT"] = "x";
  lambda = startLambda({ functions: template.functions, environment: { EXTRA: "1" }, localSecret: "s" });
  events = startEvents({ rules: template.rules, invoke: lambda.invoke, timeScale: 0, schedules: false, log: writeLog });
  states = await startStates({
    machines: template.machines,
    invoke: lambda.invoke,
    emit: events.put,
    log: writeLog,
    timeScale: 0,
  });
  const [api] = template.apis;
  if (!api) throw new Error("the fixture has an API");
  gateway = await startGateway({
    api,
    invoke: lambda.invoke,
    port: 0,
    log: writeLog,
    fallback: (request, response) =>
      request.url !== "/" && !request.url?.startsWith("/some") && Boolean(response.end("the docs")),
  });
});
afterAll(async () => {
  await gateway.stop();
  states.stop();
  events.stop();
  await lambda.stop();
  await states.settled();
});

const functionNamed = (part: string): string => template.functions.find(({ name }) => name.includes(`fn${part}`))?.name ?? part;
const ask = (path: string, init: RequestInit = {}) => fetch(gateway.url + path, init);
const asGood = (path: string, init: RequestInit = {}) => {
  const headers = new Headers(init.headers);
  headers.set("authorization", "Bearer good");
  return ask(path, { ...init, headers });
};
const json = async (response: Response) => body.parse(await response.json());

test("a handler gets the event that API Gateway would send", async () => {
  const response = await asGood("/api/v1/things/a%2Fb%20c?x=1&x=2&y=%C3%A9&z", {
    method: "POST",
    body: '{"é":1}',
    headers: { "X-Mixed-Case": "m" },
  });
  const { event, context, env } = await json(response);
  expect(event).toMatchObject({
    resource: "/api/v1/things/{id}",
    path: "/api/v1/things/a%2Fb%20c",
    httpMethod: "POST",
    pathParameters: { id: "a%2Fb%20c" },
    queryStringParameters: { x: "2", y: "é", z: "" },
    multiValueQueryStringParameters: { x: ["1", "2"], y: ["é"], z: [""] },
    body: '{"é":1}',
    isBase64Encoded: false,
    requestContext: {
      resourcePath: "/api/v1/things/{id}",
      stage: "prod",
      identity: { sourceIp: "127.0.0.1" },
      authorizer: { principalId: "somebody", request_id: "req-1", count: "7", admin: "true" },
    },
  });
  expect(event?.headers["x-mixed-case"] ?? event?.headers["X-Mixed-Case"]).toBe("m");
  expect(context).toMatchObject({ functionName: functionNamed("things") });
  expect(context?.awsRequestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(context?.left).toBeGreaterThan(500);
  expect(env).toMatchObject({ EXTRA: "1", AWS_REGION: "us-east-1", TABLE_NAME: expect.stringContaining("Table") });
  expect(env).not.toHaveProperty("SECRET_OF_THE_PARENT");
  expect(env).not.toHaveProperty("PATH");
});

test("a handler's response headers arrive with API Gateway's renames", async () => {
  const response = await ask("/api/v1/things");
  expect(response.headers.get("x-made-by")).toBe("things");
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(response.headers.get("x-amzn-remapped-www-authenticate")).toBe("Bearer");
  expect(response.headers.get("content-type")).toBe("application/json");
  const { event } = await json(response);
  expect(event).toMatchObject({ body: null, pathParameters: null, queryStringParameters: null });
});

test.each<[string, string, number]>([
  ["GET", "/api/v1/things/special", 200],
  ["DELETE", "/api/v1/things/special", 200],
  ["PUT", "/api/v1/things/other", 403],
  ["GET", "/api/v1/things/", 200],
  ["GET", "/api/v1/nobody/here", 404],
  ["GET", "/docs", 200],
  ["GET", "/", 403],
  ["GET", "/api/v1/things/%E0%A4%A", 400],
  ["GET", "/api/v1/things?x=%zz", 400],
])("%s %s gets the status %i", async (method, path, status) => {
  expect((await ask(path, { method })).status).toBe(status);
});

test("a static path takes precedence over a parameter, and the greedy path gets the rest", async () => {
  const special = await json(await ask("/api/v1/things/special"));
  expect(special.event?.resource).toBe("/api/v1/things/special");
  expect(await json(await ask("/some/where"))).toEqual({ path: "/some/where", proxy: "some/where" });
});

test("a denied credential gets the template's ACCESS_DENIED response, with the authorizer's request ID", async () => {
  const response = await ask("/api/v1/things/1", { headers: { authorization: "Bearer bad" } });
  expect(response.status).toBe(401);
  expect(response.headers.get("x-request-id")).toBe("req-1");
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(await json(response)).toEqual({ error: { code: "UNAUTHORIZED" } });
});

test("a policy is valid for the requested method only, and is requested every time", async () => {
  const headers = { authorization: "Bearer reader" };
  expect((await ask("/api/v1/things/1", { headers })).status).toBe(200);
  expect((await ask("/api/v1/things/1", { headers, method: "POST" })).status).toBe(401);
});

test("an authorizer's policy allows at most 512 characters per resource, and a method's ARN at most 1,600 bytes", async () => {
  const statusOf = async (id: string) =>
    (await ask(`/api/v1/things/${id}`, { headers: { authorization: "Bearer exact" } })).status;
  const arn = "arn:aws:execute-api:us-east-1:000000000000:api/prod/GET/api/v1/things/".length;
  expect(await statusOf("x".repeat(400))).toBe(200);
  expect(await statusOf("x".repeat(512))).toBe(500);
  expect(await statusOf("x".repeat(1600 - arn - 100))).toBe(500);
  expect(await statusOf("x".repeat(1600))).toBe(414);
});

test("a throttled function returns 500, and the next request works", async () => {
  const remove = lambda.intercept(async () => {
    throw new FunctionError("Lambda.TooManyRequestsException", "Rate Exceeded.");
  });
  const response = await ask("/api/v1/things");
  remove();
  expect([response.status, (await json(response)).error?.code]).toEqual([500, "INTERNAL_ERROR"]);
  expect((await ask("/api/v1/things")).status).toBe(200);
});

/** Byte for byte; `fetch` would normalize the request. */
async function sendRaw(head: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.end(`${head}\r\nConnection: close\r\n\r\n`);
  return text(socket);
}

test.each([
  "GET http://example.com/api/v1/things HTTP/1.1\r\nHost: x",
  "GET http://example.com/docs HTTP/1.1\r\nHost: x",
  "OPTIONS * HTTP/1.1\r\nHost: x",
  "GET /api/v1/things HTTP/1.1\r\nHost: x\r\nHost: y",
  "GET /docs HTTP/1.1\r\nHost: x\r\nhost: x",
  "GET /api/v1/things HTTP/1.1",
])("a request that could be for another host is rejected before anything reads it (%#)", async (head) => {
  const response = await sendRaw(head);
  expect(response).toMatch(/^HTTP\/1\.1 400 /);
  expect(response).not.toMatch(/x-made-by|the docs/);
});

test.each(["/API/v1/things", "/Api", "/aPI/", "/api"])("the API responds to %s, and no page is served", async (path) => {
  expect(await json(await ask(path))).toMatchObject({ path });
});

test.each(["throw", "garbage"])("an authorizer that fails (%s) returns the template's 500", async (token) => {
  const response = await ask("/api/v1/things/1", { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(500);
  expect((await json(response)).error?.code).toBe("INTERNAL_ERROR");
});

test.each(["throw", "malformed", "header", "exit", "crash", "hang", "spin"])(
  "a function that fails (%s) returns 502, and the next request works",
  async (id) => {
    const response = await asGood(`/api/v1/things/${id}`);
    expect(response.status).toBe(502);
    expect((await json(response)).error).toEqual({ code: "INTERNAL_ERROR" });
    expect((await asGood("/api/v1/things/1")).status).toBe(200);
  },
);

test("a bundle that cannot be loaded returns 502 every time", async () => {
  expect((await ask("/api/v1/broken")).status).toBe(502);
  expect((await ask("/api/v1/broken")).status).toBe(502);
});

const post = (bytes: number, path: string) => asGood(path, { method: "POST", body: "x".repeat(bytes) });

test("a body over 10 MB gets an error, and a smaller one arrives", async () => {
  expect((await post(10 * 1024 * 1024 + 1, "/api/v1/things/1")).status).toBe(413);
  expect((await post(10 * 1024 * 1024, "/api/v1/things")).status).toBe(403);
  expect((await post(1_000_000, "/api/v1/things/1")).status).toBe(200);
});

test.each([
  "GET http://[::bad/ HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
  'GET /"<>\\^`{|} HTTP/1.1\r\nHost: x\r\n\r\n',
  "GET /api/v1/things HTTP/1.1\r\nHost: x\r\n: empty\r\n\r\n",
  "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET /api/v1/things/__proto__?__proto__=1&=2&& HTTP/1.1\r\nHost: x\r\n__proto__: 1\r\nconstructor: 2\r\n\r\n",
  "POST /api/v1/things/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nshort",
  `GET / HTTP/1.1\r\nHost: x\r\nLong: ${"x".repeat(20_000)}\r\n\r\n`,
  "\0\0\0\0\r\n\r\n",
])("malformed HTTP does not stop the gateway (%#)", async (garbage) => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(garbage, "latin1");
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  expect((await ask("/api/v1/things")).status).toBe(200);
});

const invoke = (id: string) => lambda.invoke(functionNamed("things"), { pathParameters: { id } });

test("an error keeps its name and message, and concurrent calls share one worker", async () => {
  await expect(invoke("throw")).rejects.toMatchObject({ name: "RangeError", message: "no such thing" });
  const time = async (calls: number): Promise<number> => {
    const began = performance.now();
    await Promise.all(Array.from({ length: calls }, () => invoke("slow")));
    return performance.now() - began;
  };
  const one = await time(1);
  expect((await time(20)) / one, "times as long as one call").toBeLessThan(10);
  await expect.poll(() => lambda.logs(functionNamed("things"))).toContain("seen slow");
});

test("a function that exceeds its timeout is stopped, and its neighbors can finish", async () => {
  const hangs = invoke("hang");
  await new Promise((resolve) => setTimeout(resolve, 850));
  const [late, slow] = await Promise.allSettled([hangs, invoke("slow")]);
  expect(late).toMatchObject({
    status: "rejected",
    reason: { name: "Sandbox.Timedout", message: expect.stringContaining("timed out after 1.00 seconds") },
  });
  expect(slow.status).toBe("fulfilled");
});

async function run(input: unknown, name: string = randomUUID()): Promise<Execution> {
  await states.handle("StartExecution", { stateMachineArn: template.machines[0]?.arn, name, input: JSON.stringify(input) });
  await states.settled();
  const found = states.executions().find((each) => each.name === name);
  if (!found) throw new Error("not recorded");
  return found;
}

test("an execution runs its functions, polls, and succeeds with the state machine's output", async () => {
  const { status, output } = await run({ polls: 3, pause: 60 });
  expect(status).toBe("SUCCEEDED");
  expect(JSON.parse(output ?? "")).toMatchObject({ flag: false, result: { ready: true, tries: 3 } });
});

test("a task is retried by its error's name, and then caught with AWS's JSON cause", async () => {
  expect(await run({ again: 3 })).toMatchObject({ status: "SUCCEEDED" });
  const failed = await run({ again: 9 });
  expect(failed).toMatchObject({ status: "FAILED", error: "TryAgain" });
  expect(JSON.parse(failed.cause ?? "")).toMatchObject({ errorType: "TryAgain", errorMessage: "still booting" });
});

test("a result over 256 KB passes every Catch, as on AWS", async () => {
  expect(await run({ large: 300_000 })).toMatchObject({ status: "FAILED", error: "States.DataLimitExceeded" });
});

test("the state machine's timeout ends an execution", async () => {
  expect(await run({ takes: 3000 })).toMatchObject({ status: "TIMED_OUT" });
});

test("the end of an execution that a rule matches reaches its function", async () => {
  const { executionArn } = await run({ fail: "out of luck" });
  await vi.waitFor(() => {
    const last = JSON.parse(lambda.logs(functionNamed("ended")).at(-1) ?? "{}");
    expect(last).toMatchObject({ source: "aws.states", detail: { executionArn, status: "FAILED", error: "Error" } });
  }, ON_A_BUSY_MACHINE);
});

test("a target that throws is called three times", async () => {
  let calls = 0;
  const remove = lambda.intercept(async ({ functionName }, next) => {
    if (functionName !== functionNamed("ended")) return next();
    calls += 1;
    throw new Error("no");
  });
  await run({ fail: "again" });
  remove();
  expect(calls).toBe(3);
  expect(log.at(-1)).toContain("given up");
});

test("a scheduled rule can be fired, and its target gets the event", async () => {
  await events.fire("tick");
  await expect.poll(() => lambda.logs(functionNamed("tick")).at(-1)).toContain('"detail-type":"Scheduled Event"');
});

test("a second start with the same name succeeds while it runs, and fails with another input or after its end", async () => {
  const stateMachineArn = template.machines[0]?.arn;
  const start = (input: unknown) =>
    states.handle("StartExecution", { stateMachineArn, name: "once", input: JSON.stringify(input) });
  const both = await Promise.all([start({ takes: 200 }), start({ takes: 200 })]);
  expect(both[0]).toEqual(both[1]);
  await expect(start({ takes: 1 })).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
  await states.settled();
  await expect(start({ takes: 200 })).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
});

test("invalid names, inputs, state machines and executions fail with AWS's error names", async () => {
  const stateMachineArn = template.machines[0]?.arn;
  const start = (body: object) => states.handle("StartExecution", { stateMachineArn, ...body });
  await expect(start({ name: "a b" })).rejects.toMatchObject({ name: "InvalidName" });
  await expect(start({ input: "{" })).rejects.toMatchObject({ name: "InvalidExecutionInput" });
  await expect(start({ input: JSON.stringify("x".repeat(262_144)) })).rejects.toMatchObject({ name: "ValidationException" });
  await expect(start({ stateMachineArn: "arn:x" })).rejects.toMatchObject({ name: "StateMachineDoesNotExist" });
  await expect(states.handle("DescribeExecution", { executionArn: "arn:x" })).rejects.toMatchObject({
    name: "ExecutionDoesNotExist",
  });
});

test("a stopped execution is ABORTED with the given error, and lists show it", async () => {
  const stateMachineArn = template.machines[0]?.arn;
  await states.handle("StartExecution", { stateMachineArn, name: "stopped", input: '{"takes":1500}' });
  const executionArn = states.executions().find(({ name }) => name === "stopped")?.executionArn;
  await states.handle("StopExecution", { executionArn, error: "Enough", cause: "by hand" });
  await states.settled();
  const described = await states.handle("DescribeExecution", { executionArn });
  expect(described).toMatchObject({ status: "ABORTED", error: "Enough", cause: "by hand", stopDate: expect.any(Number) });
  const list = await states.handle("ListExecutions", { stateMachineArn, statusFilter: "ABORTED", maxResults: 1 });
  expect(list).toEqual({ executions: [expect.objectContaining({ executionArn, status: "ABORTED" })] });
});

test("a test can fail a task, run it twice and see every try", async () => {
  const calls: TaskCall[] = [];
  const remove = states.intercept(async (call, next) => {
    calls.push(call);
    if (call.task === "work" && call.attempt === 1) throw Object.assign(new Error("injected"), { name: "TryAgain" });
    await next();
    return next();
  });
  const { status, output } = await run({}, "intercepted");
  remove();
  expect(status).toBe("SUCCEEDED");
  expect(JSON.parse(output ?? "").result.tries).toBe(2);
  expect(calls.map(({ task, attempt, execution }) => [task, attempt, execution])).toEqual([
    ["work", 1, "intercepted"],
    ["work", 2, "intercepted"],
  ]);
});

test("the end of an execution that was not published before the process ended is published by the next one", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "data-"));
  const common = { machines: template.machines, invoke: lambda.invoke, log: writeLog, dataDir, timeScale: 0 };
  const emitted: unknown[] = [];
  const first = await startStates({
    ...common,
    emit: ({ detail }) => {
      emitted.push(detail["status"]);
      return new Promise(() => undefined);
    },
  });
  await first.handle("StartExecution", { stateMachineArn: template.machines[0]?.arn, name: "unheard", input: "{}" });
  // By then the end is recorded.
  await expect.poll(() => emitted).toContain("SUCCEEDED");
  expect(first.executions()).toMatchObject([{ status: "SUCCEEDED", announced: false }]);
  first.stop();
  const heard: unknown[] = [];
  const second = await startStates({ ...common, emit: async ({ detail }) => void heard.push(detail["name"], detail["status"]) });
  second.resume();
  await second.settled();
  expect(heard).toEqual(["unheard", "SUCCEEDED"]);
  const third = await startStates({ ...common, emit: async () => void heard.push("again") });
  third.resume();
  await third.settled();
  expect(heard).toHaveLength(2);
});

test.each<[string, object, RegExp]>([
  ["JSONata", { QueryLanguage: "JSONata", States: { a: { Type: "Succeed" } } }, /JSONata/],
  ["a JSONata state", { States: { a: { Type: "Pass", QueryLanguage: "JSONata", End: true } } }, /State "a" of m uses JSONata/],
  [
    "another service",
    { States: { a: { Type: "Task", Resource: "arn:aws:states:::lambda:invoke", End: true } } },
    /payloadResponseOnly/,
  ],
  ["a map", { States: { a: { Type: "Map", End: true } } }, /type Map/],
])("a definition with %s is rejected before anything runs", (_, definition, message) => {
  const fullDefinition = JSON.parse(JSON.stringify({ StartAt: "a", ...definition }));
  expect(() => runnable({ name: "m", definition: fullDefinition }, 1)).toThrow(message);
});

test("event patterns match as in EventBridge", () => {
  const event = { source: "aws.states", detail: { status: "FAILED", name: "op_1" } };
  expect(matches({ source: ["aws.states"], detail: { status: ["FAILED", "ABORTED"] } }, event)).toBe(true);
  expect(matches({ detail: { status: ["SUCCEEDED"] } }, event)).toBe(false);
  expect(matches({ detail: { name: ["other", { prefix: "op_" }] } }, event)).toBe(true);
  expect(matches({ detail: { name: [{ prefix: "op_2" }] } }, event)).toBe(false);
  expect(matches({ detail: { missing: [{ prefix: "" }] } }, event)).toBe(false);
  expect(() => matches({ source: ["other"], detail: { name: [{ suffix: "_1" }] } }, event)).toThrow(/suffix/);
});
test("the thread of a function that nobody calls for half a minute ends", async () => {
  const definition = template.functions.find(({ name }) => name === functionNamed("tick"));
  if (definition === undefined) throw new Error("the fixture has a function tick");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const onExit = vi.fn<() => void>();
  const sandbox = openSandbox(definition, {
    environment: {},
    log: { write: writeLog, lines: [], close: () => undefined },
    onExit,
  });
  try {
    await sandbox.invoke("{}");
    vi.advanceTimersByTime(29_000);
    await sandbox.invoke("{}");
    vi.advanceTimersByTime(29_000);
    expect(sandbox.isOpen()).toBe(true);
    vi.advanceTimersByTime(2_000);
    expect(sandbox.isOpen()).toBe(false);
  } finally {
    vi.useRealTimers();
  }
  await vi.waitFor(() => expect(onExit).toHaveBeenCalledOnce(), ON_A_BUSY_MACHINE);
});
