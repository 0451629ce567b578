// One of everything in an account, and a valid request for every route that names it: built from the route table, so that a new
// route is attacked as well.
import * as z from "zod";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { Backup } from "../../shared/api/backups.ts";
import { queryAll } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import type { IdKind } from "../../shared/domain/id-kinds.ts";
import { LIFECYCLE } from "../../shared/domain/lifecycle.ts";
import { account, newPublicKey, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { seedAlert, seedBackup, seedDeploy, seedInstance, seedUpload } from "../harness/seed.ts";
import { sha256Of, uploaded } from "../harness/upload.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { bodyOf, closedRoutes, fieldsOf, idKindOf, pathOf } from "../harness/requests.ts";
import { uniqueDatabase } from "../harness/unique.ts";

type TitledRoute = (typeof closedRoutes)[number];
export type Ids = Partial<Record<IdKind, string>>;

export interface World {
  me: TestAccount;
  ids: Ids;
}

/** An archive that has arrived in the storage; what it contains does not matter before its import. */
const ARCHIVE = new Uint8Array(100);

/** An account that holds an active server, a running instance with a completed backup, a whole upload, a key and a token. */
export async function newWorld(): Promise<World> {
  const me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 10_000);
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  const { id: ssh_key } = await me.sshKey();
  const { id: upload } = await uploaded((await me.token()).api, ARCHIVE);
  return {
    me,
    ids: {
      instance: instance.id,
      server: instance.server_id,
      backup: backup.id,
      upload,
      ssh_key,
      token: me.tokenId,
      user: (await me.anotherUser()).id,
      webhook: await me.webhook(),
      deploy: await seedDeploy(await getInstance(me.id, instance.id)),
      alert: await seedAlert(await getServer(me.id, instance.server_id)),
    },
  };
}

/** The same for a kind of request, with an instance in a state that allows it. */
export async function worldFor({ route, fixed }: Pick<Kind, "route" | "fixed">): Promise<World> {
  const world = await newWorld();
  if (route.id === "backups.import") return { ...world, ids: { ...world.ids, backup: await failedImport(world) } };
  if (fixed["action"] !== "start") return world;
  const { server } = world.ids;
  const { id } = await seedInstance(world.me.id, { server_id: String(server), state: LIFECYCLE["instance.start"].from[0] });
  return { ...world, ids: { ...world.ids, instance: id } };
}

/** The backup of an import that failed for another reason than its archive, and can be tried again. */
async function failedImport({ me, ids }: World): Promise<string> {
  const { api } = await me.token();
  const { id } = await uploaded(api, ARCHIVE, { note: "fail-import" });
  const body = { sha256: sha256Of(ARCHIVE), server_id: ids.server };
  const backup = (await api.post(`/backups/uploads/${id}/complete`, body)).as(Backup);
  await me.until(backup.operation_id, "failed");
  return backup.id;
}

/** The same as records alone, without machines and archives, in any environment. */
export async function newRecords(): Promise<World> {
  const me = await account();
  const instance = await seedInstance(me.id);
  const { id: backup } = await seedBackup(instance);
  await seedBackup(instance); // the instance's list has a second page
  const { id: ssh_key } = await me.sshKey();
  const upload = await seedUpload(me.id);
  await me.webhook(); // so does the list of webhooks
  return {
    me,
    ids: {
      instance: instance.id,
      server: instance.server_id,
      backup,
      upload,
      ssh_key,
      token: me.tokenId,
      user: (await me.anotherUser()).id,
      webhook: await me.webhook(),
      deploy: await seedDeploy(await getInstance(me.id, instance.id)),
      alert: await seedAlert(await getServer(me.id, instance.server_id)),
    },
  };
}

/** A route with one of the values of the field that decides what it does, if it has one. */
export interface Kind {
  label: string;
  route: TitledRoute;
  fixed: Record<string, unknown>;
}

const kindsOf = (route: TitledRoute): Kind[] => {
  const { field, permissions } = route.bodyPermission ?? {};
  if (field === undefined || permissions === undefined) return [{ label: route.title, route, fixed: {} }];
  return Object.keys(permissions).map((value) => ({ label: `${route.title} ${value}`, route, fixed: { [field]: value } }));
};
export const kinds: readonly Kind[] = closedRoutes.flatMap((route) => kindsOf(route));

const Server = z.object({ provider: z.string(), region: z.string(), size: z.string() });

/** Names that must be unique are; IDs are those of the world; the rest is each field's example. */
async function valueOf(name: string, example: unknown, world: World): Promise<unknown> {
  if (name === "name") return unique("attack");
  if (name === "domain") return uniqueDomain();
  if (name === "url") return "https://93.184.216.34/hooks"; // resolves without a network
  if (name === "database_name") return uniqueDatabase();
  if (name === "public_key") return newPublicKey();
  if (name === "rollback_to") return undefined; // the newest code: an instance of a world was never deployed
  if (name === "select") return { ids: [world.ids.instance] };
  const server = Server.parse(await world.me.serverBody());
  if (name === "provider" || name === "region" || name === "size") return server[name];
  const match = Object.entries(world.ids).find(([kind]) => name === `${kind}_id`);
  return match === undefined ? example : match[1];
}

/** The path and body of a valid request: the required fields, or all of them where none is. */
export async function requestOf(
  { route, fixed }: Kind,
  world: World,
): Promise<{ method: string; path: string; body: Record<string, unknown> | undefined }> {
  const path = pathOf(route, route.path.includes(":id") ? world.ids[idKindOf(route)] : undefined);
  const example = bodyOf(route);
  if (example === undefined) return { method: route.method, path, body: undefined };
  const { required } = fieldsOf(route.body);
  const names = required.length > 0 ? required : Object.keys(example);
  const body = await Promise.all(names.map(async (name) => [name, await valueOf(name, example[name], world)] as const));
  return { method: route.method, path, body: { ...Object.fromEntries(body), ...fixed } };
}

export type Made = Awaited<ReturnType<typeof requestOf>>;
export const send = (api: Client, { method, path, body }: Made, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  api.send(method, path, body, { headers });

const COUNTED = ["server", "instance", "backup", "operation", "event"] as const;

/** How many records of each kind an account has, which shows every effect that a request has had. */
export async function recordsOf(accountId: string): Promise<Record<string, number>> {
  const partitions = [
    ...COUNTED.map((kind) => keys.record(kind, accountId, "").pk),
    keys.sshKeys(accountId),
    keys.tokens(accountId),
    keys.upload(accountId, "").pk,
    keys.domain(accountId, "").pk,
  ];
  const sizes = await Promise.all(
    partitions.map(async (pk) => [pk.split("#").slice(2).join("#"), (await queryAll(pk, { consistent: true })).length] as const),
  );
  return Object.fromEntries(sizes);
}
