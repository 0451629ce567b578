// How a record of an account is found by its ID.
import type * as z from "zod";
import { notFound } from "../api/errors.ts";
import { isId } from "../domain/ids.ts";
import { keys, type ListKind } from "./keys.ts";
import { find, type Ref } from "./table.ts";

type Kind = ListKind | "ssh_key";
type RefOf<T> = (accountId: string, id: string) => Ref<T>;

/** Where the records of a kind are. */
export const refOf =
  <T>(kind: Kind, schema: z.ZodType<T>): RefOf<T> =>
  (accountId, id) => ({ key: keys.record(kind, accountId, id), schema });

/** The record that was read; throws NotFound if there is none. */
export const presentOf =
  <T>(name: string) =>
  (record: T | undefined): T => {
    if (record === undefined) throw notFound(name);
    return record;
  };

/** A record by the ID in a path; throws NotFound, also if it is no ID of that kind. */
export const getterOf =
  <T>(kind: Kind, refOf: RefOf<T>, present: (record: T | undefined) => T) =>
  async (accountId: string, id: string): Promise<T> =>
    present(isId(kind, id) ? await find(refOf(accountId, id)) : undefined);
