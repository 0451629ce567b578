// Each kind of event in words.
import { EVENT_TYPES, type EventClass } from "../../../shared/domain/event-types.ts";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";

/** An event's action. A name that an operation shares with a change that needs none (`server.update`) is told by `startedOne`. */
export function actionInWords(type: string, startedOne = false): string {
  const actions: Readonly<Record<string, string>> = text.events.actions;
  const [, operation = type, end] = /^(.+)\.(succeeded|failed)$/.exec(type) ?? [];
  if (end === "succeeded" || end === "failed") return workOf(operation)[end];
  const ofOperation = startedOne && type in text.operations.work;
  return (ofOperation ? undefined : actions[type]) ?? workOf(type).event;
}

/** Every type of a class. */
export const actionTypes = (eventClass: EventClass): string[] =>
  Object.keys(EVENT_TYPES).filter((type) => EVENT_TYPES[type]?.class === eventClass);
