// Rate limits that are reached without as many requests, and stay so however slow the machine is.
import type { Key } from "../../shared/data/keys.ts";
import { freeSlots } from "../../shared/data/slots.ts";
import { encodeStamp } from "../../shared/data/stamps.ts";
import { updateOne } from "../../shared/data/table.ts";
import { REQUEST_LIMITS } from "../../shared/domain/limits.ts";

const AHEAD_MS = 600_000;

interface Taken {
  all?: number;
  create_delete?: number;
}

/** Takes this many slots of a credential, as if its requests had been made in ten minutes' time, and frees the others. */
export async function takeSlots({ key }: { key: Key }, { all = 0, create_delete = 0 }: Taken): Promise<void> {
  const stamp = encodeStamp(Date.now() + AHEAD_MS);
  const slots = (count: number, of: number) => [...Array.from({ length: count }, () => stamp), ...freeSlots(of - count)];
  const set = { all: slots(all, REQUEST_LIMITS.all), create_delete: slots(create_delete, REQUEST_LIMITS.create_delete) };
  await updateOne(key, { set }, {});
}
