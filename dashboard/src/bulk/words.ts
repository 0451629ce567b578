// The words for each bulk action; a newer service may know more.
import type { Operation } from "../../../shared/api/operations.ts";
import type { Work } from "../messages/en/bulk.tsx";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";

export function bulkWork(kind: string, action: string): Work {
  const kinds: Readonly<Record<string, Readonly<Record<string, Work>>>> = text.bulk.work;
  const unknown = (things: string): string => `${action}: ${things}`;
  return kinds[kind]?.[action] ?? { verb: action, ask: unknown, running: unknown };
}

/** What was done, of any operation; a bulk action by what it does with its resources. */
export function nameOfWork({ type, result }: Pick<Operation, "type" | "result">): string {
  const bulk = result?.bulk;
  return bulk === undefined ? workOf(type).name : bulkWork(bulk.type, bulk.action).ask(text.bulk.many(bulk.type));
}
