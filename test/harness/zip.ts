// Writes zip files byte by byte: as programs write them that are not here, and as nobody should.
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  name: string | Buffer;
  data?: Buffer | string;
  /** 0 and 8 compress; others only say so. */
  method?: number;
  flags?: number;
  /** Sizes and checksum follow the data, with sizes of so many bytes, with or without a mark. */
  streamed?: 4 | 8 | "without mark";
  extra?: Buffer;
  /** The system and the attributes in the listing. */
  system?: number;
  mode?: number;
  /** What the listing says instead of the truth. */
  listed?: { name?: string; size?: number; packed?: number; crc?: number; place?: number; method?: number };
  /** What the file's own head says instead of the truth. */
  head?: { size?: number; packed?: number; crc?: number };
  /** The only one of the two that has the file. */
  only?: "file" | "listing";
}

export interface ZipOptions {
  before?: Buffer;
  comment?: string;
  after?: Buffer;
  /** The listing in another order than the files. */
  reversed?: boolean;
  end?: { disk?: number; count?: number; size?: number; start?: number };
}

const UTF8 = 0x0800;
const STREAMED = 0x0008;

const u16 = (...values: number[]): Buffer => Buffer.concat(values.map((value) => Buffer.from([value & 255, (value >> 8) & 255])));
function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, index * 4);
  return bytes;
}
function u64(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), index * 8);
  return bytes;
}
const mark = (third: number, fourth: number): Buffer => Buffer.from([0x50, 0x4b, third, fourth]);

export function writeZip(
  entries: readonly ZipEntry[],
  { before, comment = "", after, reversed = false, end = {} }: ZipOptions = {},
): Buffer {
  const files: Buffer[] = before === undefined ? [] : [before];
  let place = before?.length ?? 0;
  const listing = entries.map((entry) => {
    const { local, central } = bytesOf(entry, place);
    if (entry.only !== "listing") {
      files.push(local);
      place += local.length;
    }
    return entry.only === "file" ? Buffer.alloc(0) : central;
  });
  const central = Buffer.concat(reversed ? listing.toReversed() : listing);
  const count = end.count ?? entries.filter(({ only }) => only !== "file").length;
  const note = Buffer.from(comment);
  const tail = Buffer.concat([
    mark(5, 6),
    u16(end.disk ?? 0, 0, count, count),
    u32(end.size ?? central.length, end.start ?? place),
    u16(note.length),
    note,
  ]);
  return Buffer.concat([...files, central, tail, after ?? Buffer.alloc(0)]);
}

function bytesOf(entry: ZipEntry, place: number): { local: Buffer; central: Buffer } {
  const { method = 8, extra = Buffer.alloc(0), system = 3, mode = 0o100644, streamed, head = {}, listed = {} } = entry;
  const name = Buffer.from(entry.name);
  const data = Buffer.from(entry.data ?? "");
  const packed = method === 8 ? deflateRawSync(data) : data;
  const flags = (entry.flags ?? UTF8) | (streamed === undefined ? 0 : STREAMED);
  const truth = { crc: crc32(data), packed: packed.length, size: data.length };
  const localSizes = streamed === undefined ? truth : { crc: 0, packed: 0, size: 0 };
  const ahead = { ...localSizes, ...head };
  const local = [
    mark(3, 4),
    u16(20, flags, method, 0, 0x21),
    u32(ahead.crc, ahead.packed, ahead.size),
    u16(name.length, extra.length),
    name,
    extra,
    packed,
  ];
  if (streamed !== undefined) {
    const sizes = streamed === 8 ? u64(truth.packed, truth.size) : u32(truth.packed, truth.size);
    local.push(streamed === "without mark" ? Buffer.alloc(0) : mark(7, 8), u32(truth.crc), sizes);
  }
  const listing = { ...truth, place, method, name, ...listed };
  const title = Buffer.from(listing.name);
  const central = Buffer.concat([
    mark(1, 2),
    Buffer.from([20, system]),
    u16(20, flags, listing.method, 0, 0x21),
    u32(listing.crc, listing.packed, listing.size),
    u16(title.length, extra.length, 0, 0, 0),
    u32(mode * 65536, listing.place),
    title,
    extra,
  ]);
  return { local: Buffer.concat(local), central };
}
