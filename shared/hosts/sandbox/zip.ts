// Reads zip files by a machine's rules (script/files/reader.py), within the memory of a function. Of what a zip says of itself,
// in its listing or in front of each file, everything is compared with what was read.
import { crc32, inflateRawSync } from "node:zlib";
import * as z from "zod";
import { because } from "../../domain/reasons.ts";
import { ARCHIVE_RULES, unknownMethod } from "../archive-rules.ts";
import { isDamagedZip, ownName, requireBackup, printable, unusable, Unusable, describeNonZip } from "./layout.ts";

/** Far more than a sandbox packs, and little enough for a function's memory. */
const ENTRIES_MAX = 10_000;
const UNPACKED_MAX = 16 * 1024 * 1024;

const [LOCAL, CENTRAL, END, END64, LOCATOR64, DESCRIPTOR] = [
  0x04034b50, 0x02014b50, 0x06054b50, 0x06064b50, 0x07064b50, 0x08074b50,
];
const [MAX32, MAX16] = [0xffffffff, 0xffff];
const [STREAMED, UTF8, ENCRYPTED] = [0x0008, 0x0800, 0x2041];
const END_BYTES = 22;
/** The longest comment behind the end of a listing, and more. */
const TAIL_BYTES = 1024 ** 2;

/** The files of a backup, by their paths in it. */
export function unzip(bytes: Uint8Array): Map<string, Buffer> {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begins = zip.length >= 4 ? zip.readUInt32LE(0) : 0;
  if (![LOCAL, END].includes(begins) || isDamagedZip(zip)) throw describeNonZip(zip);
  const listed = readListing(zip);
  requireBackup(listed.entries.map(({ name }) => name));
  const unpacked = listed.entries.reduce((sum, { size }) => sum + size, 0);
  if (listed.entries.length > ENTRIES_MAX || unpacked > UNPACKED_MAX) throw new Unusable(because("archive_unpacks_over_sandbox"));
  return readFiles(zip, listed, unpacked);
}

/** What the listing, and the file's own head, say of a file. `offset` is where it begins. */
interface Entry {
  name: string;
  flags: number;
  method: number;
  crc: number;
  packed: number;
  size: number;
  offset: number;
}

function requireReadable({ name, flags, method }: Entry): void {
  if ((flags & ENCRYPTED) !== 0) throw unusable("encrypted");
  if (method === 0 || method === 8) return;
  throw unusable("method", { name: printable(name), method: ARCHIVE_RULES.methods[method] ?? unknownMethod(String(method)) });
}

interface Cursor {
  bytes: Buffer;
  offset: number;
}

/** The next bytes. */
function take(cursor: Cursor, count: number): Buffer {
  const { bytes, offset } = cursor;
  if (offset + count > bytes.length) throw unusable("damaged");
  cursor.offset += count;
  return bytes.subarray(offset, offset + count);
}

interface Listing {
  start: number;
  size: number;
  entries: Entry[];
}

function readListing(zip: Buffer): Listing {
  const { start, size, count } = findListing(zip);
  const cursor: Cursor = { bytes: zip, offset: start };
  const entries: Entry[] = [];
  while (cursor.offset < start + size) {
    if (take(cursor, 4).readUInt32LE() !== CENTRAL) throw unusable("damaged");
    const entry = listedEntry(cursor);
    requireReadable(entry);
    entries.push(entry);
  }
  if ((entries.length & MAX16) !== (count & MAX16)) throw unusable("listing");
  return { start, size, entries };
}

/** Finds the listing by the record at the zip's end. A comment may look like another such record. */
function findListing(zip: Buffer): { start: number; size: number; count: number } {
  let fault: Unusable | undefined;
  const first = Math.max(0, zip.length - TAIL_BYTES);
  for (let offset = zip.length - END_BYTES; offset >= first; offset--) {
    if (zip.readUInt32LE(offset) !== END) continue;
    const wide = wideEnd(zip, offset);
    const disk = zip.readUInt16LE(offset + 4);
    const narrow = {
      count: zip.readUInt16LE(offset + 10),
      size: zip.readUInt32LE(offset + 12),
      start: zip.readUInt32LE(offset + 16),
    };
    const { count, size, start, stop } = { ...narrow, stop: offset, ...wide?.record };
    if ((disk !== 0 && disk !== MAX16) || (wide !== undefined && wide.disks > 1)) fault ??= unusable("split");
    else if (start + size === stop) return { start, size, count };
    else fault ??= unusable(start + size > stop ? "beginning" : "before");
  }
  throw fault ?? unusable("incomplete");
}

function wideEnd(zip: Buffer, end: number) {
  if (end < 20 || zip.readUInt32LE(end - 20) !== LOCATOR64) return undefined;
  const stop = Number(zip.readBigUInt64LE(end - 12));
  const isThere = stop <= end - 56 && zip.readUInt32LE(stop) === END64;
  const at = (offset: number): number => Number(zip.readBigUInt64LE(stop + offset));
  return { disks: zip.readUInt32LE(end - 4), record: isThere ? { count: at(32), size: at(40), start: at(48), stop } : undefined };
}

/** Reads an entry of the listing, behind its mark; throws if it is a link or a device. */
function listedEntry(cursor: Cursor): Entry {
  const head = take(cursor, 42);
  const raw = take(cursor, head.readUInt16LE(24));
  const extra = take(cursor, head.readUInt16LE(26));
  take(cursor, head.readUInt16LE(28));
  const isUnix = [3, 19].includes(head.readUInt16LE(0) >> 8); // macOS, too
  const kind = isUnix ? (head.readUInt32LE(34) >>> 16) & 0o170000 : 0;
  if (kind === 0o120000) throw unusable("links");
  if (![0, 0o100000, 0o040000].includes(kind)) throw unusable("devices");
  const [size = 0, packed = 0, offset = 0] = widened(extra, [
    head.readUInt32LE(20),
    head.readUInt32LE(16),
    head.readUInt32LE(38),
  ]);
  const flags = head.readUInt16LE(4);
  return {
    name: decodeName(raw, flags, extra),
    flags,
    method: head.readUInt16LE(6),
    crc: head.readUInt32LE(12),
    packed,
    size,
    offset,
  };
}

function localEntry(cursor: Cursor): Entry {
  const offset = cursor.offset - 4;
  const head = take(cursor, 26);
  const raw = take(cursor, head.readUInt16LE(22));
  const extra = take(cursor, head.readUInt16LE(24));
  const [size = 0, packed = 0] = widened(extra, [head.readUInt32LE(18), head.readUInt32LE(14)]);
  const flags = head.readUInt16LE(2);
  return {
    name: decodeName(raw, flags, extra),
    flags,
    method: head.readUInt16LE(4),
    crc: head.readUInt32LE(10),
    packed,
    size,
    offset,
  };
}

/** One file after the other from the beginning, so that none is read twice. Then the listing must have the same. */
function readFiles(zip: Buffer, { start, size, entries }: Listing, unpacked: number): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const folders = new Set<string>();
  const listed = new Set(entries.map(toComparable));
  const cursor: Cursor = { bytes: zip, offset: 0 };
  let [count, bytesLeft] = [0, unpacked];
  while (take(cursor, 4).readUInt32LE() === LOCAL) {
    const entry = localEntry(cursor);
    count += 1;
    if (count > entries.length) throw unusable("moreFiles");
    requireReadable(entry);
    const path = ownName(entry.name)?.path;
    if (path !== undefined) requireNew(files, folders, path, entry.name);
    const { content, ...sums } = readContent(cursor, entry, bytesLeft);
    bytesLeft -= content.length;
    if (path !== undefined) files.set(path, content);
    if (!listed.delete(toComparable({ ...entry, ...sums, size: content.length }))) throw unusable("listing");
  }
  if (listed.size > 0 || count !== entries.length || cursor.offset - 4 !== start)
    throw unusable(count > 0 ? "listing" : "damaged");
  requireSameEnd(zip, { start, size, count });
  return files;
}

const toComparable = ({ name, method, crc, packed, size, offset }: Entry): string =>
  JSON.stringify([name, method, crc, packed, size, offset]);

function requireNew(files: ReadonlyMap<string, unknown>, folders: Set<string>, path: string, name: string): void {
  if (files.has(path)) throw unusable("twice", { name: printable(name) });
  const above = path.split("/").flatMap((_, index, parts) => (index === 0 ? [] : [parts.slice(0, index).join("/")]));
  if (folders.has(path) || above.some((folder) => files.has(folder))) throw unusable("folder", { name: printable(name) });
  for (const folder of above) folders.add(folder);
}

/** What a zip with two ends would show to one program and not to another. */
function requireSameEnd(zip: Buffer, { start, size, count }: { start: number; size: number; count: number }): void {
  const cursor: Cursor = { bytes: zip, offset: start + size };
  let mark = take(cursor, 4).readUInt32LE();
  if (mark === END64) {
    take(cursor, Number(take(cursor, 8).readBigUInt64LE()));
    if (take(cursor, 4).readUInt32LE() !== LOCATOR64) throw unusable("listing");
    take(cursor, 16);
    mark = take(cursor, 4).readUInt32LE();
  }
  if (mark !== END) throw unusable("damaged");
  const end = take(cursor, 18);
  const isRight = (headerValue: number, real: number, max: number): boolean => headerValue === real || headerValue === max;
  if (!isRight(end.readUInt16LE(6), count & MAX16, MAX16)) throw unusable("listing");
  if (!isRight(end.readUInt32LE(8), size, MAX32) || !isRight(end.readUInt32LE(12), start, MAX32)) throw unusable("listing");
}

interface Content {
  content: Buffer;
  crc: number;
  packed: number;
}

function readContent(cursor: Cursor, entry: Entry, bytesLeft: number): Content {
  const isStreamed = (entry.flags & STREAMED) !== 0;
  const [start, content] = [
    cursor.offset,
    isStreamed && entry.method === 0 && entry.packed === 0 ? readStreamed(cursor) : readData(cursor, entry, bytesLeft),
  ];
  if (content.length > bytesLeft) throw unusable("moreBytes");
  const sums = { crc: crc32(content), packed: cursor.offset - start };
  if (isStreamed) takeDescriptor(cursor, { ...sums, size: content.length });
  else if (entry.crc !== sums.crc || entry.packed !== sums.packed || entry.size !== content.length) throw unusable("damaged");
  return { content, ...sums };
}

const Inflated = z.object({ buffer: z.instanceof(Buffer), engine: z.object({ bytesWritten: z.number() }) });

function readData(cursor: Cursor, { method, packed }: Entry, bytesLeft: number): Buffer {
  if (method === 0 && Math.min(packed, cursor.bytes.length - cursor.offset) > bytesLeft) throw unusable("moreBytes");
  if (method === 0) return take(cursor, packed);
  try {
    const options = { info: true, maxOutputLength: Math.max(1, bytesLeft) };
    const { buffer, engine } = Inflated.parse(inflateRawSync(cursor.bytes.subarray(cursor.offset), options));
    take(cursor, engine.bytesWritten);
    return buffer;
  } catch (error) {
    throw unusable(error instanceof RangeError ? "moreBytes" : "damaged");
  }
}

/** A stored file whose size only follows it ends where a descriptor bears out all that was read. */
function readStreamed(cursor: Cursor): Buffer {
  const { bytes, offset } = cursor;
  const mark = Buffer.alloc(4);
  mark.writeUInt32LE(DESCRIPTOR);
  let [crc, summed] = [0, offset];
  for (let end = bytes.indexOf(mark, offset); end >= 0; end = bytes.indexOf(mark, end + 1)) {
    crc = crc32(bytes.subarray(summed, end), crc);
    summed = end;
    const sums = { crc, packed: end - offset, size: end - offset };
    if (descriptorLength(bytes.subarray(end + 4), sums) !== undefined) return take(cursor, end - offset);
  }
  throw unusable("damaged");
}

type Sums = Pick<Entry, "crc" | "packed" | "size">;

/** Takes a descriptor with or without its mark, with sizes of 4 or of 8 bytes: nothing says which. */
function takeDescriptor(cursor: Cursor, sums: Sums): void {
  if (cursor.bytes.readUInt32LE(cursor.offset) === DESCRIPTOR) take(cursor, 4);
  const length = descriptorLength(cursor.bytes.subarray(cursor.offset), sums);
  if (length === undefined) throw unusable("damaged");
  take(cursor, length);
}

function descriptorLength(bytes: Buffer, { crc, packed, size }: Sums): number | undefined {
  if (bytes.length < 20 || bytes.readUInt32LE(0) !== crc) return undefined;
  if (bytes.readUInt32LE(4) === packed && bytes.readUInt32LE(8) === size) return 12;
  return bytes.readBigUInt64LE(4) === BigInt(packed) && bytes.readBigUInt64LE(12) === BigInt(size) ? 20 : undefined;
}

function extraField(extra: Buffer, id: number): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id) return extra.subarray(at + 4, end);
    at = end;
  }
  return undefined;
}

/** Values that are too large for 32 bits are in an extra field, in this order. */
function widened(extra: Buffer, values: readonly number[]): number[] {
  let wide = extraField(extra, 1) ?? Buffer.alloc(0);
  return values.map((value) => {
    if (value !== MAX32 || wide.length < 8) return value;
    const number = Number(wide.readBigUInt64LE(0));
    wide = wide.subarray(8);
    return number;
  });
}

/** The upper half of MS-DOS's code page 437. */
const CP437 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";

/** Decodes a name that is in UTF-8, whether that is declared or not, or as MS-DOS wrote it. */
function decodeName(raw: Buffer, flags: number, extra: Buffer): string {
  const isDeclared = (flags & UTF8) !== 0;
  const path = extraField(extra, 0x7075);
  const isOfName = path !== undefined && path.length >= 5 && path[0] === 1 && path.readUInt32LE(1) === crc32(raw);
  const name = !isDeclared && isOfName ? path.subarray(5) : raw;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(name);
  if (isDeclared || Buffer.compare(Buffer.from(text), name) === 0) return text;
  return Array.from(name, (byte) => (byte < 128 ? String.fromCharCode(byte) : CP437[byte - 128])).join("");
}
