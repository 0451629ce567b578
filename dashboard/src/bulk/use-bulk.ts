// Begins a bulk action: the request, with a key so that a retry after a lost response begins nothing twice.
import { useMutation } from "@tanstack/react-query";
import { client } from "../app/client.ts";
import { useIdempotencyKey } from "../resource/use-form.ts";
import type { DialogProps } from "./candidate.ts";

interface BulkRequest {
  action: string;
  ids: readonly string[];
  parameters?: Record<string, unknown>;
}

export const sendBulk = ({ action, ids, parameters = {} }: BulkRequest, idempotencyKey: string) =>
  client.bulk.run({ body: { action, select: { ids: [...ids] }, parameters }, idempotencyKey });

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
