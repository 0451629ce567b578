// Records a release: what it stores, what its authorizer passes to the handlers, and what its state machines ask of the tasks;
// and the data of an account in which all kinds of work were done. Every later version must read all of it
// (`test/releases.test.ts`, and `test/releases/two-versions.alone.all.test.ts`). Once for each release: `npm run record-release
// -- 1.0.0`.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { marshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import { workflows } from "../../functions/workflows/index.ts";
import { INDEXES } from "../../infra/table.ts";
import { MIGRATIONS } from "../../shared/migrations/migrations.ts";
import { newAccount } from "../../shared/records/accounts.ts";
import { reserveBackup, reserveUploaded } from "../../shared/records/backups.ts";
import { startChange } from "../../shared/data/change.ts";
import type { By } from "../../shared/records/events.ts";
import { reserveInstance } from "../../shared/records/instances.ts";
import { keys } from "../../shared/data/keys.ts";
import { reserveOperation } from "../../shared/records/operations.ts";
import { firstPolicy } from "../../shared/records/policies.ts";
import { reserveServer } from "../../shared/records/servers.ts";
import { reserveSshKey } from "../../shared/records/ssh-keys.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import { reserveUpload } from "../../shared/records/uploads.ts";
import { reserveUser } from "../../shared/records/users.ts";
import { newId } from "../../shared/domain/ids.ts";
import { JOB_RESULTS } from "../../shared/hosts/host.ts";
import { recordData } from "./data.ts";

const [name] = process.argv.slice(2);
if (name === undefined || !/^\d+\.\d+\.\d+$/.test(name))
  throw new Error("Give the release's number: npm run record-release -- 1.0.0");

process.env["TABLE_NAME"] = "recorded";
process.env["ENVIRONMENT"] = "test";

/** The items of an account with one record of each kind, as the requests that create them write them. */
function items(): Record<string, unknown>[] {
  const account = newAccount(newId("account"), "Release");
  const change = startChange(account);
  const caller = {
    account_id: account.id,
    type: "user",
    id: newId("user"),
    name: "Ada",
    permissions: [],
    ip_address: "203.0.113.1",
  } as const;
  const by: By = { caller: { ...caller, permissions: [] }, requestId: "release" };
  const operation = newId("operation");
  const labels = { env: "prod" };
  reserveUser(change, { id: caller.id, email: "ada@example.com", name: "Ada", password_hash: "none" });
  const key = reserveSshKey(change, { name: "Laptop", public_key: "ssh-ed25519 AAAA", fingerprint: "SHA256:none" });
  const server = reserveServer(
    change,
    {
      name: "one",
      provider: "sandbox",
      region: "eu-central",
      size: "small",
      specs: { cpu: 2, memory_gb: 4, disk_gb: 40 },
      ssh_key_id: key.id,
      ssh_key_name: "Work laptop",
      labels,
    },
    operation,
  );
  const keep = { last: 3, daily: 2 };
  const policy = firstPolicy(change, server.id, {
    schedule: "0 2 * * *",
    timezone: "UTC",
    keep,
    drill_every_days: 7,
    enabled: true,
  });
  const instance = reserveInstance(
    change,
    server,
    {
      ...policy,
      name: "Shop",
      erp_version: "19.0",
      edition: "community",
      database_name: "shop",
      admin_email: "a@example.com",
      domain: "shop.example.com",
      labels,
    },
    operation,
  );
  const backup = reserveBackup(
    change,
    instance,
    { kind: "scheduled", note: "Kept", expires_at: "2026-12-24T00:00:00.000Z" },
    { operationId: operation },
  );
  reserveUploaded(
    change,
    { id: newId("backup"), server_id: server.id, note: null, file_name: null, size_bytes: 1000 },
    operation,
  );
  const resource = { type: "instance", id: instance.id, name: "Shop" } as const;
  const holds = [{ type: "instance", id: instance.id }] as const;
  reserveOperation(change, by, {
    id: operation,
    type: "backup.restore",
    resource,
    before: "running",
    holds: [...holds],
    usesBackupId: backup.id,
  });
  reserveToken(change, by, "test", { name: "CI", permissions: ["instances:read", "backups:write"], expires_at: null });
  reserveUpload(change, { size_bytes: 1000, note: null, file_name: null });
  const puts = change.writes().flatMap(({ item: { Put } }) => Put?.Item ?? []);
  return [{ ...account, ...keys.account(account.id) }, ...puts];
}

/**
 * What the authorizer passes on; written by hand, because a real one needs a table. `test/auth/authorizer.alone.test.ts` says the
 * same of it.
 */
function contexts(): Record<string, Record<string, string>> {
  const limits = { limit: 100, remaining: 99, reset: 1_800_000_000 };
  const token = {
    account_id: newId("account"),
    type: "token",
    id: newId("token"),
    permissions: ["servers:read"],
    ip_address: "203.0.113.1",
  };
  const context = (caller: object, more: object = {}): Record<string, string> => ({
    request_id: "release",
    ip_address: "203.0.113.1",
    caller: JSON.stringify(caller),
    limits: JSON.stringify({ ...limits, ...more }),
  });
  return {
    token: context(token),
    session: context({ ...token, type: "user", id: newId("user"), session_id: newId("session") }),
    waiting: context({ ...token, wait: { place: "wait_0", until: 1_800_000_000_000 } }),
    limited: context(token, { remaining: 0, refused: { scope: "create_delete", limit: 20, retry_after: 7 } }),
  };
}

const Fields = z.object({
  properties: z.record(z.string(), z.looseObject({ type: z.string().optional(), pattern: z.string().optional() })),
  required: z.array(z.string()),
});

/** An input with what a workflow requires: IDs and flags. */
function inputOf(schema: z.ZodType): Record<string, unknown> {
  const { properties, required } = Fields.parse(z.toJSONSchema(schema, { io: "input" }));
  return Object.fromEntries(
    required.map((name) => {
      const { type = "string", pattern } = properties[name] ?? {};
      const prefix = /^\^([a-z]+)_/.exec(pattern ?? "")?.[1];
      const sample: Readonly<Record<string, unknown>> = { boolean: true, integer: 1000, number: 1000 };
      return [name, sample[type] ?? (prefix === undefined ? "text.example.com" : `${prefix}_01kag8w1s2e7tv8q4m5n6p7r8s`)];
    }),
  );
}

const release = {
  items: items().map((item) => marshall(item, { removeUndefinedValues: true })),
  contexts: contexts(),
  workflows: Object.fromEntries(
    Object.entries(workflows).map(([name, { steps, input }]) => [
      name,
      {
        tasks: ["begin", "succeed", "fail", ...steps.flatMap((each) => ("undo" in each ? [each.name, each.undo] : [each.name]))],
        input: inputOf(input),
      },
    ]),
  ),
  jobs: Object.keys(JOB_RESULTS),
  indexes: INDEXES,
  migrations: MIGRATIONS.map(({ name: migration }) => migration),
};

/** A buffer has become an object by the time that a replacer sees it. */
const Bytes = z.object({ type: z.literal("Buffer"), data: z.array(z.number()) });
const bytesAsText = (_: string, value: unknown): unknown => {
  const bytes = value instanceof Uint8Array ? value : Bytes.safeParse(value).data?.data;
  return bytes === undefined ? value : Buffer.from(bytes).toString("base64");
};
const lines = Object.entries(release).map(([part, values]) => {
  const each = Array.isArray(values)
    ? values.map((value) => JSON.stringify(value, bytesAsText))
    : Object.entries(values).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `${JSON.stringify(part)}:${Array.isArray(values) ? "[" : "{"}\n${each.join(",\n")}\n${Array.isArray(values) ? "]" : "}"}`;
});
writeFileSync(join(import.meta.dirname, `${name}.json`), `{${lines.join(",\n")}}\n`);
await recordData(name, resolve(import.meta.dirname, "..", ".."));
