// The first migration: records that were written before there were search entries, lists of events by type, actor and resource,
// and overviews get what they lack, labels move out of search entries, and backups count in the quotas. It can run at any time,
// and again: what a change has written meanwhile stays.
import * as z from "zod";
import { OPEN_STATUSES, type ResourceType } from "../domain/lifecycle.ts";
import { listCounts } from "../data/counters.ts";
import { bringNewKindsBack } from "./before-rollback.ts";
import { countAccount } from "./counting.ts";
import { completedEntry, buildEntry, searchFieldsOf, labelsAndTagsOf, isSearchable, readLabels } from "../data/entries.ts";
import { actorFilter, keys, type ListKind, placement, type Item } from "../data/keys.ts";
import { overviewAsRead } from "../data/overview-shards.ts";
import { buildMembers, memberString, ownerString, readMembers, takeMember } from "../data/label-index.ts";
import { completedOperation } from "../data/operation-entries.ts";
import { unlessUnreadable } from "../data/parse-each.ts";
import { readCounts, readWithShards } from "../data/shards.ts";
import { query, queryAll, readAll, transact, ConditionFailed } from "../data/table.ts";
import { check, update, type Write } from "../data/writes.ts";

const KINDS: readonly ListKind[] = ["server", "instance", "backup", "operation", "event"];
/** Records that are read at a time; each gets a transaction of its own, so that few conflict with what else happens. */
const AT_A_TIME = 25;

/** How far a migration has come in an account: in which step, after which of its records. */
export interface MigrationCursor {
  step: string;
  after: Item;
}

/** Yields after each page of records; what follows on the records is quick, and is done again by a run that goes on. */
export async function* indexAccount(accountId: string, from?: MigrationCursor): AsyncGenerator<MigrationCursor> {
  await bringNewKindsBack(accountId);
  const first = KINDS.findIndex((kind) => kind === from?.step);
  for (const kind of KINDS.slice(Math.max(0, first)))
    for await (const { records, more } of pagesOf(kind, accountId, kind === from?.step ? from.after : undefined)) {
      await Promise.all(
        records.map(async (record) => write(unlessUnreadable(record, () => writesFor(accountId, kind, record)) ?? [])),
      );
      if (more !== undefined) yield { step: kind, after: more };
    }
  for (const kind of KINDS) if (isSearchable(kind)) await removeStaleLabels(accountId, kind);
  await recount(accountId);
  await countAccount(accountId);
}

interface RecordPage {
  records: Item[];
  more: Item | undefined;
}

async function* pagesOf(kind: ListKind, accountId: string, after?: Item): AsyncGenerator<RecordPage> {
  let more = after;
  do {
    const page = await query({
      IndexName: "byNumber",
      KeyConditionExpression: "#list = :list",
      ExpressionAttributeNames: { "#list": "list" },
      ExpressionAttributeValues: { ":list": keys.list(kind, accountId) },
      Limit: AT_A_TIME,
      ...(more !== undefined && { ExclusiveStartKey: more }),
    });
    more = page.more;
    // The records are read as they are now: the index may lag behind.
    const stored = await readAll(page.items.map(({ id }) => keys.record(kind, accountId, String(id))));
    yield { records: [...stored.values()], more };
  } while (more !== undefined);
}

const Listed = z.looseObject({ id: z.string(), number: z.string(), created_at: z.string() });
const Event = Listed.extend({
  type: z.string(),
  actor: z.object({ id: z.string() }),
  resource: z.object({ id: z.string() }),
  list_status: z.string().optional(),
});

function writesFor(accountId: string, kind: ListKind, item: Item): Write[] {
  const lists = listCounts(accountId);
  const { id, number, created_at, ...record } = Listed.parse(item);
  lists.mark(kind, number, created_at);
  if (isSearchable(kind)) return [...entryWrites(accountId, kind, item), ...lists.writes()];
  if (kind === "operation") {
    const unchanged = check(keys.record(kind, accountId, id), { unchanged: { state: item["state"] } });
    return [unchanged, completedOperation(accountId, { ...item, id }), ...lists.writes()];
  }
  if (kind !== "event") return lists.writes();
  const { type, actor, resource, list_status } = Event.parse({ id, number, created_at, ...record });
  if (list_status !== undefined) return lists.writes();
  lists.count(kind, number, 1, [type, actorFilter(actor.id)]);
  const attributes = placement(kind, accountId, number, { status: type, parentId: resource.id, actorId: actor.id });
  return [update(keys.record(kind, accountId, id), { set: attributes }, { none: ["list_status"] }), ...lists.writes()];
}

/** What a change has already written into the entry is newer than the record that was read. */
function entryWrites(accountId: string, kind: ListKind & ("server" | "instance" | "backup"), item: Item): Write[] {
  const { id, created_at } = Listed.parse(item);
  const { labels, note } = item;
  const status = String(item["list_status"]).split("#").at(-1);
  const storedProtection = item["protection_status"];
  const protection = kind === "instance" ? (typeof storedProtection === "string" ? storedProtection : "unprotected") : undefined;
  const fullEntry = buildEntry(id, created_at, { ...searchFieldsOf(kind, item), status, protection });
  // Those two can be removed from an entry, which then does not show that it is newer.
  const unchanged = { ...(labels !== undefined && { labels }), ...(note !== undefined && { note }) };
  return [check(keys.record(kind, accountId, id), { unchanged }), ...completedEntry(accountId, kind, { ...item, id }, fullEntry)];
}

/**
 * Takes records out of labels that they do not have: older versions changed labels without these. The members are read before the
 * records, so that one without a record is of one that is gone.
 */
async function removeStaleLabels(accountId: string, kind: ResourceType): Promise<void> {
  const members = await readMembers(kind, accountId);
  const right = new Set<string>();
  const owners = new Map<string, { id: string; unchanged: Item }>();
  const unreadable = new Set<string>();
  for await (const { records } of pagesOf(kind, accountId))
    for (const record of records) {
      const { admin_email, last_drill, drill, locked } = record; // which change, too
      const id = String(record["id"]);
      unreadable.add(ownerString({ id }));
      unlessUnreadable(record, () => {
        const indexed = { id, labels: labelsAndTagsOf(kind, record) };
        for (const member of buildMembers(kind, accountId, indexed)) right.add(memberString(member));
        const owner = { id, unchanged: { labels: readLabels(record), ...defined({ admin_email, last_drill, drill, locked }) } };
        owners.set(ownerString(owner), owner);
        unreadable.delete(ownerString(owner));
      });
    }
  for (const member of members.filter((each) => !right.has(memberString(each)) && !unreadable.has(ownerString(each)))) {
    const owner = owners.get(ownerString(member));
    const unchanged = owner && check(keys.record(kind, accountId, owner.id), { unchanged: owner.unchanged });
    await write([...(unchanged === undefined ? [] : [unchanged]), takeMember(member)]);
  }
}

const defined = (fields: Item): Item => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

async function write(writes: readonly Write[]): Promise<void> {
  if (writes.length === 0) return;
  try {
    await transact(writes);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error; // deleted or changed meanwhile, which wrote what it lacked
  }
}

const RECOUNTS = 20;

/** The overview's counts, added up from those of the lists, unless something changes meanwhile. */
async function recount(accountId: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { inShards, writes } = await overviewAsRead(accountId);
    const set: Record<string, number> = {};
    for (const kind of KINDS.filter((each) => each !== "event"))
      for (const item of await readWithShards(() => queryAll(keys.counts(kind, accountId), { consistent: true }))) {
        const filter = keys.filterOfCounts(String(item["sk"]));
        if (filter === undefined || filter === "all" || (kind === "operation" && !OPEN_STATUSES.some((open) => open === filter)))
          continue;
        const count = Object.values(readCounts(item)).reduce((sum, each) => sum + each, 0);
        set[`${kind}#${filter}`] = (set[`${kind}#${filter}`] ?? 0) + count;
      }
    const ownCounts = Object.fromEntries(Object.entries(set).map(([name, count]) => [name, count - (inShards[name] ?? 0)]));
    try {
      return await transact(writes(ownCounts));
    } catch (error) {
      if (!(error instanceof ConditionFailed) || attempt >= RECOUNTS) throw error;
    }
  }
}
