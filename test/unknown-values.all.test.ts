// Values that only a newer version knows, as a rollback or the minutes of a deployment leave them: they are shown as they are,
// and allow nothing. A damaged record hides no others.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Key, keys } from "../shared/data/keys.ts";
import { updateOne } from "../shared/data/table.ts";
import { fingerprintOfId } from "../shared/domain/token-value.ts";
import { account, type TestAccount } from "./harness/account.ts";
import type { ApiResponse } from "./harness/client.ts";
import { apiUrl } from "./harness/cloud.ts";

const List = z.array(z.looseObject({ id: z.string() }));
const PATHS = {
  server: "/servers",
  instance: "/instances",
  backup: "/backups",
  operation: "/operations",
  event: "/events",
  ssh_key: "/ssh-keys",
} as const;
type Kind = keyof typeof PATHS;
const KINDS = ["server", "instance", "backup", "operation", "event", "ssh_key"] as const satisfies readonly Kind[];

const change = async (key: Key, set: Record<string, unknown>): Promise<void> => void (await updateOne(key, { set }, {}));

/** An account with an instance, a backup, and what they left: an SSH key, operations and events. */
async function furnished(): Promise<{ me: TestAccount; ids: Record<Kind, string> }> {
  const me = await account();
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  await me.api.put(`/instances/${instance.id}/backup-policy`, { schedule: "0 2 * * *", keep: { last: 3 } });
  const first = async (path: string) => (await me.api.get(path)).as(List)[0]?.id ?? "";
  return {
    me,
    ids: {
      server: instance.server_id,
      instance: instance.id,
      backup: backup.id,
      operation: await first(`/operations?resource_id=${instance.id}`),
      event: await first(`/events?resource_id=${instance.id}`),
      ssh_key: await first("/ssh-keys"),
    },
  };
}

/** Each list that shows a record: plain, sorted by name, and those of its parents. */
const listsOf = (kind: Kind, ids: Record<Kind, string>): string[] => [
  PATHS[kind],
  ...(["server", "instance", "backup"].includes(kind) ? [`${PATHS[kind]}?sort=name`] : []),
  ...(kind === "instance" ? [`/instances?server_id=${ids.server}`] : []),
  ...(kind === "backup" ? [`/backups?instance_id=${ids.instance}`, `/instances/${ids.instance}/backups`] : []),
  ...(kind === "operation" || kind === "event" ? [`${PATHS[kind]}?resource_id=${ids.instance}`] : []),
];

const Envelope = z.object({ data: z.unknown() });

/** The data of a response, which the harness' own client would reject: it is as strict as this version's schemas. */
async function dataAt(path: string, { value }: { value: string }): Promise<unknown> {
  const response = await fetch(`${apiUrl()}/api/v1${path}`, { headers: { authorization: `Bearer ${value}` } });
  const text = await response.text();
  expect(response.status, `${path}: ${text}`).toBe(200);
  return Envelope.parse(JSON.parse(text)).data;
}

describe("values of a newer version", () => {
  let me: TestAccount;
  let ids: Record<Kind, string>;
  beforeAll(async () => {
    ({ me, ids } = await furnished());
    const checks = [{ name: "smell", passed: true, detail: "Fine", by: "nose" }];
    const actor = { type: "robot", id: "rob_1", name: "Robot" };
    const at = "2026-11-20T12:00:00.000Z";
    await change(keys.record("server", me.id, ids.server), { state: "defrosting", provider: "mars" });
    await change(keys.record("instance", me.id, ids.instance), {
      state: "hibernating",
      protection_status: "insured",
      edition: "gold",
    });
    await change(keys.record("backup", me.id, ids.backup), {
      state: "glacial",
      kind: "telepathic",
      edition: "gold",
      retained_by: ["lunar"],
      drill: { status: "doubtful", at, checks },
    });
    await change(keys.record("operation", me.id, ids.operation), {
      type: "planet.terraform",
      state: "paused",
      resource: { type: "planet", id: "pla_1" },
      error: { code: "NO_OXYGEN", message: "None" },
      created_by: actor,
    });
    await change(keys.record("event", me.id, ids.event), { type: "planet.visited", actor: { ...actor, ip_address: null } });
    await change(keys.backupPolicy(me.id, ids.instance), {
      keep: { lunar: 3 },
      last_run: { at, status: "dreamt", backup_id: null, reason: null },
    });
  });

  test("are shown in every list, and by every resource's own endpoint", async () => {
    const expected: Record<Kind, object> = {
      server: { status: "defrosting", provider: "mars" },
      instance: { status: "hibernating", edition: "gold", allowed_actions: [], protection: { status: "insured" } },
      backup: {
        status: "glacial",
        kind: "telepathic",
        retained_by: ["lunar"],
        drill: { status: "doubtful", checks: [{ name: "smell" }] },
      },
      operation: { type: "planet.terraform", status: "paused", resource: { type: "planet" }, error: { code: "NO_OXYGEN" } },
      event: { type: "planet.visited", actor: { type: "robot" } },
      ssh_key: {},
    };
    const token = await me.token();
    for (const kind of KINDS) {
      for (const path of listsOf(kind, ids)) {
        const found = List.parse(await dataAt(path, token)).find(({ id }) => id === ids[kind]);
        if (!path.includes("sort=")) expect(found, path).toMatchObject(expected[kind]);
      }
      const path = `${PATHS[kind]}/${ids[kind]}`;
      if (kind !== "event") expect(await dataAt(path, token), path).toMatchObject(expected[kind]);
    }
    expect(await dataAt(`/instances/${ids.instance}/backup-policy`, token)).toMatchObject({ last_run: { status: "dreamt" } });
    for (const path of ["/overview", "/search?q=shop"]) await dataAt(path, token);
  });

  test("allow no action: each is a 409 that names the status, and changes nothing", async () => {
    const of = { instance: `/instances/${ids.instance}`, backup: `/backups/${ids.backup}`, server: `/servers/${ids.server}` };
    const { api } = await me.token();
    const calls: Record<string, (() => Promise<ApiResponse>)[]> = {
      hibernating: [
        ...["start", "stop", "restart", "backup"].map((action) => async () => api.post(`${of.instance}/actions`, { action })),
        async () => api.post(`${of.instance}/backups`, {}),
        async () => api.put(of.instance, { name: "Other" }),
        async () => api.delete(of.instance),
      ],
      glacial: [
        async () => api.post(`${of.backup}/restore`, {}),
        async () => api.post(`${of.backup}/drill`, {}),
        async () => api.put(of.backup, { note: "Other" }),
        async () => api.delete(of.backup),
        async () => api.get(`${of.backup}/download`),
      ],
      defrosting: [
        async () => api.put(of.server, { name: "other" }),
        async () => api.delete(of.server),
        async () => api.post("/instances", await me.instanceBody({ server_id: ids.server })),
      ],
    };
    const before = await me.trace();
    for (const [status, each] of Object.entries(calls))
      for (const [place, call] of each.entries()) {
        const response = await call();
        const summary = `${status} ${place}: ${response.text}`;
        expect(response.status, summary).toBe(409);
        expect(response.error, summary).toMatchObject({ code: "INVALID_STATE", details: { status } });
      }
    expect(await me.trace()).toBe(before);
  });

  test("grant nothing as a permission: a token's others stay", async () => {
    const token = await me.token(["backups:read"]);
    await change(keys.tokenAccess(fingerprintOfId(token.id)), { permissions: 2 ** 52 + 2 ** 5 });
    await dataAt("/backups", token);
    expect((await token.api.get("/servers")).status).toBe(403);
    const session = await me.session();
    const listed = (await session.get("/tokens")).as(List).find(({ id }) => id === token.id);
    expect(listed).toMatchObject({ permissions: ["backups:read"] });
  });
});

test("a damaged record is left out of the lists, which show all others", async () => {
  const { me, ids } = await furnished();
  const { api } = await me.token();
  const idsIn = async (path: string) => (await api.get(path)).as(List).map(({ id }) => id);
  for (const kind of KINDS) {
    const idsByPath = new Map<string, string[]>();
    for (const path of listsOf(kind, ids))
      idsByPath.set(
        path,
        (await idsIn(path)).filter((id) => id !== ids[kind]),
      );
    await change(keys.record(kind, me.id, ids[kind]), { created_at: 7, name: 7, instance_name: 7 });
    for (const [path, expected] of idsByPath) expect(await idsIn(path), path).toEqual(expected);
    for (const path of [...Object.values(PATHS), "/overview", "/search?q=shop"])
      expect((await api.get(path)).status, path).toBe(200);
  }
});
