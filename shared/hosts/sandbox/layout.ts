// What is in an archive, by the names and the first bytes of its files, as a machine sees it: script/files/layout.py.
import { constants, gunzipSync } from "node:zlib";
import { compose, inEnglish, type Reason } from "../../domain/reasons.ts";
import { ARCHIVE_RULES, type ArchiveSentence, buildReason } from "../archive-rules.ts";

const HEAD_BYTES = 4096;
/** So many names are looked at to say what an archive without a dump is. */
const NAMES_EXAMINED = 1000;
const ADDED = new RegExp(`^(?:${ARCHIVE_RULES.added})$`, "i");
const ADDED_OR_FOLDER = new RegExp(`^(?:${ARCHIVE_RULES.added_or_folder})$`, "i");
const HASHED_AT_END = /(?:^|\/)[0-9a-f]{2}\/[0-9a-f]{40}$/i;
const HASHED = /^[0-9a-f]{2}\/[0-9a-f]{40}$/i;

/** The archive is invalid; the reason tells the user why. */
export class Unusable extends Error {
  override name = "Unusable";
  readonly reason: Reason;
  constructor(reason: Reason, options?: ErrorOptions) {
    super(inEnglish(reason), options);
    this.reason = reason;
  }
}

export const unusable = (sentence: ArchiveSentence, values?: Readonly<Record<string, string | Reason>>): Unusable =>
  new Unusable(buildReason(ARCHIVE_RULES.sentences[sentence], values));

/** Printable, and of a readable length. */
export const printable = (name: string): string =>
  Array.from(name, (character) => (character === " " || !/[\p{C}\p{Z}]/u.test(character) ? character : "\uFFFD"))
    .slice(0, 120)
    .join("");

/** What a file is, by its first bytes; undefined if that is unknown. */
function recognizeKind(head: Buffer) {
  const text = head.subarray(0, HEAD_BYTES).toString("latin1");
  const kind = ARCHIVE_RULES.kinds.find(({ pattern }) => new RegExp(pattern, "i").test(text));
  return kind && { ...kind, values: { is: compose(kind.is, {}), advice: compose(kind.advice, {}) } };
}

/** Whether these bytes are a zip that was damaged on its way. */
export const isDamagedZip = (head: Buffer): boolean => recognizeKind(head)?.spoiled === true;

/** The error about a file that is no zip. */
export function describeNonZip(head: Buffer): Unusable {
  const kind = recognizeKind(head);
  if (kind === undefined) return unusable("noZip");
  const inner = head.toString("latin1", 0, 2) === "\x1f\x8b" ? recognizeKind(unzippedHead(head)) : undefined;
  return inner === undefined ? unusable("kind", kind.values) : unusable("inGzip", inner.values);
}

function unzippedHead(head: Buffer): Buffer {
  try {
    return gunzipSync(head.subarray(0, HEAD_BYTES), { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 ** 2 });
  } catch {
    return Buffer.alloc(0); // damaged, so that nobody knows what is in it
  }
}

/** The name of a file in a backup: the folders around the backup, joined by slashes, and its path in it. */
interface OwnName {
  top: string;
  path: string;
}

/** The folder or file in a path that systems and programs add. */
const addedPart = (parts: readonly string[]): string | undefined => parts.find((part) => ADDED.test(part));

function pathParts(name: string): string[] {
  const parts = (name.includes("/") ? name : name.replaceAll("\\", "/")).split("/");
  while (parts.length > 1 && parts[0] === ".") parts.shift();
  return parts;
}

/** Undefined for folders, and for what systems and programs add. */
export function ownName(name: string): OwnName | undefined {
  const parts = pathParts(name);
  const isFolder = parts.at(-1) === "";
  if (isFolder) parts.pop();
  const isImpossible = (part: string): boolean => ["", ".", ".."].includes(part) || Buffer.byteLength(part) > 255;
  if (name.includes("\0") || parts.length > ARCHIVE_RULES.depth_max || parts.some(isImpossible)) throw unusableName(name);
  if (isFolder || addedPart(parts) !== undefined || ADDED_OR_FOLDER.test(parts.at(-1) ?? "")) return undefined;
  const ownIndex = parts.findIndex((part, index) =>
    index === parts.length - 1 ? ["dump.sql", "manifest.json"].includes(part.toLowerCase()) : part.toLowerCase() === "filestore",
  );
  if (ownIndex < 0) {
    if (parts.some((part) => ADDED_OR_FOLDER.test(part))) return undefined;
    throw unusableName(name);
  }
  const top = parts.slice(0, ownIndex).join("/");
  if (ownIndex === parts.length - 1) return { top, path: (parts[ownIndex] ?? "").toLowerCase() };
  const path = parts.slice(ownIndex + 1).join("/");
  if (Buffer.byteLength(path) > ARCHIVE_RULES.name_bytes_max) throw unusableName(name);
  return { top, path: `filestore/${path.replace(HASHED_AT_END, (hashed) => hashed.toLowerCase())}` };
}

const IN_FOLDER = /^filestore\/(?:(.+)\/)?[0-9a-f]{2}\/[0-9a-f]{40}$/;

/** The paths of a backup's files; those that all share a folder of their own, such as their database's, without it. */
export function withoutExtraFolder(paths: readonly string[], database: string): string[] {
  const folders = paths.flatMap((path) => {
    const match = IN_FOLDER.exec(path);
    return match === null || /(?:^|\/)checklist$/i.test(match[1] ?? "") ? [] : [match[1]];
  });
  const extra = extraFolder([...new Set(folders)], database);
  if (extra === undefined) return [...paths];
  const folder = `filestore/${extra}/`;
  const isMoved = (path: string): boolean => path.startsWith(folder) && HASHED.test(path.slice(folder.length));
  return paths.map((path) => (isMoved(path) ? `filestore/${path.slice(folder.length)}` : path));
}

/** Undefined stands for filestore/ itself. */
function extraFolder(folders: readonly (string | undefined)[], database: string): string | undefined {
  const names = folders.filter((folder) => folder !== undefined).toSorted();
  const [first = "", second = ""] = names;
  if (names.length < folders.length || names.length < 2) return folders.length === 1 ? names[0] : undefined;
  const exact = names.filter((folder) => folder.split("/").at(-1) === database);
  const alike = names.filter((folder) => canonical(folder.split("/").at(-1)) === canonical(database));
  const [match, ...others] = exact.length > 0 ? exact : alike;
  if (match === undefined || others.length > 0)
    throw unusable("filestores", { name: printable(first), other: printable(second) });
  return match;
}

/** Returns a name without what file systems change. */
const canonical = (name = ""): string => name.normalize("NFC").toLowerCase();

const unusableName = (name: string): Unusable => unusable("strange", { name: printable(name) });

/** What an archive's listing says that it contains. Throws if that is no backup. */
export function requireBackup(names: readonly string[]): void {
  const examined: string[] = [];
  const dumps = new Map<string, string>();
  const first = new Map<string, string>();
  const manifests = new Set<string>();
  const strange: string[] = [];
  let [fault, skipped, files]: [Unusable | undefined, string | undefined, number] = [undefined, undefined, 0];
  for (const name of names) {
    try {
      const place = ownName(name);
      if (place === undefined) {
        skipped ??= skippedFolder(name);
        continue;
      }
      if (place.path === "dump.sql" && !dumps.has(place.top)) dumps.set(place.top, name);
      if (place.path === "manifest.json") manifests.add(place.top);
      if (place.path.startsWith("filestore/")) files += 1;
      if (!first.has(place.top)) first.set(place.top, name);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      fault ??= error;
      strange.push(name);
    }
    examined.push(name);
  }
  const [[top, dump] = [], [, other] = []] = dumps;
  if (dump === undefined) throw withoutDump(examined.slice(0, NAMES_EXAMINED), skipped);
  if (other !== undefined) throw unusable("several", { name: printable(dump), other: printable(other) });
  const apart = [...first].find(([folder]) => folder !== top)?.[1];
  if (apart !== undefined) throw unusable("apart", { name: printable(dump), other: printable(apart) });
  const packed = files === 0 ? findAstray("filestore", strange) : undefined;
  if (packed !== undefined) throw packed;
  if (manifests.size === 0) throw findAstray("manifest", strange) ?? unusable("noManifest");
  if (fault !== undefined) throw fault;
}

/** Returns the folder in a dump.sql's path that systems and programs add; undefined for any other name. */
function skippedFolder(name: string): string | undefined {
  const parts = pathParts(name);
  return parts.pop()?.toLowerCase() === "dump.sql" ? addedPart(parts) : undefined;
}

/** Says of a name that is not the ERP's that it is what the archive lacks. */
function findAstray(lacks: "filestore" | "manifest", names: readonly string[]): Unusable | undefined {
  const rows = ARCHIVE_RULES.astray.filter((row) => row.lacks === lacks);
  for (const name of names) {
    const row = rows.find(({ pattern }) => new RegExp(pattern, "i").test(name));
    if (row !== undefined) return new Unusable(buildReason(row.says, { name: printable(name) }));
  }
  return undefined;
}

function withoutDump(names: readonly string[], skipped: string | undefined): Unusable {
  const [first] = names;
  if (first === undefined) return skipped === undefined ? unusable("empty") : unusable("skipped", { name: printable(skipped) });
  for (const { pattern, says } of ARCHIVE_RULES.inside) {
    const name = names.find((each) => new RegExp(pattern, "i").test(each));
    if (name !== undefined) return new Unusable(buildReason(says, { name: printable(name) }));
  }
  return unusable("noDump", { name: printable(first) });
}

const HEADER = /^-- PostgreSQL database dump\r?$/m;
const FOOTER = /^-- PostgreSQL database dump complete\r?$/m;

/** Whether a dump.sql is a plain SQL dump of PostgreSQL, and whole: what is cut off may be valid SQL all the same. */
export function requirePlainDump(dump: Buffer): void {
  if (dump.length === 0) throw unusable("emptyDump");
  const kind = recognizeKind(dump);
  if (kind !== undefined && kind.dump !== true) throw unusable("dump", kind.values);
  const [head, tail] = [dump.toString("latin1", 0, HEAD_BYTES), dump.toString("latin1", Math.max(0, dump.length - HEAD_BYTES))];
  if (HEADER.test(head) && !FOOTER.test(tail)) throw unusable("incompleteDump");
}
