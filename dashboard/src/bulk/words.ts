// The words for each bulk action; a newer service may know more.
import type { Work } from "../messages/en/bulk.tsx";
import { text } from "../messages/text.ts";

export function bulkWork(kind: string, action: string): Work {
  const kinds: Readonly<Record<string, Readonly<Record<string, Work>>>> = text.bulk.work;
  const unknown = (things: string): string => `${action}: ${things}`;
  return kinds[kind]?.[action] ?? { verb: action, ask: unknown, running: unknown };
}
