// Reads items of lists and schedules one by one, so that a damaged record hides no others.
import * as z from "zod";
import { log } from "../platform/log.ts";
import type { Item } from "./keys.ts";

/**
 * The record, or undefined if it cannot be parsed: the log says which one, without its values, and the alarm "record skipped" is
 * raised.
 */
export function parseOrSkip<T>(schema: z.ZodType<T>, item: Item): T | undefined {
  const { data, error } = schema.safeParse(item);
  if (error !== undefined) logSkipped(item, error);
  return data;
}

/** What `use` makes of an item's parts, or undefined if one of them cannot be parsed. */
export function unlessUnreadable<T>(item: Item, use: () => T): T | undefined {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    logSkipped(item, error);
    return undefined;
  }
}

function logSkipped(item: Item, { issues }: z.ZodError): void {
  const problems = issues.map(({ code, path }) => `${path.join(".")}: ${code}`);
  log.error("record skipped", { pk: item["pk"], sk: item["sk"], problems });
}

/** Those of the records that can be parsed. */
export const parseEach = <T>(schema: z.ZodType<T>, items: readonly Item[]): T[] =>
  items.flatMap((item) => parseOrSkip(schema, item) ?? []);
