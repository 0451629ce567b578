// What the jobs of operations have logged, kept once these have ended: deflated, in parts that an item can hold.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { putOne, queryAll } from "../data/table.ts";
import { WORK_LOG } from "../domain/limits.ts";
import { log } from "../platform/log.ts";
import { DAY_SECONDS } from "../domain/durations.ts";
import { ttlAfter } from "../data/ttl.ts";

interface LogOwner {
  account_id: string;
  id: string;
}

/** An item has at most 400 KB. */
const PART_BYTES = 380_000;

/** Twice has the same effect as once. */
export async function storeWorkLog({ account_id, id }: LogOwner, text: string): Promise<void> {
  const packed = deflateRawSync(Buffer.from(text));
  const ttl = ttlAfter(WORK_LOG.days * DAY_SECONDS);
  for (let part = 0; part * PART_BYTES < packed.length; part++) {
    const d = packed.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
    await putOne({ pk: keys.workLog(account_id, id), sk: String(part) }, { d, ttl });
  }
}

const Part = z.object({ d: z.instanceof(Uint8Array) });

/** Empty if nothing was logged, or it was too long ago. */
export async function findWorkLog({ account_id, id }: LogOwner): Promise<string> {
  const parts = parseEach(Part, await queryAll(keys.workLog(account_id, id), { consistent: true }));
  if (parts.length === 0) return "";
  const packed = Buffer.concat(parts.map(({ d }) => d));
  try {
    return inflateRawSync(packed, { maxOutputLength: 4 * WORK_LOG.bytesMax }).toString("utf8");
  } catch (error) {
    // Whoever stored it was killed after the first parts, and found another text, or none, when they tried again.
    log.warn("the log of an operation that is stored cannot be read", { operation: id, error });
    return "";
  }
}
