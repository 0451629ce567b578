// Ids: TypeID strings (UUIDv7 behind a prefix), sortable by the time they were made.
import { typeidUnboxed } from "typeid-js";
import * as z from "zod";
import { ID_PREFIXES, type IdKind, id } from "../api/fields.ts";

export const newId = (kind: IdKind): string => typeidUnboxed(ID_PREFIXES[kind]);

const SCHEMAS = new Map<IdKind, z.ZodType<string>>();

/** Whether a string has the form of an id of this kind; it may still name nothing. */
export function isId(kind: IdKind, value: string): boolean {
  const schema = SCHEMAS.get(kind) ?? id(kind);
  SCHEMAS.set(kind, schema);
  return schema.safeParse(value).success;
}
