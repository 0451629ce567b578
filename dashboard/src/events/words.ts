// Each kind of event in words.
import { EVENT_TYPES, type EventClass } from "../../../shared/domain/event-types.ts";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";

export function actionInWords(type: string): string {
  const actions: Readonly<Record<string, string>> = text.events.actions;
  const [, operation = type, end] = /^(.+)\.(succeeded|failed)$/.exec(type) ?? [];
  if (end === "succeeded" || end === "failed") return workOf(operation)[end];
  return actions[type] ?? workOf(type).event;
}

/** Every type of a class. */
export const actionTypes = (wanted: EventClass): string[] =>
  Object.keys(EVENT_TYPES).filter((type) => EVENT_TYPES[type]?.class === wanted);
