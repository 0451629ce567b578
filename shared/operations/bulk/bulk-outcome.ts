// What a bulk action would do with one resource, for its dry run: what all kinds of resources share.
import { isDeepStrictEqual } from "node:util";
import type { Effect } from "../../api/dry-run.ts";
import { ApiError, ERRORS, mainProblem, type Problem } from "../../api/errors.ts";
import { labels } from "../../api/fields.ts";
import { requireNone, tryParse } from "../../api/parse.ts";
import { changedLabels, type LabelsChange } from "../../domain/labels.ts";
import type { ResourceType } from "../../domain/lifecycle.ts";
import { BULK } from "../../domain/limits.ts";
import { withWhy } from "../../domain/problems.ts";
import type { Sentence, SentenceCode } from "../../domain/sentences.ts";
import { concurrently } from "../../platform/concurrently.ts";
import { effect, mayRead, type Reader, sentence } from "../forecasts/forecast.ts";

/** An action as the request names it. */
export interface RequestedAction {
  action: string;
  parameters: Record<string, unknown>;
}

/** What would happen to one resource, or why nothing would. */
export interface Outcome {
  effects: Effect[];
  warnings: Sentence[];
  /** Bytes that the work needs on the disk of the server that does it. */
  room?: number | null;
}

const AT_ONCE = 10;

/** Returns the outcomes in the order of the selection. */
export async function outcomesOfEach<T extends { id: string }>(
  records: readonly T[],
  outcomeOf: (record: T) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  await concurrently(AT_ONCE, records, async (record) => {
    outcomes.set(record.id, await outcomeOf(record));
  }).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors[0] : error; // which may be an outage, and is responded to as one
  });
  return records.flatMap(({ id }) => outcomes.get(id) ?? []);
}

export const outcomeWith = (...effects: Effect[]): Outcome => ({ effects, warnings: [] });

export const relabeling = (resource: Effect["resource"], labels: Record<string, string>, change: LabelsChange): Effect =>
  effect("update", resource, isDeepStrictEqual(changedLabels(labels, change), labels) ? "nothing_changed" : "labels_changed");

/** Checks the changed labels as the request for the one resource does. */
export function requireLabels(current: Record<string, string>, change: LabelsChange): void {
  const problems: Problem[] = [];
  tryParse(labels, changedLabels(current, change), problems);
  requireNone(problems.map(({ reason }) => ({ field: "labels", reason })));
}

interface Held {
  operation_id: string | null;
}

/** What the work waits for: what holds the resource, or the server that does the work. */
type Hold = Extract<SentenceCode, "bulk_waits" | "bulk_waits_for_server">;

export function holdOf({ operation_id }: Held, server?: Held): Hold | undefined {
  if (operation_id !== null) return "bulk_waits";
  return server === undefined || server.operation_id === null ? undefined : "bulk_waits_for_server";
}

/** Returns a record as it is checked once the work's turn has come. */
export const released = <T extends Held>(record: T): T => ({ ...record, operation_id: null });

interface Subject {
  type: ResourceType;
  name: string;
  hold?: Hold | undefined;
}

/**
 * What happens unless the record's state does not allow it, which `require` checks of a released record. Why nothing happens, and
 * what is waited for, is for whoever may read the record.
 */
export async function outcomeOrWarning(
  reader: Reader,
  { type, name, hold }: Subject,
  require: () => void,
  outcome: () => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  try {
    require();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return {
      effects: [],
      warnings: mayRead(reader, type) ? [sentence("bulk_not_now", { name, ...explainError(reader, error) })] : [],
    };
  }
  const planned = await outcome();
  if (hold === undefined || !mayRead(reader, type)) return planned;
  return { ...planned, warnings: [sentence(hold, { names: name, minutes: BULK.heldMinutes }), ...planned.warnings] };
}

/** Another kind of record may be the reason, such as an instance's server. */
const explainError = (reader: Reader, error: ApiError): Record<string, string> => {
  const { about, code } = error;
  if (about !== undefined && !mayRead(reader, about.kind)) return withWhy({}, about.otherwise ?? ERRORS[code].message);
  const { message, recognizable } = mainProblem(error);
  return { ...withWhy({}, recognizable), why: message };
};
