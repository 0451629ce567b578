// How records of an account are found by their IDs.
import type * as z from "zod";
import { notFound } from "../api/errors.ts";
import { isId } from "../domain/ids.ts";
import { keys, type ListKind } from "./keys.ts";
import { type Listed, pageByIds } from "./pages.ts";
import { parseEach } from "./parse-each.ts";
import { find, readAll, type Ref } from "./table.ts";

type Kind = Exclude<ListKind, "outcome"> | "ssh_key";
type RefOf<T> = (accountId: string, id: string) => Ref<T>;

/** Creates a function that returns where a record of a kind is stored. */
export const createRef =
  <T>(kind: Kind, schema: z.ZodType<T>): RefOf<T> =>
  (accountId, id) => ({ key: keys.record(kind, accountId, id), schema });

/** The record that was read; throws NotFound if there is none. */
export const createRequirement =
  <T>(name: string) =>
  (record: T | undefined): T => {
    if (record === undefined) throw notFound(name);
    return record;
  };

/** A record by the ID in a path; throws NotFound, also if it is no ID of that kind. */
export const createGetter =
  <T>(kind: Kind, toRef: RefOf<T>, requireRecord: (record: T | undefined) => T) =>
  async (accountId: string, id: string): Promise<T> =>
    requireRecord(isId(kind, id) ? await find(toRef(accountId, id)) : undefined);

/** A list's records that a query names, read in one call. */
export async function listByIds<T extends { id: string }>(
  { kind, accountId, schema }: { kind: Kind; accountId: string; schema: z.ZodType<T> },
  ids: readonly string[],
): Promise<Listed<T>> {
  const items = await readAll(
    ids.map((id) => keys.record(kind, accountId, id)),
    { consistent: false },
  );
  return pageByIds(parseEach(schema, [...items.values()]), ids);
}
