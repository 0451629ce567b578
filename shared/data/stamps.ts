// Times in five bytes: milliseconds since 2026, which lasts until 2060. DynamoDB compares bytes as it does numbers, and a number
// of as many digits takes nine in a list: a credential's item, which every request writes, would need a second write unit.
import * as z from "zod";
import { STAMP } from "./codes.ts";

const { bytes: BYTES, epoch: EPOCH } = STAMP;

/** The stamp of a time (ms since 1970); a time before 2026 counts as never. */
export function encodeStamp(at: number): Buffer {
  const stamp = Buffer.alloc(BYTES);
  stamp.writeUIntBE(Math.max(0, at - EPOCH), 0, BYTES);
  return stamp;
}

/** A stamp before all times. */
export const NEVER = encodeStamp(0);

/** The time of a stamp (ms since 1970); 0 for never. */
export function decodeStamp(stamp: Uint8Array): number {
  const since = Buffer.from(stamp).readUIntBE(0, BYTES);
  return since === 0 ? 0 : since + EPOCH;
}

export const Stamp = z.instanceof(Uint8Array).transform(decodeStamp);
