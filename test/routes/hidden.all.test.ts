// Whatever state things are in: no error and no forecast of any route tells a credential what it may not read. The credentials
// have only what the route needs; the request itself may name anything.
import { beforeAll, describe, expect, test } from "vitest";
import { keys } from "../../shared/data/keys.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import type { BackupRecord } from "../../shared/records/schemas/backup.ts";
import type { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { updateOne } from "../../shared/data/table.ts";
import type { Permission } from "../../shared/api/permissions.ts";
import { newId } from "../../shared/domain/ids.ts";
import { type ResourceType, RESOURCE_TYPES } from "../../shared/domain/lifecycle.ts";
import { account, newPublicKey, type TestAccount, uniqueDatabase, uniqueDomain } from "../harness/account.ts";
import { bodyOf, closedRoutes, idKindOf } from "../harness/requests.ts";
import { seedBackup, seedInstance, seedServer, seedUpload } from "../harness/seed.ts";
import { unique } from "../harness/unique.ts";

type Facts = Record<ResourceType, string[]> & { operation: string[]; upload: string[] };

interface World {
  me: TestAccount;
  server: ServerRecord;
  instance: InstanceRecord;
  backup: BackupRecord;
  upload: string;
  /** What each kind's records say that no other does. */
  facts: Facts;
}

const HELD = newId("operation");
const RECENT = "2026-11-23T04:05:06.789Z";
const BYTES = 123_454_321;

interface Scenario {
  server?: Partial<ServerRecord>;
  instance?: Partial<InstanceRecord>;
  backup?: Partial<BackupRecord>;
  noQuota?: boolean;
}

const SCENARIOS: Record<string, Scenario> = {
  "all is well, and the server's disk is nearly full": {},
  "the server is offline": { server: { state: "unreachable" } },
  "an operation holds everything": {
    server: { operation_id: HELD },
    instance: { operation_id: HELD },
    backup: { operation_id: HELD },
  },
  "nothing is in a state for anything": {
    server: { state: "creating" },
    instance: { state: "restoring" },
    backup: { state: "running" },
  },
  "the instance has failed and was never installed, and the backup is locked": {
    instance: { state: "failed", installed: false },
    backup: { locked: true },
  },
  "the instance is stopped and the backup failed": { instance: { state: "stopped" }, backup: { state: "failed" } },
  "an operation reads the backup": { backup: { used_by: new Set([HELD]) } },
  "the quotas are used up": { noQuota: true },
};

async function seedScenario(scenario: Scenario): Promise<World> {
  const me = await account();
  const server = await seedServer(me.id, { ip_address: "203.0.113.77", ...scenario.server });
  const on = { server_id: server.id, name: unique("Secret shop"), last_backup_at: RECENT };
  const instance = await seedInstance(me.id, { ...on, ...scenario.instance });
  const backup = await seedBackup(instance, {
    size_bytes: BYTES,
    note: unique("secret note"),
    kind: "scheduled",
    due_at: RECENT,
    completed_at: RECENT,
    ...scenario.backup,
  });
  const operation = { id: HELD, resource: { type: "server", id: server.id }, created_by: { id: newId("user") } };
  await updateOne(keys.record("operation", me.id, HELD), { set: operation }, { exists: false });
  const free = { disk_free_bytes: 1_234_567, memory_free_bytes: 1, reported_at: RECENT };
  await updateOne(keys.hostReport(me.id, server.id), { set: free }, { exists: false });
  const uploads = [await seedUpload(me.id), await seedUpload(me.id), await seedUpload(me.id)];
  if (scenario.noQuota)
    for (const kind of ["server", "instance", "ssh_key", "backup", "backup_bytes"] as const) await setQuota(me.id, kind, 0);
  return {
    me,
    server,
    instance,
    backup,
    upload: uploads[0] ?? "",
    facts: {
      server: [server.name, "203.0.113.77", "offline", "unreachable", "provisioning", "0.0 GB", "not active"],
      instance: [instance.name, "instance is restoring", '"restoring"', "instance is stopped", '"stopped"', "never installed"],
      backup: [backup.note ?? "", "2026-11-23", String(BYTES), "123.4", "locked"],
      operation: [HELD],
      upload: uploads,
    },
  };
}

/** What each route is sent: what the world has, and names that are taken. */
function requestOf(
  route: (typeof closedRoutes)[number],
  world: World,
): { path: string; body: Record<string, unknown> | undefined } {
  const { server, instance, backup, upload } = world;
  const ids: Record<string, string> = { server: server.id, instance: instance.id, backup: backup.id, upload };
  const path = route.path.includes(":id")
    ? route.path.replace(":id", ids[idKindOf(route)] ?? newId(idKindOf(route)))
    : route.path;
  const values: Record<string, unknown> = {
    server_id: server.id,
    backup_id: backup.id,
    domain: uniqueDomain(),
    database_name: uniqueDatabase(),
    name: unique("name"),
    public_key: newPublicKey(),
    size_bytes: 2,
    labels: {},
  };
  const example = bodyOf(route);
  const body = example && Object.fromEntries(Object.entries(example).map(([name, value]) => [name, values[name] ?? value]));
  if (route.id === "servers.create" && body !== undefined) delete body["labels"];
  return { path: route.dryRun ? `${path}?dry_run=true` : path, body };
}

/** The permissions that a route needs, for each value of the field that they depend on. */
const needsOf = ({ access, bodyPermission, fieldPermission }: (typeof closedRoutes)[number]) =>
  bodyPermission === undefined
    ? typeof access === "string"
      ? []
      : [{ permissions: [...access, ...(fieldPermission === undefined ? [] : [fieldPermission.permission])], fields: {} }]
    : Object.entries(bodyPermission.permissions).map(([value, permission]) => ({
        permissions: [permission],
        fields: { [bodyPermission.field]: value },
      }));

/** What of the world a response must not have. */
const hiddenFrom = (permissions: readonly Permission[], facts: Facts): string[] => {
  const mayRead = (kind: ResourceType) => permissions.includes(`${kind}s:read`);
  // A status belongs to the error of whoever may change the resource.
  const mayKnow = (kind: ResourceType) => permissions.some((each) => each.startsWith(`${kind}s:`));
  return [
    ...RESOURCE_TYPES.flatMap((kind) => (mayKnow(kind) ? facts[kind].slice(0, kind === "backup" ? 4 : 1) : facts[kind])).filter(
      (value) => !RESOURCE_TYPES.some((kind) => mayRead(kind) && facts[kind].includes(value)),
    ),
    ...(mayRead("server") ? [] : facts.operation),
    ...(mayRead("backup") ? [] : facts.upload),
  ];
};

describe.each(Object.entries(SCENARIOS))("when %s", (_, scenario) => {
  let world: World;
  beforeAll(async () => {
    world = await seedScenario(scenario);
  });

  const changing = closedRoutes.filter(({ method }) => method !== "GET");
  test.each(changing.flatMap((route) => needsOf(route).map((needs) => ({ ...needs, route, title: route.title }))))(
    "$title with $permissions $fields",
    async ({ route, permissions, fields }) => {
      const { api } = await world.me.token(permissions);
      const { path, body } = requestOf(route, world);
      const sent = body && { ...body, ...fields };
      const response =
        route.method === "DELETE"
          ? await api.delete(path)
          : route.method === "PUT"
            ? await api.put(path, sent ?? {})
            : await api.post(path, sent ?? {});
      if (!route.dryRun && response.error === undefined) return; // what it did is the credential's own
      const responseText = response.text;
      const requestText = JSON.stringify([path, sent]);
      const hidden = hiddenFrom(permissions, world.facts).filter((value) => value !== "" && !requestText.includes(value));
      expect(
        hidden.filter((value) => responseText.includes(value)),
        responseText,
      ).toEqual([]);
    },
  );
});
