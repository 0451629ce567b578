// Every bundle in AWS's own runtime client: it loads, responds, and writes the lines that docs/operations.md tells operators to
// find.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import * as z from "zod";
import { ACCESS_LOG } from "../../infra/api.ts";
import { ROOT } from "../../infra/built.ts";
import { ENTRIES } from "../../infra/bundle.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { reserveOperation } from "../../shared/records/operations.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { bodyOf, everyRoute, pathOf } from "../harness/requests.ts";
import { seedServer } from "../harness/seed.ts";
import { runtimeClient } from "../harness/runtime-client.ts";

const cloud = await ownCloud();
const client = runtimeClient();
const invoked = new Set<string>();

const contentOf = (folder: string): string => readFileSync(join(folder, "index.mjs"), "latin1");
const ids = new Map(Object.keys(ENTRIES).map((id) => [contentOf(join(inject("bundles"), id)), id]));
/**
 * The bundle of each of our functions: a deployment has a copy under another name. The CDK's own functions are not such modules.
 */
const bundleOf = new Map(
  cloud.template.functions
    .filter(({ directory = "" }) => existsSync(join(directory, "index.mjs")))
    .map(({ name, directory = "" }) => [name, ids.get(contentOf(directory)) ?? name]),
);
const nameOf = new Map([...bundleOf].map(([name, id]) => [id, name]));

/** A bundle that this environment does not deploy runs with the variables of another function. */
const environmentOf = (id: string): Record<string, string> => {
  const environment = cloud.lambda.buildEnvironment(nameOf.get(id) ?? nameOf.get("schedules.sweep") ?? "");
  return nameOf.has(id)
    ? environment
    : { ...environment, AWS_LAMBDA_FUNCTION_NAME: id, LAMBDA_TASK_ROOT: join(inject("bundles"), id) };
};
const invoke = (id: string, payload: unknown): Promise<unknown> => {
  invoked.add(id);
  return client.invoke(environmentOf(id), payload);
};

const statuses = new Map<string, number>();
/** The errors that each function was made to throw, with their messages. */
const thrown = new Map<string, string[]>();
async function failing(id: string, payload: unknown): Promise<void> {
  const message = await invoke(id, payload).then(
    () => "nothing",
    (error: unknown) => String(error),
  );
  thrown.set(id, [...(thrown.get(id) ?? []), message]);
}

const unused = { account_id: newId("account"), operation_id: newId("operation") };
const tasks = Object.keys(ENTRIES).filter((id) => id.startsWith("tasks."));
let lines: string[];
/** The same lines as the local runner's own functions write. */
let ours: string[];

beforeAll(async () => {
  const me = await account();
  const session = await me.session();
  const { api } = await me.token();
  await api.get("/servers");
  ours = cloud.lambda.logs(nameOf.get("servers.list") ?? "");

  const remove = cloud.lambda.intercept(({ functionName, payload }) => {
    return invoke(bundleOf.get(functionName) ?? "", payload);
  });
  // One after another, because the same few threads serve all. The session's end comes last.
  const routes = everyRoute.toSorted((a, b) => Number(a.id.includes("logout")) - Number(b.id.includes("logout")));
  for (const route of routes) {
    const from: Client = route.access === "session" ? session : route.access === "public" ? anonymous : api;
    const headers = { "x-request-id": `asked.${route.id}` };
    statuses.set(route.title, (await from.send(route.method, pathOf(route), bodyOf(route), { headers })).status);
  }
  statuses.set("no such path", (await anonymous.get("/nothing")).status);
  remove();
  await cloud.states.settled();

  for (const id of tasks) await failing(id, { task: "begin", input: unused });
  await failing("tasks.create-server", { task: "misspelt", input: unused });
  for (const id of ["check-servers", "sweep", "expire-backups", "expire-history", "run-policies", "dispatch"])
    await invoke(`schedules.${id}`, {});
  for (const id of ["deliver", "send-mail"]) await invoke(`schedules.${id}`, { Records: [] });
  await failing("read-logs", {});
  await failing("schedules.refresh-catalog", {}); // only live has it
  const dead = { name: unused.operation_id, status: "FAILED", input: JSON.stringify(unused) };
  await invoke("schedules.rescue", { detail: dead });
  const { id: name, input } = await begunOperation(me.id);
  await invoke("schedules.rescue", { detail: { ...dead, name, input: JSON.stringify(input) } });
  await cloud.states.settled();
  lines = await client.end();
});

/** An open operation whose execution may have died. */
async function begunOperation(accountId: string): Promise<OperationRecord> {
  const server = await seedServer(accountId);
  const change = startChange(await getAccount(accountId));
  const id = newId("operation");
  const author = { operator: "operator", requestId: "asked.rescue" };
  const resource = { type: "server", id: server.id, name: server.name } as const;
  const operation = reserveOperation(change, author, { id, type: "server.delete", resource });
  await change.commit();
  return operation;
}

test("every bundle has loaded and responded", () => {
  expect([...invoked].toSorted()).toEqual(Object.keys(ENTRIES).toSorted());
  expect([...statuses].filter(([, status]) => status >= 500)).toEqual([]);
  expect(statuses.get("no such path")).toBe(404);
  for (const id of tasks) expect(thrown.get(id)?.[0], id).toContain("The operation has already ended");
  expect(thrown.get("tasks.create-server")?.[1]).toContain("has no task misspelt");
  expect(thrown.get("read-logs")?.[0]).toContain("account_id");
  expect(thrown.get("schedules.refresh-catalog")).toEqual(["Error: The environment variable PROVIDERS_SECRET is not set"]);
});

const Line = z.strictObject({
  timestamp: z.iso.datetime(),
  level: z.enum(["DEBUG", "INFO", "WARN", "ERROR"]),
  requestId: z.string(),
  message: z.record(z.string(), z.unknown()),
});
const Metric = z.looseObject({ _aws: z.looseObject({ CloudWatchMetrics: z.array(z.looseObject({})) }), environment: z.string() });
const parsed = () => lines.map((line): unknown => JSON.parse(line));

test("every log line is an object with its level, or a bare metric", () => {
  for (const line of parsed()) z.union([Line, Metric]).parse(line);
  const metrics = parsed().flatMap((line) => Metric.safeParse(line).data ?? []);
  expect(metrics).toContainEqual(expect.objectContaining({ OrphanMachines: 0, environment: "test" }));
});

test("every request writes one line that its ID finds, and an error has the level ERROR and its cause's place", () => {
  const messages = parsed().flatMap((line) => Line.safeParse(line).data ?? []);
  const requestLines = messages.filter(({ message }) => message["request_id"] === "asked.servers.list");
  expect(requestLines).toMatchObject([
    { level: "INFO", message: { message: "request", endpoint: "/api/v1/servers", status: 200 } },
  ]);
  const errors = messages.filter(({ level, message }) => level === "ERROR" && message["task"] === "misspelt");
  const error = {
    name: "Error",
    message: expect.stringContaining("has no task misspelt"),
    stack: expect.stringContaining("at "),
  };
  expect(errors).toMatchObject([{ message: { message: "task failed", workflow: "create-server", error } }]);
});

test("the local runner's functions write the same lines", () => {
  const shape = (all: unknown[]) => {
    const line = all.flatMap((each) => Line.safeParse(each).data ?? []).find(({ message }) => message["message"] === "request");
    return [Object.keys(line ?? {}), Object.keys(line?.message ?? {})];
  };
  expect(shape(ours.map((line): unknown => JSON.parse(line)))).toEqual(shape(parsed().filter(ofList)));
});
const ofList = (line: unknown): boolean => Line.safeParse(line).data?.message["request_id"] === "asked.servers.list";

/** All that functions can log. */
const loggedSomewhere = (): string[] =>
  globSync(["functions/**/*.ts", "shared/**/*.ts"], { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), "utf8"))
    .flatMap((code) => [...code.matchAll(/\blog\.(?:info|warn|error)\(\s*"([^"]+)"/g)].map(([, message = ""]) => message));

test("every filter in docs/operations.md matches the log lines", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
  const filters = [...guide.matchAll(/filter ([\w.]+) = "([^"]*)"/g)];
  expect(filters.length).toBeGreaterThan(2);
  const valueAt = (line: unknown, path: string): unknown =>
    path.split(".").reduce<unknown>((value, name) => z.record(z.string(), z.unknown()).safeParse(value).data?.[name], line);
  for (const [filter, path = "", value = ""] of filters) {
    if (path in ACCESS_LOG) continue; // in the gateway's own log
    // What is logged only when something goes wrong has not been logged here.
    const values = path === "message.message" ? loggedSomewhere() : parsed().map((line) => valueAt(line, path));
    expect(values, filter).toContainEqual(value === "…" ? expect.any(String) : value);
  }
});
