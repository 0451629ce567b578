// What a change did to a resource, for its event in the audit log: each field with its value before and after.
import { isDeepStrictEqual } from "node:util";
import type { FieldChange } from "../api/events.ts";
import { jsonBytes } from "../domain/json-bytes.ts";

/** Events name these fields without values, which are secrets, may contain some, or can only be written. */
const UNSEEN: ReadonlySet<string> = new Set(["password", "admin_password", "environment", "sections", "url", "client_secret"]);

/** All changes of one event in JSON: an event is one item, of which each KB is written three times. */
const BYTES_MAX = 4_096;

/** The fields that differ, with their values as far as there is room for them. */
export function changesBetween(before: object, after: object, fields: readonly string[]): FieldChange[] {
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const changed = fields.filter((field) => !isDeepStrictEqual(was.get(field) ?? null, is.get(field) ?? null));
  let room = BYTES_MAX - jsonBytes(changed.map((field) => ({ field })));
  return changed.map((field) => {
    const values = { before: was.get(field) ?? null, after: is.get(field) ?? null };
    if (UNSEEN.has(field) || jsonBytes(values) > room) return { field };
    room -= jsonBytes(values);
    return { field, ...values };
  });
}
