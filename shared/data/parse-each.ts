// Reads items of lists and schedules one by one, so that a damaged record hides no others.
import type * as z from "zod";
import { log } from "../platform/log.ts";
import type { Item } from "./table.ts";

/** The record, or undefined if it cannot be parsed: the log says which one, without its values, and the alarm "record skipped" is raised. */
export function parseOrSkip<T>(schema: z.ZodType<T>, item: Item): T | undefined {
  const { data, error } = schema.safeParse(item);
  if (error !== undefined) {
    const problems = error.issues.map(({ code, path }) => `${path.join(".")}: ${code}`);
    log.error("record skipped", { pk: item["pk"], sk: item["sk"], problems });
  }
  return data;
}

/** Those of the records that can be parsed. */
export const parseEach = <T>(schema: z.ZodType<T>, items: readonly Item[]): T[] =>
  items.flatMap((item) => parseOrSkip(schema, item) ?? []);
