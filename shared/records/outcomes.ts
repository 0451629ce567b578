// What came of operations, as events say it.
import * as z from "zod";
import { OperationOutcome } from "../api/events.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { readAll } from "../data/table.ts";

/** The part of an operation that is read, of whatever type and status another version knows. */
const Read = OperationOutcome.omit({ status: true, duration_seconds: true }).extend({
  error: OperationOutcome.shape.error.default(null),
  state: z.string(),
  created_at: z.string(),
  finished_at: z.string().nullable().default(null),
});

type Ended = z.infer<typeof Read> & { finished_at: string };

export const toOutcome = ({ id, type, state, error, created_at, finished_at }: Ended): OperationOutcome => ({
  id,
  type,
  status: state,
  error,
  duration_seconds: Math.max(0, Math.round((Date.parse(finished_at) - Date.parse(created_at)) / 1000)),
});

/** Maps the IDs of the operations to their outcomes; those in progress have none. */
export async function findOutcomes(accountId: string, ids: readonly string[]): Promise<Map<string, OperationOutcome>> {
  const items = await readAll(
    ids.map((id) => keys.record("operation", accountId, id)),
    { consistent: false },
  );
  return new Map(
    parseEach(Read, [...items.values()]).flatMap(({ finished_at, ...read }) =>
      finished_at === null ? [] : [[read.id, toOutcome({ ...read, finished_at })] as const],
    ),
  );
}
