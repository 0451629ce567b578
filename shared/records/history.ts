// What happened long ago: events and ended operations, oldest first, and their removal with everything that points to them.
import * as z from "zod";
import type { AlertStatus } from "../domain/alerts.ts";
import { OPEN_STATUSES, type OperationStatus } from "../domain/lifecycle.ts";
import { startChange } from "../data/change.ts";
import { type EventKind, keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { openEnum } from "../data/stored.ts";
import { query } from "../data/table.ts";

/** An operation takes up to six items of the hundred of a transaction: itself, its entry, and links from what it concerned. */
const RECORDS_PER_CHANGE = 12;

const Old = z.object({
  id: z.string(),
  number: z.string(),
  created_at: z.string(),
  /** An operation's, or an alert's. */
  state: openEnum<OperationStatus | AlertStatus>().optional(),
  /** An alert's. */
  kind: z.string().optional(),
  closed_at: z.string().nullish(),
  concerns: z.array(z.string()).default([]),
  /** An event's; only those that are on lists by type and actor are counted there. */
  type: z.string().optional(),
  actor: z.object({ id: z.string() }).optional(),
  list_status: z.string().optional(),
});
type Old = z.infer<typeof Old>;

type HistoryKind = EventKind | "operation" | "alert";

/**
 * Removes an account's records of a kind that were created before a time, until none is left or `outOfTime`. An operation that is
 * still open stays, and so does an alert that was closed later.
 */
export async function removeHistory(
  accountId: string,
  kind: HistoryKind,
  { before, outOfTime }: { before: string; outOfTime: () => boolean },
): Promise<void> {
  let after = "";
  while (!outOfTime()) {
    const oldest = await findOldest(accountId, kind, after);
    const old = oldest.filter(({ created_at }) => created_at < before);
    await remove(
      accountId,
      kind,
      old.filter((each) => hasExpired(each, before)),
    );
    if (old.length < RECORDS_PER_CHANGE) return;
    after = old.at(-1)?.number ?? "";
  }
}

const hasExpired = ({ state, closed_at }: Old, before: string): boolean =>
  state === undefined ||
  (closed_at === undefined ? !OPEN_STATUSES.some((open) => open === state) : closed_at !== null && closed_at < before);

async function findOldest(accountId: string, kind: HistoryKind, after: string): Promise<Old[]> {
  const { items } = await query({
    IndexName: "byNumber",
    KeyConditionExpression: "#list = :list AND #number > :after",
    ExpressionAttributeNames: { "#list": "list", "#number": "number" },
    ExpressionAttributeValues: { ":list": keys.list(kind, accountId), ":after": after || "0" },
    Limit: RECORDS_PER_CHANGE,
  });
  return parseEach(Old, items);
}

/** All in one change with the lists' counts; nothing if another run has removed one of them. */
async function remove(accountId: string, kind: HistoryKind, records: readonly Old[]): Promise<void> {
  if (records.length === 0) return;
  const change = startChange({ id: accountId });
  for (const record of records) {
    const { id, number, state, list_status } = record;
    const event = list_status === undefined ? {} : { type: record.type, actor: record.actor };
    if (kind === "alert")
      change.removeListed(
        { kind, record: { id, number, actor: { id: record.kind ?? "" } }, status: state },
        { equals: { state } },
      );
    else if (state === undefined)
      change.removeListed({ kind, record: { id, number, actor: event.actor }, status: event.type }, {});
    else change.removeListed({ kind, record, status: state }, { equals: { state } });
    for (const concerned of record.concerns) change.remove(keys.operationOf(accountId, concerned, record.id), { exists: false });
  }
  await change.commit();
}
