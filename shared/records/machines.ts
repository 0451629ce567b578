// The machines of servers: their ID and IP address, and whether they respond.
import { FAILED_PROBES_MAX } from "../domain/limits.ts";
import { HEALTH, type ServerPhase, serverStatus, WATCHED } from "../domain/lifecycle.ts";
import { because, type Reason } from "../domain/reasons.ts";
import { startChange, now, tryCommit } from "../data/change.ts";
import { keys, keyString, type Item } from "../data/keys.ts";
import { parseEach, parseOrSkip } from "../data/parse-each.ts";
import { getAccount } from "./accounts.ts";
import { logOutcome, serviceAuthor } from "./events.ts";
import { NO_REASON, statusReason } from "./reasons.ts";
import { ServerRecord, WatchedServer } from "./schemas/server.ts";
import { queryAll, readAll, updateOne } from "../data/table.ts";

type MachineFields = "machine_id" | "requested_at" | "ip_address" | "ssh_port" | "host_keys";

/** Records what is known about the machine while the operation locks the server; false if it no longer does. */
export async function recordMachine(
  server: ServerRecord,
  operationId: string,
  set: Partial<Pick<ServerRecord, MachineFields>>,
): Promise<boolean> {
  return record(server, set, { operation_id: operationId });
}

/** False if the server is not as `equals` says. */
async function record(server: ServerRecord, set: Partial<Pick<ServerRecord, MachineFields>>, equals: Item): Promise<boolean> {
  const fields = { ...set, updated_at: now() };
  if (set.ip_address === undefined || set.ip_address === server.ip_address)
    return (await updateOne(serverKey(server), { set: fields }, { equals })).done;
  const change = startChange({ id: server.account_id });
  change.update(serverKey(server), { set: fields }, { equals, unchanged: { ip_address: server.ip_address } });
  change.setFilterFields("server", server.id, server, { ...server, ...set });
  return tryCommit(change);
}

/**
 * Notes that an order is sent now. False if another run of the same task has noted one since the server was read, or has a
 * machine, or if the creation was given up: then nothing may be ordered.
 */
export async function recordOrder(server: ServerRecord, operationId: string, requested_at: string): Promise<boolean> {
  const unchanged = { operation_id: operationId, machine_id: null, requested_at: server.requested_at };
  const set = { requested_at, updated_at: now() };
  return (await updateOne(serverKey(server), { set }, { equals: unchanged, none: ["orders_closed_at"] })).done;
}

/** Records the outcome of a recorded order: rejected, or unclear as of now. */
export async function reviseOrder(server: ServerRecord, noted: string, requested_at: string | null): Promise<void> {
  await updateOne(serverKey(server), { set: { requested_at } }, { equals: { requested_at: noted, machine_id: null } });
}

/** Records the machine, unless another one was recorded; false then, or if the operation does not hold the server any more. */
export async function recordRequested(
  server: ServerRecord,
  operationId: string,
  machine: Partial<Pick<ServerRecord, MachineFields>>,
): Promise<boolean> {
  return record(server, machine, { operation_id: operationId, machine_id: null });
}

/** No order can be noted any more; the server as it is since. Undefined if the operation does not hold it. */
export async function closeOrders(server: ServerRecord, operationId: string): Promise<ServerRecord | undefined> {
  if (server.orders_closed_at !== undefined) return server;
  const whileHeld = { equals: { operation_id: operationId } };
  const { done, item } = await updateOne(serverKey(server), { set: { orders_closed_at: now() } }, whileHeld);
  return done ? ServerRecord.parse(item) : undefined;
}

const serverKey = ({ account_id, id }: ServerRecord) => keys.record("server", account_id, id);

/** One of so many parts of all servers. */
export interface Part {
  part: number;
  parts: number;
}

/** Whether an item is in a part, by the last character of its ID, which is random. */
const isIn = ({ sk }: Item, { part, parts }: Part): boolean => (String(sk).at(-1)?.charCodeAt(0) ?? 0) % parts === part;

/**
 * The servers of a part whose health is checked, with what the last checks noted: the one whose check is the oldest comes first.
 */
export async function watchedServers(part: Part): Promise<{ server: ServerRecord; watched: WatchedServer }[]> {
  const items = (await queryAll(keys.watched())).filter((item) => isIn(item, part));
  const markers = parseEach(WatchedServer, items).toSorted((a, b) => (checkedAt(a) < checkedAt(b) ? -1 : 1));
  const keyOfServer = ({ account_id, server_id }: WatchedServer) => keys.record("server", account_id, server_id);
  const servers = await readAll(markers.map(keyOfServer));
  return markers.flatMap((watched) => {
    const item = servers.get(keyString(keyOfServer(watched)));
    const server = item && parseOrSkip(ServerRecord, item);
    return server !== undefined && WATCHED.includes(server.state) ? [{ server, watched }] : [];
  });
}

/** Empty, and so before all others, if it never was. */
function checkedAt({ last_seen_at, silent_at }: WatchedServer): string {
  const seenAt = last_seen_at ?? "";
  return silent_at !== undefined && silent_at > seenAt ? silent_at : seenAt;
}

interface Probe {
  responded: boolean;
  /** Whether it was a login. */
  loggedIn?: boolean;
  /** What its machine's line said, if that has changed, and which of its figures are stored. */
  heard?: Partial<Pick<WatchedServer, "line" | "misses" | "figures_at" | "figures_day">>;
  /** Why a server goes offline, if its provider knows. */
  reason?: Reason | undefined;
}

/** Records the result of a probe, unless the server has changed state since. */
export async function recordProbe(
  server: ServerRecord,
  { responded, loggedIn = false, heard = {}, reason = because("health_checks_unanswered") }: Probe,
): Promise<void> {
  if (responded) {
    const set = { last_seen_at: now(), ...(loggedIn && { instances_at_login: server.instances }), ...heard };
    await updateOne(keys.watchedServer(server.id), { set }, {});
    if (server.state !== HEALTH.responds) return moveTo(HEALTH.responds, server, { failed_probes: 0, ...NO_REASON });
    return server.failed_probes === 0 ? undefined : setFields(server, { failed_probes: 0 });
  }
  await updateOne(keys.watchedServer(server.id), { set: { silent_at: now() } }, {});
  // A machine that is rebooted is silent.
  if (server.state !== HEALTH.responds || server.operation_id !== null) return;
  const failed_probes = server.failed_probes + 1;
  if (failed_probes < FAILED_PROBES_MAX) return setFields(server, { failed_probes });
  return moveTo(HEALTH.silent, server, { failed_probes, ...statusReason(reason) });
}

export const HEALTH_SERVICE = serviceAuthor("Health checks", "health-checks");

type Fields = Partial<Pick<ServerRecord, "failed_probes" | "status_reason" | "reason">>;

const setFields = async ({ account_id, id, state }: ServerRecord, set: Fields): Promise<void> =>
  void (await updateOne(keys.record("server", account_id, id), { set }, { equals: { state } }));

async function moveTo(state: ServerPhase, server: ServerRecord, set: Fields): Promise<void> {
  const change = startChange(await getAccount(server.account_id));
  change.move(
    { kind: "server", record: server },
    { from: serverStatus(server.state), to: serverStatus(state), set: { ...set, state, updated_at: now() } },
    // Work on the machine may have begun since.
    { equals: { state: server.state }, unchanged: { operation_id: server.operation_id } },
  );
  const type = state === HEALTH.responds ? "server.online" : "server.offline";
  const changes = [{ field: "status", before: serverStatus(server.state), after: serverStatus(state) }];
  logOutcome(change, HEALTH_SERVICE, { type, changes }, { type: "server", id: server.id, name: server.name });
  await tryCommit(change); // unless deleted, or moved by another check
}
