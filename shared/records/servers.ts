// Servers in the table.
import {
  hasInstances,
  noneInAccount,
  notFound,
  operationInProgress,
  serverBusy,
  serverNotActive,
  valueTaken,
} from "../api/errors.ts";
import type { Labels } from "../api/fields.ts";
import { type ListedServer, Server, SERVER_UNVERSIONED } from "../api/servers.ts";
import { newId } from "../domain/ids.ts";
import { unicodeDomain } from "./unicode-names.ts";
import { LIFECYCLE, SERVER_RENAMABLE, type ServerPhase, serverStatus, USABLE } from "../domain/lifecycle.ts";
import { SCHEDULED_AT_ONCE } from "../domain/limits.ts";
import { createGetter, listByIds, createRequirement, createRef } from "../data/by-id.ts";
import { type Change, heldError, now, Overtaken, labelChange, labelConflict, withLabels } from "../data/change.ts";
import type { Ending } from "./ending.ts";
import { hostReportRef } from "./host-reports.ts";
import { keys, keyString, type Item } from "../data/keys.ts";
import { listPage } from "../data/lists.ts";
import type { ByIds, Listed, PageQuery } from "../data/pages.ts";
import { HostReport } from "./schemas/host-report.ts";
import { ServerRecord, WatchedServer } from "./schemas/server.ts";
import { parseEach, parseOrSkip } from "../data/parse-each.ts";
import { NO_REASON, shownReason } from "./reasons.ts";
import { type Finding, findPage, needsEntries } from "../data/search.ts";
import type { ReportBounds } from "../data/server-reports.ts";
import { find, readAll, type Ref } from "../data/table.ts";
import { addTags } from "../data/tags.ts";
import { type Version, computeVersion } from "../data/versions.ts";
import { check, checkAbsent } from "../data/writes.ts";

export const serverRef = createRef("server", ServerRecord);
export const requireServer = createRequirement<ServerRecord>("server");
export const getServer = createGetter("server", serverRef, requireServer);

/** A server by the id in a body: one that does not exist is a mistake in that field. */
export function requireServerInBody(server: ServerRecord | undefined): ServerRecord {
  if (server === undefined) throw noneInAccount("server_id", "server");
  return server;
}

type ServerQuery = PageQuery &
  Finding &
  ByIds & {
    status?: string | undefined;
    provider?: string | undefined;
    region?: string | undefined;
    size?: string | undefined;
    needs_reboot?: string | undefined;
  } & ReportBounds;

export async function listServers(
  accountId: string,
  {
    ids,
    status,
    provider,
    region,
    size,
    needs_reboot,
    disk_free_bytes_below,
    memory_free_bytes_below,
    instance_count_below,
    label,
    search,
    sort,
    ...page
  }: ServerQuery,
): Promise<Listed<ServerRecord>> {
  if (ids !== undefined) return listByIds({ kind: "server", accountId, schema: ServerRecord }, ids);
  const [finding, filters] = [
    { label: addTags(label, { provider, region, size, needs_reboot }), search, sort },
    { status, disk_free_bytes_below, memory_free_bytes_below, instance_count_below },
  ];
  if (!needsEntries(finding, filters, page)) return listPage({ kind: "server", accountId, status, schema: ServerRecord }, page);
  const { records, meta } = await findPage({ kind: "server", accountId }, { finding, filters, page });
  return { items: parseEach(ServerRecord, records), meta };
}

export const serverVersion = (server: ServerRecord): Version =>
  computeVersion(serverRef(server.account_id, server.id), server, {
    publicSchema: Server,
    unversioned: SERVER_UNVERSIONED,
    status: ({ state }) => serverStatus(state),
  });

const toListedServer = (record: ServerRecord, report?: HostReport): ListedServer => ({
  ...record,
  name_unicode: unicodeDomain(record.name),
  status: serverStatus(record.state),
  reason: shownReason(record),
  disk_size_bytes: report?.disk_size_bytes ?? null,
  disk_free_bytes: report?.disk_free_bytes ?? null,
  memory_free_bytes: report?.memory_free_bytes ?? null,
  needs_reboot: report?.needs_reboot ?? null,
  reported_at: report?.reported_at ?? null,
  instance_count: record.instances,
});

/** A page of servers with what they last reported: in one call. */
export async function toListedServers(accountId: string, records: readonly ServerRecord[]): Promise<ListedServer[]> {
  const reportKey = ({ id }: ServerRecord) => hostReportRef(accountId, id).key;
  const reports = await readAll(records.map(reportKey), { consistent: false });
  return records.map((record) => {
    const report = reports.get(keyString(reportKey(record)));
    return toListedServer(record, report && parseOrSkip(HostReport, report));
  });
}

/** What its health checks know of it. */
interface Observed {
  watched?: WatchedServer | undefined;
  report?: HostReport | undefined;
}

export const toServer = (record: ServerRecord, { watched, report }: Observed): Server => ({
  ...toListedServer(record, report),
  last_seen_at: watched?.last_seen_at ?? null,
});

const watchedRef = (serverId: string): Ref<WatchedServer> => ({ key: keys.watchedServer(serverId), schema: WatchedServer });

/** A server with what its health checks know of it: in one call. */
export const serverRefs = (accountId: string, id: string) => ({
  server: serverRef(accountId, id),
  watched: watchedRef(id),
  report: hostReportRef(accountId, id),
});

type NewServer = Pick<ServerRecord, "name" | "provider" | "region" | "size" | "specs" | "ssh_key_id" | "ssh_key_name"> & {
  labels?: Labels | undefined;
};

export function reserveServer(change: Change, { labels = {}, ...draft }: NewServer, operationId: string): ServerRecord {
  const id = newId("server");
  const server: ServerRecord = {
    ...draft,
    labels,
    id,
    account_id: change.accountId,
    number: change.number("server", id),
    state: LIFECYCLE["server.create"].through,
    ...NO_REASON,
    ip_address: null,
    machine_id: null,
    requested_at: null,
    ssh_port: null,
    host_keys: [],
    needs_reboot: null,
    instances: 0,
    scheduled_backups: 0,
    failed_probes: 0,
    operation_id: operationId,
    created_at: change.at,
    updated_at: change.at,
  };
  change.use("server", 1);
  change.claim(keys.serverName(change.accountId, server.name), "name", id);
  change.add("server", server, { status: serverStatus(server.state) });
  change.put(keys.watchedServer(id), { account_id: change.accountId, server_id: id });
  return server;
}

/** Renames a server, or changes its labels, immediately. */
export function editServer(
  change: Change,
  server: ServerRecord,
  { name = server.name, labels }: { name?: string | undefined; labels?: Labels | undefined },
): ServerRecord {
  requireRenamable(server);
  const updated_at = now();
  const isRenamed = name !== server.name;
  const relabeled = labelChange(server.labels, labels);
  if (isRenamed) {
    change.put(keys.serverName(change.accountId, name), { owner_id: server.id }, (current) =>
      current?.["owner_id"] === server.id ? renamedMeanwhile(server.id) : valueTaken("name", current?.["owner_id"]),
    );
    change.remove(keys.serverName(change.accountId, server.name));
  }
  change.update(
    keys.record("server", change.accountId, server.id),
    { set: { ...(isRenamed && { name }), labels, updated_at } },
    { ...(isRenamed && { equals: { name: server.name } }), oneOf: { state: SERVER_RENAMABLE }, ...withLabels(relabeled) },
    (current) =>
      typeof current?.["name"] === "string" && current["name"] !== server.name
        ? renamedMeanwhile(server.id)
        : (labelConflict(current, server.id, relabeled) ?? serverError(current)),
  );
  change.setSearchFields("server", server.id, { ...(isRenamed && { name }) }, relabeled);
  return { ...server, name, labels: labels ?? server.labels, updated_at };
}

const renamedMeanwhile = (id: string): Error =>
  new Overtaken("Another request renamed the server at the same time; check its name and try again if you need to", id);

/** Begins the deletion of a server that has no instances. */
export function moveServerToDeleting(change: Change, server: ServerRecord, operationId: string): void {
  const { from, through } = LIFECYCLE["server.delete"];
  change.move(
    { kind: "server", record: server },
    {
      from: serverStatus(server.state),
      to: serverStatus(through),
      set: { state: through, operation_id: operationId, updated_at: now() },
    },
    { equals: { operation_id: null, state: server.state }, oneOf: { state: from }, none: ["instances"] },
    (current) => (Number(current?.["instances"] ?? 0) > 0 ? hasInstances(Number(current?.["instances"])) : serverError(current)),
  );
  change.write(
    checkAbsent(keys.drill(change.accountId, server.id), (drill) => operationInProgress(String(drill?.["operation_id"]))),
  );
}

/** Ends the work on a server: it is gone, with its name and its share of the quota, or free again in another phase. */
export async function endServer(change: Change, { operation, to, reasonAfter }: Ending): Promise<void> {
  const server = await find(serverRef(change.accountId, operation.resource.id));
  if (server?.operation_id !== operation.id) return;
  const whileHeld = { equals: { operation_id: operation.id } };
  const from = serverStatus(server.state);
  if (to === "gone") {
    const { needs_reboot } = server;
    change.removeListed(
      { kind: "server", record: server, status: from },
      { ...whileHeld, unchanged: { needs_reboot } },
      (current) =>
        current?.["operation_id"] === operation.id ? new Overtaken("The server changed at the same time", server.id) : undefined,
    );
    if (needs_reboot === true) change.countShown("needs_reboot", -1);
    change.remove(keys.serverName(change.accountId, server.name));
    change.remove(keys.watchedServer(server.id), { exists: false });
    const report = hostReportRef(change.accountId, server.id);
    const { disk_shown = null } = (await find(report)) ?? {};
    change.remove(report.key, { exists: false, unchanged: { disk_shown } });
    change.moveDisk(disk_shown, null);
    change.use("server", -1);
    return;
  }
  const state = ServerRecord.shape.state.parse(to);
  const set = { state, ...reasonAfter(state, server), operation_id: null, updated_at: now() };
  change.move({ kind: "server", record: server }, { from, to: serverStatus(state), set }, whileHeld);
}

/** Makes sure that a server can be deleted now, so that the client gets the reason before anything is written. */
export function requireDeletable(server: ServerRecord): void {
  const from: readonly ServerPhase[] = LIFECYCLE["server.delete"].from;
  if (server.operation_id !== null) throw operationInProgress(server.operation_id);
  if (!from.includes(server.state)) throw serverBusy(server.state);
  if (server.instances > 0) throw hasInstances(server.instances);
}

/** Holds a usable server for work on its machine: nothing new begins on its instances meanwhile. */
export const holdServer = (change: Change, { id }: ServerRecord, operationId: string): void =>
  change.update(
    keys.record("server", change.accountId, id),
    { set: { operation_id: operationId, updated_at: now() } },
    FREE,
    (current) => (current === undefined ? notFound("server") : unusable(current)),
  );

/** Neither offline nor held by work on its machine. */
const FREE = { oneOf: { state: USABLE }, unchanged: { operation_id: null } };

const notUsable = (current: Item | undefined): Error =>
  current === undefined ? noneInAccount("server_id", "server") : unusable(current);

/** Takes a slot on a server for an instance; only a usable server has slots. */
export const occupyServer = (change: Change, serverId: string): void =>
  change.update(keys.record("server", change.accountId, serverId), { add: { instances: 1 } }, FREE, notUsable);

/** A condition of a change: work can be done on the server when it is written. */
export const requireServerReady = (change: Change, serverId: string): void =>
  change.write(check(keys.record("server", change.accountId, serverId), FREE, notUsable));

/** The same of work that an offline server does not hold up. */
export const requireServerFree = (change: Change, serverId: string): void =>
  change.write(
    check(keys.record("server", change.accountId, serverId), { unchanged: { operation_id: null } }, (current) =>
      current === undefined ? noneInAccount("server_id", "server") : heldError(current),
    ),
  );

/** Takes one of a usable server's slots for scheduled backups. */
export const acquireBackupSlot = (change: Change, serverId: string): void =>
  change.update(
    keys.record("server", change.accountId, serverId),
    { add: { scheduled_backups: 1 } },
    { ...FREE, below: { scheduled_backups: SCHEDULED_AT_ONCE } },
    (current) => {
      const server = current ?? { id: serverId, state: LIFECYCLE["server.delete"].through };
      return isUsable(server) ? new NoBackupSlot() : unusable(server);
    },
  );

/** The server already runs as many scheduled backups as it may at a time. */
export class NoBackupSlot extends Error {
  override name = "NoBackupSlot";
}

export const releaseBackupSlot = (change: Change, serverId: string): void =>
  change.update(keys.record("server", change.accountId, serverId), { add: { scheduled_backups: -1 } });

export function requireRenamable({ state }: ServerRecord): void {
  if (!SERVER_RENAMABLE.includes(state)) throw serverBusy(state);
}

/** Makes sure that work can be done on a server; a server that is not active, and what holds one, is named. */
export function requireUsable(server: ServerRecord): void {
  if (!isUsable(server)) throw unusable(server);
}

const stateIn = (server: Item): ServerPhase => ServerRecord.pick({ state: true }).parse(server).state;

const isUsable = (server: Item): boolean => USABLE.includes(stateIn(server)) && heldError(server) === undefined;

function unusable(server: Item): Error {
  const state = stateIn(server);
  return (USABLE.includes(state) ? heldError(server) : undefined) ?? serverNotActive(server["id"], serverStatus(state));
}

const serverError = (current: Item | undefined): Error =>
  current === undefined ? notFound("server") : (heldError(current) ?? serverBusy(stateIn(current)));
