// Lists that are filtered by label or search, by several filters, or sorted by name: the entries of a kind are read whole (110
// bytes a record), with what says which records have a label (5 bytes), and then the records of the page.
import { domainToUnicode } from "node:url";
import * as z from "zod";
import { invalid } from "../api/errors.ts";
import type { ListMeta } from "../api/fields.ts";
import { bytesOfId, idOfBytes, idOfShort, isId, shorten, timeOfShort } from "../domain/ids.ts";
import { HEALTH_OF_ERP, type ResourceType, SERVER_PHASES, SERVING, statusOf } from "../domain/lifecycle.ts";
import { LABELS_PER_QUERY, LISTED_MAX } from "../domain/limits.ts";
import { folded, createMatcher } from "../domain/words.ts";
import { codeOfBackupKind, ENTRY_ATTRIBUTES, statusOfCode } from "./codes.ts";
import { readBackupTimes } from "./backup-times.ts";
import { searchFieldsOf, labelsAndTagsOf, oldLabelsIn } from "./entries.ts";
import { type Key, keys, keyString, type Item } from "./keys.ts";
import { labelsIn, readLabels } from "./label-index.ts";
import { readChildren } from "./child-lists.ts";
import { parseEach } from "./parse-each.ts";
import { isCreatedIn, type Listed, type PageQuery, slicePage } from "./pages.ts";
import { type ReportBounds, readServerReports } from "./server-reports.ts";
import { queryAll, readAll } from "./table.ts";
import { addressForm, addressPart, isTag, LOCKED, tagsInSearch } from "./tags.ts";

/** What of a query only these lists know. */
export interface Finding {
  label?: readonly string[] | undefined;
  search?: string | undefined;
  sort?: "created_at" | "name" | undefined;
}

interface Filters extends ReportBounds {
  status?: string | undefined;
  protection?: string | undefined;
  /** Instances only: those whose last backup is older, or that have none. */
  last_backup_before?: string | undefined;
  /** Instances only: the health that is shown. */
  health?: string | undefined;
  /** Backups only. */
  kind?: string | undefined;
  locked?: string | undefined;
  size_bytes_above?: number | undefined;
}

/** A record as its entry describes it. */
export interface Entry {
  /** The ID, short as in the entry: an ID takes long to spell, and only a page's are needed. */
  short: string;
  name: string;
  status: string;
  protection: string | undefined;
  /** Instances only: the health in the record. */
  health: string;
  /** Instances only. */
  server: Uint8Array | undefined;
  /** The code of a backup's kind. */
  kind: string;
  /** Backups only; zero until the archive was measured. */
  size_bytes: number;
  created_at: string;
  /** The labels and tags. Set only if the record itself was read, or an older entry contains them. */
  labels: string[] | undefined;
  /** Instances only, in ms since 1970; only where the record was read. */
  last_backup_at?: number | undefined;
  /** An instance's domain, a backup's note. */
  detail: string | null;
  /** All text that is searched. */
  text: string;
}

/** Whether a list needs the entries: exact filters alone have an index and counts. */
export const needsEntries = (
  { label, search, sort }: Finding,
  { status, protection, ...otherFilters }: Filters,
  page: PageQuery,
): boolean =>
  label !== undefined ||
  search !== undefined ||
  sort === "name" ||
  Object.values(otherFilters).some((each) => each !== undefined) ||
  countExact({ status, protection }, page) > 1;

const countExact = (
  { status, protection }: Pick<Filters, "status" | "protection">,
  { created_after, created_before }: PageQuery,
): number => [status, protection, created_after ?? created_before].filter((each) => each !== undefined).length;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** International names are found as they are stored and as people read them. */
function searchedText(fields: readonly unknown[]): string {
  const texts = fields.map(text);
  return [...texts, ...texts.filter((each) => each.includes("xn--")).map(domainToUnicode)].join(" ");
}

/**
 * An entry without a name is not complete: the first migration has yet to write what its record had before there were entries.
 */
function entryIn(item: Item): Entry | undefined {
  const read = (field: keyof typeof ENTRY_ATTRIBUTES) => item[ENTRY_ATTRIBUTES[field]];
  const name = read("name");
  if (typeof name !== "string") return undefined;
  const short = text(item["sk"]);
  const server = read("server_id");
  return {
    short,
    name,
    status: statusOfCode(text(read("status"))),
    protection: read("protection") === undefined ? undefined : statusOfCode(text(read("protection"))),
    health: statusOfCode(text(read("health"))) || HEALTH_OF_ERP.unknown,
    server: server instanceof Uint8Array ? server : undefined,
    kind: text(read("backup_kind")),
    size_bytes: Number(read("size_bytes") ?? 0),
    created_at: new Date(timeOfShort(short) + Number(read("created_after_id") ?? 0)).toISOString(),
    labels: oldLabelsIn(item),
    detail: text(read("domain") ?? read("note")) || null,
    text: searchedText([name, read("domain"), read("database_name"), read("note")]),
  };
}

/** A record as its entry would describe it. */
function entryOfRecord(kind: ResourceType, record: Item): Entry {
  const { name, domain, database_name, note, server_id, health, backup_kind, size_bytes } = searchFieldsOf(kind, record);
  return {
    short: shorten(text(record["id"])),
    name: name ?? "",
    status: statusOf(kind, text(record["state"])),
    protection: text(record["protection_status"]) || "unprotected",
    health: health ?? HEALTH_OF_ERP.unknown,
    server: server_id === undefined ? undefined : bytesOfId(server_id),
    kind: codeOfBackupKind(backup_kind ?? ""),
    size_bytes: size_bytes ?? 0,
    created_at: text(record["created_at"]),
    labels: labelsIn(labelsAndTagsOf(kind, record)),
    last_backup_at: Date.parse(text(record["last_backup_at"])),
    detail: domain ?? note ?? null,
    text: searchedText([name, domain, database_name, note]),
  };
}

async function readEntries(kind: ResourceType, accountId: string): Promise<Entry[]> {
  const items = await queryAll(keys.entries(kind, accountId));
  return items.flatMap((item) => entryIn(item) ?? []);
}

/** What the items beside the entries say of a record that is named by its short ID. */
interface SideFacts {
  /** Whether it has all labels that a query names. */
  hasLabels: (short: string) => boolean;
  /** Whether it has the email or IP address that a query searches, or is a server with a part of that address. */
  hasTag: (short: string) => boolean;
  /** Returns when it was last backed up (ms since 1970). */
  lastBackup: (short: string) => number | undefined;
  /** Whether a server is active, as far as the query needs to know. */
  isActive: (server: Uint8Array | undefined) => boolean;
  /** Whether a backup is locked. */
  isLocked: (short: string) => boolean;
  /** Whether a server is within the query's bounds. */
  isWithin: (short: string) => boolean;
}

const NO_SIDE_FACTS: SideFacts = {
  hasLabels: () => false,
  hasTag: () => false,
  lastBackup: () => undefined,
  isActive: () => true,
  isLocked: () => false,
  isWithin: () => true,
};

async function readSideFacts(
  kind: ResourceType,
  accountId: string,
  { label = [], search }: Finding,
  filters: Filters,
): Promise<SideFacts> {
  const tags = search === undefined ? [] : tagsInSearch(search);
  requireAffordable(label, [...tags, filters.locked, ...Array<unknown>(TIMES_PRICE).fill(filters.last_backup_before)]);
  const part = search === undefined || kind !== "server" ? undefined : addressPart(search);
  const [hasLabels, hasTag, lastBackup, isActive, isLocked, isWithin] = await Promise.all([
    readLabels(kind, accountId, label),
    part !== undefined
      ? readAddresses(accountId, part)
      : tags.length === 0
        ? NO_SIDE_FACTS.hasTag
        : readLabels(kind, accountId, tags),
    filters.last_backup_before === undefined ? NO_SIDE_FACTS.lastBackup : readBackupTimes(accountId),
    filters.health === undefined ? NO_SIDE_FACTS.isActive : readActiveServers(accountId),
    filters.locked === undefined ? NO_SIDE_FACTS.isLocked : readLabels(kind, accountId, [LOCKED]),
    readServerReports(accountId, filters),
  ]);
  return { hasLabels, hasTag, lastBackup, isActive, isLocked, isWithin };
}

/** The times of the last backups cost as much as so many labels. */
const TIMES_PRICE = 3;

/** `label` has the filters that have tags, too. Only labels are ever too many. */
function requireAffordable(label: readonly string[], otherFilters: readonly unknown[]): void {
  const count = label.filter((each) => !isTag(each)).length;
  const spent = label.length - count + otherFilters.filter((each) => each !== undefined).length;
  const room = Math.max(0, LABELS_PER_QUERY - spent);
  if (count > room) throw invalid({ field: "label", reason: `must be limited to ${room} with these filters` });
}

const Addressed = z.object({ id: z.string(), ip_address: z.string().nullish() });

/** The servers with a part of an address: their records are few, and only such a search reads them. */
async function readAddresses(accountId: string, part: string): Promise<SideFacts["hasTag"]> {
  const servers = parseEach(Addressed, await queryAll(keys.records("server", accountId)));
  const matches = servers.filter(({ ip_address }) => ip_address && addressForm(ip_address).includes(part));
  const shorts = new Set(matches.map(({ id }) => shorten(id)));
  return (short) => shorts.has(short);
}

async function readActiveServers(accountId: string): Promise<SideFacts["isActive"]> {
  const servers = await readEntries("server", accountId);
  const active = new Set(servers.filter(({ status }) => status === SERVER_PHASES.ready).map(({ short }) => short));
  return (server) => server !== undefined && active.has(shorten(idOfBytes("server", server)));
}

/** What is shown of an ERP's health (shown-health.ts). */
const shownHealth = (
  { status, health, server }: Pick<Entry, "status" | "health" | "server">,
  isActive: SideFacts["isActive"],
): string => (SERVING.some((each) => each === status) && isActive(server) ? health : HEALTH_OF_ERP.unknown);

/** Whether a record is one that a query means. */
function isMeant(
  kind: ResourceType,
  { label = [], search, page, ...filters }: Finding & Filters & { page: Pick<PageQuery, "created_after" | "created_before"> },
  { hasLabels, hasTag, lastBackup, isActive, isLocked, isWithin }: SideFacts = NO_SIDE_FACTS,
): (entry: Entry) => boolean {
  const { status, protection, last_backup_before, health, locked, size_bytes_above } = filters;
  const backupKind = filters.kind === undefined ? undefined : codeOfBackupKind(filters.kind);
  const isInTime = isCreatedIn(page);
  const isFound = search === undefined ? () => true : chooseFinder(search, hasTag)(kind);
  const before = last_backup_before === undefined ? undefined : Date.parse(last_backup_before);
  return (entry) =>
    (before === undefined || !((entry.last_backup_at ?? lastBackup(entry.short) ?? Number.NaN) >= before)) &&
    (status === undefined || entry.status === status) &&
    (protection === undefined || entry.protection === protection) &&
    (health === undefined || shownHealth(entry, isActive) === health) &&
    (backupKind === undefined || entry.kind === backupKind) &&
    (locked === undefined || String(entry.labels?.includes(LOCKED) ?? isLocked(entry.short)) === locked) &&
    (size_bytes_above === undefined || entry.size_bytes > size_bytes_above) &&
    isWithin(entry.short) &&
    isInTime(entry) &&
    (label.length === 0 ||
      (entry.labels === undefined ? hasLabels(entry.short) : label.every((each) => entry.labels?.includes(each)))) &&
    isFound(entry);
}

/** Whether a record has the words of a search, or is the one with this ID, or has this email or IP address. */
function chooseFinder(
  search: string,
  hasTag: SideFacts["hasTag"],
): (kind: ResourceType) => (entry: Pick<Entry, "short" | "labels" | "text">) => boolean {
  const hasWords = createMatcher(search);
  const tags = tagsInSearch(search);
  return (kind) => {
    const id = shortIdIn(kind, search);
    return ({ short, labels, text: words }) =>
      short === id || hasWords(words) || hasTag(short) || tags.some((each) => labels?.includes(each));
  };
}

const shortIdIn = (kind: ResourceType, search: string): string | undefined => {
  const id = search.trim().toLowerCase();
  return isId(kind, id) ? shorten(id) : undefined;
};

/** The sort key of a record: its end, the ID, sorts by creation and makes it unique. */
const sortKeyIn =
  (sort: Finding["sort"]) =>
  ({ short, name, created_at }: Entry): string =>
    sort === "name" ? `${folded(name)}\n${short}` : `${created_at}\n${short}`;

/** The query with the order that its sort has if it names none. */
const inOrder = <P extends PageQuery>(page: P, { sort }: Finding): P =>
  page.order === undefined && sort === "name" ? { ...page, order: "asc" } : page;

interface Found extends Pick<Entry, "name" | "status" | "detail" | "created_at"> {
  type: ResourceType;
  id: string;
}

/** An instance may have hundreds of backups, which have its name: the others come last, so that they push nothing else out. */
const BACKUPS_FIRST = 5;

/**
 * The best matches of all these kinds: names that are the search, then those that begin with it, then the newest. What has a word
 * only in the middle of another one comes last. A backup has the name of its instance, which does not put it first.
 */
export async function findEverywhere(
  accountId: string,
  kinds: readonly ResourceType[],
  search: string,
  limit: number,
): Promise<Found[]> {
  const foldedSearch = folded(search.trim());
  const hasWithin = createMatcher(search, { within: true });
  const matchesByType = await Promise.all(
    kinds.map(async (type) => {
      const [entries, { hasTag }] = await Promise.all([
        readEntries(type, accountId),
        readSideFacts(type, accountId, { search }, {}),
      ]);
      const isFound = chooseFinder(search, hasTag)(type);
      return entries.flatMap((entry) => {
        const begins = isFound(entry);
        return begins || hasWithin(entry.text) ? [{ ...entry, type, begins }] : [];
      });
    }),
  );
  const rank = ({ short, name, type, begins }: Entry & { type: ResourceType; begins: boolean }): number => {
    if (!begins) return 3;
    if (short === shortIdIn(type, search)) return 0;
    const ownName = type === "backup" ? "" : folded(name);
    return ownName === foldedSearch ? 0 : ownName.startsWith(foldedSearch) ? 1 : 2;
  };
  const matches = matchesByType
    .flat()
    .map((entry) => ({ entry, rank: rank(entry), kind: kinds.indexOf(entry.type) }))
    .toSorted((a, b) => a.rank - b.rank || a.kind - b.kind || (a.entry.created_at < b.entry.created_at ? 1 : -1))
    .map(({ entry }) => entry);
  const last = new Set(matches.filter(({ type }) => type === "backup").slice(BACKUPS_FIRST));
  return [...matches.filter((entry) => !last.has(entry)), ...last]
    .slice(0, limit)
    .map((entry) => ({ ...entry, id: idOfShort(entry.type, entry.short) }));
}

/** What a list is called in its cursors: its filters, which a cursor of another list does not have. */
const buildName = (kind: string, { label = [], search, sort }: Finding, filters: object): string =>
  JSON.stringify([kind, label.toSorted(), search ?? null, sort ?? "created_at", filters]);

interface FoundPage {
  records: Item[];
  /** Everything that was read with them, by key. */
  read: Map<string, Item>;
  meta: ListMeta;
}

/** A page of what is found; `also` names what is read with each record, in the same call. */
export async function findPage(
  { kind, accountId }: { kind: ResourceType; accountId: string },
  { finding, filters, page }: { finding: Finding; filters: Filters; page: PageQuery },
  also: (entry: Entry) => Key[] = () => [],
): Promise<FoundPage> {
  const [entries, sideFacts] = await Promise.all([
    readEntries(kind, accountId),
    readSideFacts(kind, accountId, finding, filters),
  ]);
  const matches = entries.filter(isMeant(kind, { ...finding, ...filters, page }, sideFacts));
  const sortKey = sortKeyIn(finding.sort);
  const listed: Listed<Entry> = slicePage(
    matches.map((value) => ({ value, sortKey: sortKey(value) })),
    inOrder(page, finding),
    buildName(kind, finding, filters),
  );
  const recordKey = ({ short }: Entry) => keys.record(kind, accountId, idOfShort(kind, short));
  const read = await readAll(
    listed.items.flatMap((entry) => [recordKey(entry), ...also(entry)]),
    { consistent: false },
  );
  return {
    records: listed.items.flatMap((entry): Item[] => {
      const record = read.get(keyString(recordKey(entry)));
      return record === undefined ? [] : [record]; // it may have been removed since
    }),
    read,
    meta: capTotal(listed.meta),
  };
}

/** The same for the list of a parent, which is small and read whole. */
export async function findChildren<T>(
  { kind, accountId, schema }: { kind: ResourceType; accountId: string; schema: z.ZodType<T> },
  parentId: string,
  { finding, filters, page }: { finding: Finding; filters: Filters; page: PageQuery },
): Promise<Listed<T> & { isEmpty: boolean }> {
  const [items, { isActive }] = await Promise.all([
    readChildren(kind, accountId, parentId),
    readSideFacts(kind, accountId, {}, { health: filters.health }),
  ]);
  const isMatch = isMeant(kind, { ...finding, ...filters, page }, { ...NO_SIDE_FACTS, isActive });
  const sortKey = sortKeyIn(finding.sort);
  const matches = items.flatMap((value) => {
    const entry = entryOfRecord(kind, value);
    return isMatch(entry) ? [{ value, sortKey: sortKey(entry) }] : [];
  });
  const listed = slicePage(matches, inOrder(page, finding), buildName(kind, finding, { ...filters, parentId }));
  return { items: parseEach(schema, listed.items), meta: listed.meta, isEmpty: items.length === 0 };
}

export const capTotal = (meta: ListMeta): ListMeta =>
  meta.total > LISTED_MAX ? { ...meta, total: LISTED_MAX, total_capped: true } : meta;
