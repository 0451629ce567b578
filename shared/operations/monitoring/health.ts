// Whether ERPs can be used, as the lines of their machines say: when that is shown and told, and when the service restarts one.
import { ApiError } from "../../api/errors.ts";
import type { HEALTH_CHECKS } from "../../api/instances.ts";
import { DAY_MS } from "../../domain/durations.ts";
import { newId } from "../../domain/ids.ts";
import { HEALTH_OF_ERP, type HealthStatus, SERVING } from "../../domain/lifecycle.ts";
import { MISSES, RESTARTS_A_DAY, STALE_SECONDS } from "../../domain/limits.ts";
import { getAccount } from "../../records/accounts.ts";
import { type Change, now, startChange } from "../../data/change.ts";
import { logOutcome } from "../../records/events.ts";
import { instanceRef, moveInstance, requireAllowed, requireServerUsable } from "../../records/instances.ts";
import { keys, keyString } from "../../data/keys.ts";
import { readChildren } from "../../data/child-lists.ts";
import { changing, reserveOperation } from "../../records/operations.ts";
import { parseEach, parseOrSkip } from "../../data/parse-each.ts";
import { InstanceRecord } from "../../records/schemas/instance.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import type { ServerRecord, WatchedServer } from "../../records/schemas/server.ts";
import { ConditionFailed, readAll } from "../../data/table.ts";
import { HEALTH_SERVICE } from "../../records/machines.ts";

const { ok, failing, unknown } = HEALTH_OF_ERP;

/** What a machine says about its ERPs once a minute. A line is a new one if its sequence is higher. */
export interface StatusLine {
  sequence: number;
  /**
   * The ERPs that should run and cannot be used, with what does not load, and how many looks found that since the line before.
   */
  faults: readonly { instance_id: string; check: string; looks: number }[];
  /** It has paused an instance, because its disk is almost full. */
  paused?: boolean;
}

/**
 * A machine's line if it is a new one, `old` if it is the one that was seen a moment ago. Undefined if there is none, the timer
 * has stopped, or someone sends an earlier line again.
 */
export function selectNewLine(
  { line: lastLine }: WatchedServer,
  line: StatusLine | undefined,
  at: number,
): StatusLine | "old" | undefined {
  if (line === undefined || lastLine === null || line.sequence > lastLine.sequence) return line;
  return !lastLine.lost && line.sequence === lastLine.sequence && at - Date.parse(lastLine.at) < STALE_SECONDS * 1000
    ? "old"
    : undefined;
}

/**
 * Selects a line as `selectNewLine` does, but one that was read over SSH because the proxy does not serve it. It counts if it
 * reports ERPs that are or were unusable. Otherwise it counts once, because the proxy may have stopped after the line was
 * written: where no proxy can be reached, machines are not logged in to each minute.
 */
export function selectLoginLine(
  watched: WatchedServer,
  line: StatusLine | undefined,
  at: number,
): ReturnType<typeof selectNewLine> {
  const newLine = line && selectNewLine(watched, line, at);
  const { line: lastLine, misses } = watched;
  const isFirst = lastLine !== null && !lastLine.lost && !lastLine.reported;
  const counts = newLine === "old" || isFirst || (newLine?.faults ?? []).length > 0 || Object.keys(misses).length > 0;
  return counts ? newLine : undefined;
}

/** Whether a machine's lines were relied on at the last check. */
export const hasLines = ({ line }: WatchedServer): boolean => line !== null && !line.lost;

type Misses = WatchedServer["misses"];

/** What is known of a machine's ERPs once there are no more lines: what is down must be told once it is back. */
export const loseLines = ({ line, misses }: WatchedServer): Pick<WatchedServer, "line" | "misses"> => ({
  line: line && { ...line, lost: true },
  misses: Object.fromEntries(Object.keys(misses).map((id) => [id, 0])),
});

/** A machine's root may be hostile, and may name more instances than there are. */
const NAMED_MAX = 50;

interface ErpHealthChanges {
  /** How often each ERP that cannot be used was missed in a row, and 0 for one that is down while an operation holds it. */
  misses: Misses;
  wentDown: InstanceRecord[];
  toRestart: InstanceRecord[];
  /** Those that no operation holds, and since when each is down; null: it is not, or need not respond. */
  seenErps: SeenErp[];
}

export interface SeenErp {
  instance: InstanceRecord;
  since: string | null;
}

type Check = (typeof HEALTH_CHECKS)[number];
/** A fault that no restart of an ERP mends. */
const OF_PROXY = "proxy" satisfies Check;
/** What does not load of an ERP that its machine has paused. */
const OF_PAUSED = "page" satisfies Check;

/**
 * Records which ERPs went down or came back, while they should run and no operation holds them. The machine does not look at
 * those that it has paused: they are down, and go on by themselves. Null if there are any, but nobody knows which.
 */
export async function recordErpHealth(
  server: ServerRecord,
  before: Misses,
  { faults }: StatusLine,
  paused: ReadonlySet<string> | null = new Set(),
): Promise<ErpHealthChanges> {
  const faultsById = new Map(faults.slice(0, server.instances + NAMED_MAX).map((fault) => [fault.instance_id, fault]));
  const alsoPaused = [...(paused ?? [])].slice(0, server.instances + NAMED_MAX);
  const ids = [...new Set([...faultsById.keys(), ...Object.keys(before), ...alsoPaused])];
  const instanceKey = (id: string) => instanceRef(server.account_id, id).key;
  const items = await readAll(ids.map(instanceKey));
  const judged: ErpHealthChanges = { misses: {}, wentDown: [], toRestart: [], seenErps: [] };
  for (const id of ids) {
    const item = items.get(keyString(instanceKey(id)));
    const instance = item && parseOrSkip(InstanceRecord, item);
    if (instance === undefined || instance.server_id !== server.id) continue;
    const isDown = instance.health_status === failing;
    const fault = faultsById.get(id);
    if (instance.operation_id !== null) {
      if (isDown) judged.misses[id] = 0;
      continue;
    }
    let since = isDown ? instance.health_since : null;
    if (!SERVING.includes(instance.state)) {
      if (isDown) judged.misses[id] = 0;
      since = null;
    } else if (paused?.has(id) === true) {
      judged.misses[id] = 0;
      if (!isDown && (await recordHealth(instance, failing, OF_PAUSED))) since = now();
    } else if (fault !== undefined) {
      const misses = (before[id] ?? 0) + fault.looks;
      judged.misses[id] = misses;
      const isNews = misses >= MISSES.down && (!isDown || instance.health_fault !== fault.check);
      if (isNews && (await recordHealth(instance, failing, fault.check)) && !isDown) {
        judged.wentDown.push(instance);
        since = now();
      }
      if (misses >= MISSES.restart && fault.check !== OF_PROXY) judged.toRestart.push(instance);
    } else if (isDown) {
      if (paused !== null && (await recordHealth(instance, ok, null))) since = null;
      else judged.misses[id] = 0;
    }
    judged.seenErps.push({ instance, since });
  }
  return judged;
}

/**
 * Records an ERP's health, with an event if the ERP went down or came back; false if the instance has changed since it was read:
 * a later check sees it again.
 */
async function recordHealth(instance: InstanceRecord, to: HealthStatus, fault: string | null): Promise<boolean> {
  const { account_id, id, name, health_status: from } = instance;
  const change = startChange(await getAccount(account_id));
  const set = { health_fault: fault, ...(to !== from && { health_status: to, health_since: change.at }) };
  change.update(
    keys.record("instance", account_id, id),
    { set },
    { equals: { operation_id: null }, oneOf: { state: SERVING }, unchanged: { health_status: from } },
  );
  change.revise();
  if (to !== from) change.setSearchFields("instance", id, { health: to });
  const type = to === ok ? "instance.up" : "instance.down";
  const changes = [{ field: "health", before: { status: from }, after: { status: to } }];
  if (to !== from) logOutcome(change, HEALTH_SERVICE, { type, changes }, { type: "instance", id, name });
  return isCommitted(change);
}

/**
 * Records whether a server's instances are checked. An instance that is down stays down until the next check.
 */
export async function setErpsWatched({ account_id, id }: ServerRecord, isWatched: boolean): Promise<void> {
  const status = isWatched ? ok : unknown;
  for (const instance of parseEach(InstanceRecord, await readChildren("instance", account_id, id))) {
    const { health_status } = instance;
    if (health_status === status || health_status === failing) continue;
    const change = startChange({ id: account_id });
    const set = { health_status: status, health_since: change.at };
    change.update(keys.record("instance", account_id, instance.id), { set }, { unchanged: { health_status } });
    change.setSearchFields("instance", instance.id, { health: status });
    await isCommitted(change);
  }
}

/** Begins a restart, unless the service has begun enough of them today, or something else works on the instance. */
export async function beginRestart(instance: InstanceRecord, at: number): Promise<OperationRecord | undefined> {
  const today = instance.auto_restarts.filter((time) => Date.parse(time) > at - DAY_MS);
  if (today.length >= RESTARTS_A_DAY) return undefined;
  requireAllowed(instance, "restart");
  const change = startChange(await getAccount(instance.account_id));
  requireServerUsable(change, instance);
  const id = newId("operation");
  moveInstance(change, instance, { type: "instance.restart", operationId: id }, { auto_restarts: [...today, change.at] });
  const operation = reserveOperation(change, HEALTH_SERVICE, { id, type: "instance.restart", ...changing("instance", instance) });
  return (await isCommitted(change)) ? operation : undefined;
}

async function isCommitted(change: Change): Promise<boolean> {
  try {
    await change.commit();
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed || error instanceof ApiError) return false;
    throw error;
  }
}
