// The version of a record that a request changes: its ETag, and the condition that it is still as it was read.
import type * as z from "zod";
import { preconditionFailed } from "../api/errors.ts";
import { buildEtag, versionedFields } from "../domain/etag.ts";
import { type Key, keyString, type Item } from "./keys.ts";
import type { Ref } from "./table.ts";
import { check, keyOfWrite, onlyIfUnchanged, type Write } from "./writes.ts";

export interface Version {
  key: Key;
  etag: string;
  /** Everything that counts, as it was read. */
  values: Item;
  /** The ETag of the record as it is now. */
  buildEtag: (current: Item) => string;
}

interface Kind<T> {
  /** The public fields of such a record. */
  publicSchema: z.ZodObject;
  unversioned: readonly string[];
  /** The public name for the stored `state`. */
  status?: (record: T) => string;
  /** Fields that are shown in another form than they are stored in. */
  represent?: (record: T) => object;
}

export function computeVersion<T extends object>(
  { key, schema }: Ref<T>,
  record: T,
  { publicSchema, unversioned, status, represent }: Kind<T>,
): Version {
  const fields = versionedFields(publicSchema.shape, unversioned);
  const values = Object.fromEntries(Object.entries(record).filter(([name]) => fields.includes(name)));
  const tag = (each: T) =>
    buildEtag({ ...each, ...(status !== undefined && { status: status(each) }), ...represent?.(each) }, fields);
  return {
    key,
    etag: tag(record),
    values: "state" in record ? { ...values, state: record.state } : values,
    buildEtag: (current) => tag(schema.parse(current)),
  };
}

/** The writes with the condition that a record is as it was read: on its own write, which then comes first, or as a check. */
export function withVersion(writes: readonly Write[], { key, etag, values, buildEtag: etagNow }: Version): Write[] {
  const changed = (current: Item): Error | undefined => {
    const now = etagNow(current);
    return now === etag ? undefined : preconditionFailed(now);
  };
  const ownWrite = writes.find((write) => keyOfWrite(write) === keyString(key));
  return [onlyIfUnchanged(ownWrite ?? check(key, {}), values, changed), ...writes.filter((write) => write !== ownWrite)];
}
