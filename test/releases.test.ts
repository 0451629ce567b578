// What every release stored, and what its functions passed to each other, is read by this version: customers' records are of any
// age, and during a deployment or a rollback both versions serve for minutes. A file of `test/releases` never changes.
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { itemsOf, recordedReleases } from "./releases/data.ts";
import { workflows } from "../functions/workflows/index.ts";
import { MIGRATIONS } from "../shared/migrations/migrations.ts";
import { INDEXES } from "../infra/table.ts";
import { AccountRecord } from "../shared/records/schemas/account.ts";
import { BackupRecord } from "../shared/records/schemas/backup.ts";
import { EventRecord } from "../shared/records/schemas/event.ts";
import { InstanceRecord } from "../shared/records/schemas/instance.ts";
import { OperationCore, OperationRecord } from "../shared/records/schemas/operation.ts";
import { PolicyRecord } from "../shared/records/schemas/backup-policy.ts";
import { ServerRecord, WatchedServer } from "../shared/records/schemas/server.ts";
import { SshKeyRecord } from "../shared/records/schemas/ssh-key.ts";
import { TokenAccess, TokenLabel } from "../shared/records/schemas/token.ts";
import { UserAccess, UserRecord } from "../shared/records/schemas/user.ts";
import { keyString } from "../shared/data/keys.ts";
import { permissionsIn } from "../shared/data/permission-bits.ts";
import { UploadRecord } from "../shared/records/uploads.ts";
import { JOB_RESULTS } from "../shared/hosts/host.ts";
import { AuthorizerContext } from "../shared/runtime/request-context.ts";

const Release = z.object({
  items: z.array(z.record(z.string(), z.custom<AttributeValue>())),
  contexts: z.record(z.string(), z.record(z.string(), z.string())),
  workflows: z.record(z.string(), z.object({ tasks: z.array(z.string()), input: z.record(z.string(), z.unknown()) })),
  jobs: z.array(z.string()),
  /** The partition key of each index. */
  indexes: z.record(z.string(), z.string()),
  /** The names of the migrations in their order. */
  migrations: z.array(z.string()).default([]),
});

/** How each kind of item is found by its key, and read. */
const KINDS: Readonly<Record<string, { key: RegExp; schema: z.ZodType }>> = {
  account: { key: /^ACC#\w+ ACCOUNT$/, schema: AccountRecord },
  server: { key: /^ACC#\w+#server /, schema: ServerRecord },
  instance: { key: /^ACC#\w+#instance /, schema: InstanceRecord },
  backup: { key: /^ACC#\w+#backup /, schema: BackupRecord },
  operation: { key: /^ACC#\w+#operation /, schema: OperationRecord },
  "operation, its core": { key: /^ACC#\w+#operation /, schema: OperationCore },
  event: { key: /^ACC#\w+#event /, schema: EventRecord },
  "SSH key": { key: /^ACC#\w+#ssh_key /, schema: SshKeyRecord },
  "backup policy": { key: /^ACC#\w+#backup_policy /, schema: PolicyRecord },
  upload: { key: /^ACC#\w+#upload /, schema: UploadRecord },
  "token, as shown": { key: /^ACC#\w+#api_token /, schema: TokenLabel },
  "token, as admitted": { key: /^TOKEN#\w+ /, schema: TokenAccess },
  user: { key: /^USER#\w+ USER$/, schema: UserRecord },
  "user, as admitted": { key: /^USER#\w+ ACCESS$/, schema: UserAccess },
  "watched server": { key: /^WATCHED /, schema: WatchedServer },
};

const asBytes = (type: string, value: unknown): unknown =>
  type === "B" && typeof value === "string" ? Buffer.from(value, "base64") : value;

const releases = globSync("test/releases/*.json").map((file) => ({
  name: basename(file, ".json"),
  ...Release.parse(JSON.parse(readFileSync(file, "utf8"), asBytes)),
}));

test("there is a release", () => expect(releases.length).toBeGreaterThan(0));

describe.each(releases)("release $name", ({ items, contexts, workflows: recorded, jobs, indexes, migrations }) => {
  const stored = items.map((item) => unmarshall(item));
  const keyOf = (item: Record<string, unknown>): string => `${String(item["pk"])} ${String(item["sk"])}`;

  test.each(Object.entries(KINDS))("its items can be read: %s", (_, { key, schema }) => {
    const items = stored.filter((item) => key.test(keyOf(item)));
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      const { error } = schema.safeParse(item);
      expect(error, `${keyOf(item)}: a field that it lacks needs a default`).toBeUndefined();
    }
  });

  test("its tokens have the permissions that they had", () => {
    const tokens = stored.filter((item) => keyOf(item).startsWith("TOKEN#")).map((item) => TokenAccess.parse(item));
    expect(tokens.map(({ permissions }) => permissionsIn(permissions))).toEqual([["instances:read", "backups:write"]]);
  });

  test.each(Object.keys(contexts))("a handler reads what its authorizer passes on: %s", (name) => {
    const { caller, limits, request_id } = AuthorizerContext.parse(contexts[name]);
    const texts = { caller: contexts[name]?.["caller"] ?? "", limits: contexts[name]?.["limits"] ?? "" };
    expect(request_id).toBe("release");
    expect(caller).toEqual(JSON.parse(texts.caller));
    expect(limits).toEqual(JSON.parse(texts.limits));
  });

  test("its executions find every task, and their inputs are accepted", () => {
    const workflowsByName = new Map(Object.entries<(typeof workflows)[keyof typeof workflows]>(workflows));
    for (const [name, { tasks, input }] of Object.entries(recorded)) {
      const steps = workflowsByName.get(name)?.steps ?? [];
      const present = [
        "begin",
        "succeed",
        "fail",
        ...steps.flatMap((each) => ("undo" in each ? [each.name, each.undo] : [each.name])),
      ];
      expect(present, `${name}: a task stays as long as an execution may call it`).toEqual(expect.arrayContaining(tasks));
      expect(
        workflowsByName.get(name)?.input.safeParse(input).error,
        `${name}: a new field of an input is optional`,
      ).toBeUndefined();
    }
  });

  test("its indexes are still there, with the same key", () => expect(INDEXES).toMatchObject(indexes));

  test("its migrations are still the first ones", () =>
    expect(MIGRATIONS.map(({ name }) => name).slice(0, migrations.length)).toEqual(migrations));

  test("its jobs are still known", () => expect(Object.keys(JOB_RESULTS)).toEqual(expect.arrayContaining(jobs)));
});

describe.each(recordedReleases())("the data of release %s", (name) => {
  const stored = itemsOf(name).map((item) => unmarshall(item));

  test.each(Object.entries(KINDS))("can be read: %s", (_, { key, schema }) => {
    for (const item of stored.filter((each) => key.test(keyString(each).replace("\n", " "))))
      expect(schema.safeParse(item).error, keyString(item)).toBeUndefined();
  });

  test("has results of jobs that are still read", () => {
    const results = stored.flatMap(({ kind, answer }) => (typeof answer === "string" ? [{ kind: String(kind), answer }] : []));
    expect(new Set(results.map(({ kind }) => kind)).size).toBeGreaterThan(10);
    const schemas = new Map<string, z.ZodType>(Object.entries(JOB_RESULTS));
    for (const { kind, answer } of results)
      expect(schemas.get(kind)?.safeParse(JSON.parse(answer)), `${kind}: ${answer}`).toMatchObject({ success: true });
  });

  test("has executions whose input is still accepted", () => {
    const workflowsByName = new Map(Object.entries<(typeof workflows)[keyof typeof workflows]>(workflows));
    const executions = globSync(`test/releases/${name}/executions/*.json`).map((file) =>
      z.object({ stateMachineArn: z.string(), input: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))),
    );
    expect(executions.length).toBeGreaterThan(10);
    for (const { stateMachineArn, input } of executions) {
      const workflow = workflowsByName.get(stateMachineArn.split(/-(?:test|live)-/).at(-1) ?? "");
      expect(workflow?.input.safeParse(JSON.parse(input)), `${stateMachineArn}: ${input}`).toMatchObject({ success: true });
    }
  });
});

test("a release has at most one index more than those before", () => {
  const most = Math.max(...releases.map(({ indexes }) => Object.keys(indexes).length));
  expect(
    Object.keys(INDEXES).length,
    "CloudFormation adds one index to a table for each deployment: release one first",
  ).toBeLessThanOrEqual(most + 1);
});

test("what a newer authorizer passes on grants nothing that this version does not know, and breaks nothing", () => {
  const [release] = releases;
  const context = release?.contexts["token"] ?? {};
  const caller = {
    ...JSON.parse(context["caller"] ?? "{}"),
    type: "robot",
    permissions: ["planets:read", "servers:read"],
    role: "pilot",
  };
  const limits = { ...JSON.parse(context["limits"] ?? "{}"), refused: { scope: "logs", limit: 10, retry_after: 1 }, burst: 3 };
  const newerContext = { ...context, caller: JSON.stringify(caller), limits: JSON.stringify(limits), trace: "1" };
  const read = AuthorizerContext.parse(newerContext);
  expect(read.caller).toMatchObject({ type: "robot", permissions: ["planets:read", "servers:read"] });
  expect(read.limits.refused).toMatchObject({ scope: "logs" });
});
