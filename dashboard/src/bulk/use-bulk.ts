// Begins a bulk action: the request, with a key so that a retry after a lost response begins nothing twice, and its dry run. What
// somebody else has deleted a moment ago is left out: the API rejects a selection of what does not exist.
import { useMutation } from "@tanstack/react-query";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { DryRun } from "../../../shared/api/dry-run.ts";
import { client } from "../app/client.ts";
import { problemsOf } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { useIdempotencyKey } from "../resource/form/use-form.ts";
import type { DialogProps } from "./candidate.ts";

export interface BulkRequest {
  action: string;
  ids: readonly string[];
  parameters?: Record<string, unknown>;
}

const bodyOf = ({ action, ids, parameters = {} }: BulkRequest) => ({ action, select: { ids: [...ids] }, parameters });

export const sendBulk = (request: BulkRequest, idempotencyKey: string) =>
  withoutGone(request, (remaining) =>
    client.bulk.run({
      body: bodyOf(remaining),
      // What is gone stays gone: as many that are left are the same ones.
      idempotencyKey: remaining === request ? idempotencyKey : `${idempotencyKey}-${remaining.ids.length}`,
    }),
  );

export const rehearseBulk = (request: BulkRequest): Promise<{ data: DryRun }> =>
  withoutGone(request, async (remaining) => {
    const { data } = await client.bulk.run.dryRun({ body: bodyOf(remaining) });
    const goneCount = request.ids.length - remaining.ids.length;
    return { data: goneCount === 0 ? data : { ...data, warnings: [...data.warnings, text.bulk.gone(goneCount)] } };
  });

/** The place of an ID in the field that an error names: what is selected from a list can only be gone. */
const PLACE = /^select\.ids\.(\d+)$/;

async function withoutGone<T>(request: BulkRequest, send: (request: BulkRequest) => Promise<T>): Promise<T> {
  try {
    return await send(request);
  } catch (error) {
    const invalidIndexes = new Set(problemsOf(error).map(({ field }) => PLACE.exec(field)?.[1]));
    const ids = request.ids.filter((_, index) => !invalidIndexes.has(String(index)));
    if (ids.length === request.ids.length) throw error;
    if (ids.length === 0) throw new ClientError("VALIDATION_ERROR", text.bulk.allGone, { status: 422 });
    return send({ ...request, ids });
  }
}

export function useBulk(onDone: DialogProps["onDone"]) {
  const keyOf = useIdempotencyKey();
  const mutation = useMutation({ mutationFn: (request: BulkRequest) => sendBulk(request, keyOf(request)) });
  return {
    pending: mutation.isPending,
    error: mutation.error,
    begin: (request: BulkRequest): void => {
      if (!mutation.isPending) mutation.mutate(request, { onSuccess: onDone });
    },
  };
}
