// Each kind of event in words.
import { OPERATION_TYPES } from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";

export function actionInWords(type: string): string {
  const actions: Readonly<Record<string, string>> = text.events.actions;
  return actions[type] ?? workOf(type).event;
}

/** Every type that this page knows. */
export const actionTypes = (): readonly string[] => [...OPERATION_TYPES, ...Object.keys(text.events.actions)];
