// Which resources a bulk action selects: those with the given IDs, or all that a list would show.
import * as z from "zod";
import { list as backupList } from "../../api/backups.ts";
import { invalid, noSuch, type Problem } from "../../api/errors.ts";
import { list as instanceList } from "../../api/instances.ts";
import { requireNone, tryParse } from "../../api/parse.ts";
import { list as serverList } from "../../api/servers.ts";
import { keyString } from "../../data/keys.ts";
import type { Listed, PageQuery } from "../../data/pages.ts";
import type { Ref } from "../../data/table.ts";
import { readAll } from "../../data/table.ts";
import { isId } from "../../domain/ids.ts";
import { RESOURCE_TYPES, type ResourceType } from "../../domain/lifecycle.ts";
import { BULK, PER_PAGE_MAX } from "../../domain/limits.ts";
import { backupRef, listBackups } from "../../records/backups.ts";
import { instanceRef, listInstances } from "../../records/instances.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";
import { listServers, serverRef } from "../../records/servers.ts";

type Filter = Readonly<Record<string, string | string[]>>;

/** A selection as a request names it. */
interface Selection {
  ids?: readonly string[] | undefined;
  type?: ResourceType | undefined;
  filter?: Filter | undefined;
}

/** The type of what is selected; all IDs are of the same one. */
export function typeSelected({ ids = [], type }: Selection): ResourceType {
  if (type !== undefined) return type;
  const [first] = RESOURCE_TYPES.filter((each) => isId(each, ids[0] ?? ""));
  const other = ids.findIndex((id) => first === undefined || !isId(first, id));
  if (first === undefined || other >= 0)
    throw invalid({ field: `select.ids.${other}`, reason: "must be of the same type as the others" });
  return first;
}

/** The records that a selection has, by type. */
export type Selected =
  | { type: "server"; records: ServerRecord[] }
  | { type: "instance"; records: InstanceRecord[] }
  | { type: "backup"; records: BackupRecord[] };

export async function select(accountId: string, selection: Selection): Promise<Selected> {
  const type = typeSelected(selection);
  const { ids, filter = {} } = selection;
  switch (type) {
    case "server":
      return {
        type,
        records: ids
          ? await byIds(accountId, type, ids, serverRef)
          : await everyPage(listed(serverList().query, filter), (page) => listServers(accountId, page)),
      };
    case "instance":
      return {
        type,
        records: ids
          ? await byIds(accountId, type, ids, instanceRef)
          : await everyPage(listed(instanceList().query, filter), (page) => listInstances(accountId, page)),
      };
    case "backup":
      return {
        type,
        records: ids
          ? await byIds(accountId, type, ids, backupRef)
          : await everyPage(listed(backupList().query, filter), (page) => listBackups(accountId, page)),
      };
    default:
      throw new Error(`No such type: ${String(type satisfies never)}`);
  }
}

/** Each once, in the order of the request. */
async function byIds<T>(
  accountId: string,
  type: ResourceType,
  ids: readonly string[],
  refOf: (accountId: string, id: string) => Ref<T>,
): Promise<T[]> {
  const items = await readAll(ids.map((id) => refOf(accountId, id).key));
  const problems: Problem[] = [];
  const records = [...new Set(ids)].flatMap((id) => {
    const { key, schema } = refOf(accountId, id);
    const item = items.get(keyString(key));
    if (item !== undefined) return [schema.parse(item)];
    problems.push(noSuch(`select.ids.${ids.indexOf(id)}`, type));
    return [];
  });
  requireNone(problems);
  return records;
}

/** What a list takes that selects nothing. */
const NO_FILTERS = ["ids", "page", "per_page", "cursor", "order", "sort"];

/** The query of a list with these filters. */
function listed<S extends z.ZodType>(query: S, filter: Filter): z.output<S> {
  const problems: Problem[] = NO_FILTERS.filter((name) => Object.hasOwn(filter, name)).map((name) => ({
    field: name,
    reason: "is not a filter",
  }));
  const { label } = filter;
  const parsed = tryParse(query, label === undefined ? filter : { ...filter, label: [label].flat() }, problems);
  requireNone(problems.map(({ field, reason }) => ({ field: `select.filter.${field}`, reason })));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- where there is no problem, there is a value
  return parsed as z.output<S>;
}

async function everyPage<T, Q extends PageQuery>(query: Q, list: (page: Q) => Promise<Listed<T>>): Promise<T[]> {
  const records: T[] = [];
  let cursor: string | undefined;
  do {
    const { items, meta } = await list({ ...query, per_page: PER_PAGE_MAX, ...(cursor !== undefined && { cursor }) });
    if (meta.total > BULK.selected)
      throw invalid({ field: "select", reason: `selects ${meta.total} resources, and may select at most ${BULK.selected}` });
    records.push(...items);
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined && records.length < BULK.selected);
  if (records.length === 0) throw invalid({ field: "select", reason: "selects no resources" });
  return records;
}
