// What lists are searched and filtered by: a small item for each server, instance and backup, written in the transaction that
// writes the record. A search reads all of an account, so that names of attributes are one character and statuses too. Each
// attribute is written by whoever changes its field, so that no writer has to know the others. Labels are in items of their own
// (label-index.ts).
import * as z from "zod";
import type { Labels } from "../api/fields.ts";
import { bytesOfId, timeOfId } from "../domain/ids.ts";
import { HEALTH_OF_ERP, type ResourceType } from "../domain/lifecycle.ts";
import { codeOfBackupKind, codeOfStatus, ENTRY_ATTRIBUTES } from "./codes.ts";
import { type Key, keys, keyString, type ListKind, type Item } from "./keys.ts";
import { backupTimeWrites, fillBackupTime } from "./backup-times.ts";
import { labelWrites } from "./label-index.ts";
import { buildTags } from "./tags.ts";
import { put, remove, update, type Write } from "./writes.ts";

const SEARCHED: readonly ListKind[] = ["server", "instance", "backup"];
export const isSearchable = (kind: ListKind): kind is ResourceType => SEARCHED.includes(kind);

/** The fields of a record by which it is found; a field that is not given does not change. */
export interface SearchFields {
  name?: string | null | undefined;
  domain?: string | undefined;
  database_name?: string | null | undefined;
  note?: string | null | undefined;
  /** Instances only: the instance is read with its server. */
  server_id?: string | undefined;
  status?: string | undefined;
  protection?: string | undefined;
  health?: string | undefined;
  /** Backups only; it never changes. */
  backup_kind?: string | undefined;
  /** Backups only; null until the archive was measured. */
  size_bytes?: number | null | undefined;
}

/** What a change makes of a record's labels. */
export interface LabelChange {
  from: Labels;
  to: Labels;
}

/** A damaged field finds nothing: the record is skipped when it is read whole. */
const maybeText = z.string().nullish().catch(null);
const Found = z.object({
  name: z.string().optional().catch(""),
  instance_name: maybeText,
  domain: z.string().optional().catch(undefined),
  database_name: maybeText,
  note: maybeText,
  server_id: maybeText,
  health_status: maybeText,
  kind: maybeText,
  file_name: maybeText,
  size_bytes: z.number().nullish().catch(null),
});

/** What a record is found by. */
export function searchFieldsOf(kind: ResourceType, record: Item): SearchFields {
  const { name, instance_name, file_name, server_id, health_status, kind: backupKind, ...fields } = Found.parse(record);
  const ofInstance = { server_id: server_id ?? undefined, health: health_status ?? undefined };
  return {
    ...fields,
    name: name ?? instance_name ?? file_name ?? null,
    ...(kind === "instance" && ofInstance),
    ...(kind === "backup" && { backup_kind: backupKind ?? undefined }),
  };
}

/** What the label index has of a record: its labels and its tags. */
export const labelsAndTagsOf = (kind: ResourceType, record: Item): Labels => ({
  ...readLabels(record),
  ...buildTags(kind, record),
});

/** The labels of a record, as its item has them. */
export const readLabels = (record: Item): Labels => Labeled.parse(record).labels;
const Labeled = z.object({ labels: z.custom<Labels>().default({}) });

/** The attribute in which older versions wrote the labels of a record, which then count. */
const OLD_LABELS = ENTRY_ATTRIBUTES.labels;
export const oldLabelsIn = (entry: Item): string[] | undefined => {
  const packed = entry[OLD_LABELS];
  return typeof packed === "string" ? packed.split("\n") : undefined;
};

/** Attributes of an entry; null where a field is now empty, and its attribute is removed. */
function buildAttributes(fields: SearchFields) {
  const { name, domain, database_name, note, server_id, status, protection, health, backup_kind, size_bytes } = fields;
  const attributes: Record<string, string | number | Uint8Array | null | undefined> = {
    [ENTRY_ATTRIBUTES.name]: name === null ? "" : name,
    [ENTRY_ATTRIBUTES.domain]: domain,
    [ENTRY_ATTRIBUTES.database_name]: database_name,
    [ENTRY_ATTRIBUTES.note]: note,
    [ENTRY_ATTRIBUTES.server_id]: server_id === undefined ? undefined : bytesOfId(server_id),
    [ENTRY_ATTRIBUTES.status]: status && codeOfStatus(status),
    [ENTRY_ATTRIBUTES.protection]: protection && codeOfStatus(protection),
    [ENTRY_ATTRIBUTES.health]: health === HEALTH_OF_ERP.unknown ? null : health && codeOfStatus(health),
    [ENTRY_ATTRIBUTES.backup_kind]: backup_kind && codeOfBackupKind(backup_kind),
    [ENTRY_ATTRIBUTES.size_bytes]: size_bytes,
  };
  return Object.entries(attributes).filter(([, value]) => value !== undefined);
}

/** A whole entry. */
export function buildEntry(id: string, created_at: string, fields: SearchFields): Item {
  const late = Date.parse(created_at) - timeOfId(id);
  const attributes = buildAttributes(fields).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(attributes), ...(late !== 0 && { [ENTRY_ATTRIBUTES.created_after_id]: late }) };
}

/** The entries that one change writes, and the labels: however much changes about a record, its entry gets one write. */
export function entryWrites(accountId: string) {
  const entries = new Map<string, { key: Key; fullEntry?: Item; set: Item; remove: Set<string>; isDeleted?: true }>();
  const labels = labelWrites(accountId);
  const times = backupTimeWrites(accountId);
  const of = (kind: ResourceType, id: string) => {
    const key = keys.entry(kind, accountId, id);
    const entry = entries.get(keyString(key)) ?? { key, set: {}, remove: new Set<string>() };
    entries.set(keyString(key), entry);
    return entry;
  };
  return {
    add: (
      kind: ListKind,
      record: Item & { id: string; created_at: string },
      filters: Pick<SearchFields, "status" | "protection">,
    ): void => {
      if (!isSearchable(kind)) return;
      const { id, created_at } = record;
      of(kind, id).fullEntry = buildEntry(id, created_at, { ...searchFieldsOf(kind, record), ...filters });
      labels.move(kind, id, {}, labelsAndTagsOf(kind, record));
    },
    change: (kind: ListKind, id: string, fields: SearchFields, relabeled?: LabelChange): void => {
      if (!isSearchable(kind)) return;
      for (const [name = "", value] of buildAttributes(fields)) {
        if (value === null) of(kind, id).remove.add(name);
        else of(kind, id).set[name] = value;
      }
      if (relabeled === undefined) return;
      labels.move(kind, id, relabeled.from, relabeled.to);
      of(kind, id).remove.add(OLD_LABELS);
    },
    /** Other tags; both are records of the kind, or parts of them. */
    setFilterFields: (kind: ResourceType, id: string, from: Item, to: Item): void =>
      labels.move(kind, id, buildTags(kind, from), buildTags(kind, to)),
    setBackupTime: times.note,
    removeListed: (kind: ListKind, record: Item & { id: string }): void => {
      if (!isSearchable(kind)) return;
      of(kind, record.id).isDeleted = true;
      labels.move(kind, record.id, labelsAndTagsOf(kind, record), {});
      if (kind === "instance") times.note(record.id, null);
    },
    writes: (): Write[] => [
      ...[...entries.values()].flatMap(({ key, fullEntry, set, remove: removed, isDeleted }) => {
        if (isDeleted) return [remove(key, { exists: false })];
        if (fullEntry !== undefined) return [put(key, { ...fullEntry, ...set })];
        const itemUpdate = { ...(Object.keys(set).length > 0 && { set }), remove: [...removed] };
        return Object.keys(set).length + removed.size === 0 ? [] : [update(key, itemUpdate, { exists: false })];
      }),
      ...labels.writes(),
      ...times.writes(),
    ],
  };
}

/** What an entry from an older version, or none at all, lacks of its record: its labels move out of it. */
export function completedEntry(accountId: string, kind: ResourceType, record: Item & { id: string }, entry: Item): Write[] {
  const labels = labelWrites(accountId);
  labels.move(kind, record.id, {}, labelsAndTagsOf(kind, record));
  const { last_backup_at } = record;
  return [
    ...(kind === "instance" && typeof last_backup_at === "string" ? [fillBackupTime(accountId, record.id, last_backup_at)] : []),
    update(keys.entry(kind, accountId, record.id), { fill: entry, remove: [OLD_LABELS] }, { exists: false }),
    ...labels.writes(),
  ];
}
