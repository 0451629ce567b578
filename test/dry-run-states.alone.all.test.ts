// Dry runs in random states of the account: whatever the request, a dry run gets the error that the request gets, and changes
// nothing.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { DryRun } from "../shared/api/dry-run.ts";
import { ALL_PERMISSIONS } from "../shared/api/permissions.ts";
import { getAccount } from "../shared/records/accounts.ts";
import { setQuota } from "../shared/operations/accounts/operator.ts";
import type { BackupRecord } from "../shared/records/schemas/backup.ts";
import type { InstanceRecord } from "../shared/records/schemas/instance.ts";
import type { ServerRecord } from "../shared/records/schemas/server.ts";
import { newId } from "../shared/domain/ids.ts";
import {
  BACKUP_STATUSES,
  type BackupStatus,
  INSTANCE_STATUSES,
  type InstanceStatus,
  isServerPhase,
  SERVER_PHASES,
} from "../shared/domain/lifecycle.ts";
import { account, unique, uniqueDatabase, uniqueDomain, unusedId } from "./harness/account.ts";
import type { ApiResponse, Client } from "./harness/client.ts";
import { ownCloud } from "./harness/cloud.ts";
import { holdForGood } from "./harness/held-work.ts";
import { everyRoute } from "./harness/requests.ts";
import { seedBackup, seedInstance, seedServer } from "./harness/seed.ts";
import { deleteAddedSince, everyItem, everyKey } from "./harness/table.ts";

beforeAll(async () => holdForGood(await ownCloud()));

const routes = everyRoute.filter(({ dryRun }) => dryRun).map(({ title }) => title);

/** Everything but what the authorizer notes of each request. */
const lasting = async (): Promise<string[]> =>
  (await everyItem()).filter((item) => !/"pk":"(?:TOKEN|USER)#[^"]*"/.test(item)).toSorted();

interface World {
  servers: ServerRecord[];
  instance: InstanceRecord;
  /** Another instance on the same server, and its backup. */
  neighbor: InstanceRecord;
  backup: BackupRecord;
  foreign: BackupRecord;
}

interface Request {
  method: string;
  path: string;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
}

const phase = fc.constantFrom(...Object.keys(SERVER_PHASES).filter(isServerPhase));
/** Mostly what allows a lot, so that most requests come to the later checks. */
const mostly = <const T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));
const state = fc.record({
  phases: fc.tuple(fc.oneof({ weight: 3, arbitrary: fc.constant("ready" as const) }, phase), phase),
  status: mostly<InstanceStatus>("running", ...INSTANCE_STATUSES),
  backedUp: mostly<BackupStatus>("completed", ...BACKUP_STATUSES),
  held: mostly<boolean>(false, true),
  installed: mostly<boolean>(true, false),
  locked: mostly<boolean>(false, true),
  read: mostly<boolean>(false, true),
  full: mostly<boolean>(false, true),
  missing: fc.option(
    fc.constantFrom("instances:write", "backups:restore", "instances:actions", "servers:write", "backups:write"),
    {
      freq: 6,
    },
  ),
});

async function seedScenario(
  accountId: string,
  { phases, status, backedUp, held, installed, locked, read }: State,
): Promise<World> {
  const servers = await Promise.all(phases.map((each) => seedServer(accountId, { state: each })));
  const operation_id = held ? newId("operation") : null;
  const on = servers[0]?.id ?? "";
  const instance = await seedInstance(accountId, { server_id: on, state: status, installed, operation_id });
  const used = read ? { used_by: new Set([newId("operation")]) } : {};
  const backup = await seedBackup(instance, { state: backedUp, locked, ...used });
  const neighbor = await seedInstance(accountId, { server_id: on });
  return { servers, instance, neighbor, backup, foreign: await seedBackup(neighbor) };
}
type State = typeof state extends fc.Arbitrary<infer S> ? S : never;

const flags = fc.record(
  {
    restore_database: fc.boolean(),
    restore_filestore: fc.boolean(),
    neutralize: fc.boolean(),
    backup_first: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Requests, by which of the things around them they name. */
const request: fc.Arbitrary<(world: World) => Request> = fc
  .record({
    route: fc.constantFrom(...routes),
    which: fc.nat(5),
    flags,
    domain: fc.constantFrom("free", "taken", "own", "bad"),
    database: fc.constantFrom("free", "taken"),
    version: mostly("19.0", "16.0", "x"),
    action: fc.constantFrom("start", "stop", "restart", "backup", "jump"),
    ifMatch: fc.option(fc.constantFrom("*", '"never"'), { freq: 3 }),
    onServer: fc.boolean(),
  })
  .map(({ route, which, flags: chosen, domain, database, version, action, ifMatch, onServer }) => (world) => {
    const pick = <T>(...of: [T, ...T[]]): T => of[which % of.length] ?? of[0];
    const [method = "", template = ""] = route.split(" ");
    const { servers, instance, neighbor, backup, foreign } = world;
    const [first, second] = servers.map(({ id }) => id);
    const server = pick(first, first, second, unusedId("server"));
    const name =
      domain === "free"
        ? uniqueDomain()
        : domain === "bad"
          ? "Not a domain"
          : domain === "taken"
            ? neighbor.domain
            : instance.domain;
    const owner = pick(instance.id, instance.id, instance.id, unusedId("instance"), "nonsense");
    const archive = pick(backup.id, backup.id, foreign.id, unusedId("backup"));
    const { backup_first: _, ...parts } = chosen;
    const at = (id: string | undefined) => template.replace(":id", id ?? "");
    const headers = method === "POST" ? { "idempotency-key": unique("key") } : ifMatch === null ? {} : { "if-match": ifMatch };
    const base = { method, headers };
    switch (route) {
      case "POST /instances": {
        const database_name = database === "free" ? uniqueDatabase() : instance.database_name;
        const body = { name: "Shop", server_id: server, erp_version: version, edition: "community", database_name, domain: name };
        return { ...base, path: at(""), body: { ...body, admin_email: "a@example.com" } };
      }
      case "POST /instances/:id/clone": {
        const body = { name: "Staging", domain: name, backup_id: archive, ...parts, ...(onServer && { server_id: server }) };
        return { ...base, path: at(owner), body };
      }
      case "POST /instances/:id/actions":
        return { ...base, path: at(owner), body: { action } };
      case "POST /servers/:id/actions":
        return { ...base, path: at(server), body: { action: onServer ? "reboot" : "update" } };
      case "PUT /instances/:id":
        return { ...base, path: at(owner), body: { name: "Renamed", ...(onServer && { domain: name }) } };
      case "PUT /instances/:id/backup-policy":
        return { ...base, path: at(owner), body: { schedule: onServer ? "0 2 * * *" : "* * * * *", keep: { last: 1 } } };
      case "POST /backups/:id/restore":
        return { ...base, path: at(archive), body: chosen };
      case "POST /backups/:id/drill":
        return { ...base, path: at(archive), body: onServer ? { server_id: server } : {} };
      case "POST /instances/:id/deploys":
        return { ...base, path: at(owner), body: {} };
      case "DELETE /backups/:id":
        return { ...base, path: at(archive) };
      case "POST /bulk":
        return { ...base, path: template, body: { action, select: { ids: [owner] } } };
      case "DELETE /instances/:id":
        return { ...base, path: at(owner) };
      default:
        return { ...base, path: at(server) };
    }
  });

const send = (api: Client, { method, path, body, headers = {} }: Request, dry: boolean): Promise<ApiResponse> =>
  api.send(method, dry ? `${path}?dry_run=true` : path, body, { headers });

/** Two halves, each far from the time that a test may take on a busy machine. */
test.each([5, 6])(
  "a dry run gets the error of the request, writes nothing, and else the request succeeds (seed %i)",
  async (seed) => {
    const me = await account();
    await setQuota(me.id, "server", 10_000);
    const empty = await everyKey();
    let allowed = 0;
    let rejected = 0;
    await fc.assert(
      fc.asyncProperty(state, request, async (scenario, requestIn) => {
        await setQuota(me.id, "instance", 10_000);
        const world = await seedScenario(me.id, scenario);
        if (scenario.full) await setQuota(me.id, "instance", (await getAccount(me.id)).used_instance);
        const { api } = await me.token(ALL_PERMISSIONS.filter((permission) => permission !== scenario.missing));
        const call = requestIn(world);
        const before = await lasting();
        const rehearsed = await send(api, call, true);
        expect(await lasting()).toEqual(before);
        const real = await send(api, call, false);
        const summary = `${call.method} ${call.path} ${JSON.stringify(call.body)}: ${rehearsed.text} / ${real.text}`;
        expect(real.headers["idempotent-replayed"], summary).toBeUndefined();
        if (rehearsed.status === 200) {
          allowed++;
          expect(real.error, summary).toBeUndefined();
          const { effects, warnings } = rehearsed.as(DryRun);
          // A bulk action says why it would leave a resource as it is.
          expect(effects.length + warnings.length, summary).toBeGreaterThan(0);
        } else {
          rejected++;
          expect([real.status, real.text, real.headers["retry-after"]], summary).toEqual([
            rehearsed.status,
            rehearsed.text,
            rehearsed.headers["retry-after"],
          ]);
        }
        await deleteAddedSince(empty);
      }),
      { numRuns: 150, seed },
    );
    expect(allowed).toBeGreaterThan(0);
    expect(rejected).toBeGreaterThan(0);
  },
);
