// Tells how work that this page began has ended.
import type { Operation } from "../../../shared/api/operations.ts";
import { RequestId } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { queryClient } from "../app/query-client.ts";
import { WORK } from "./words.ts";

export function tellEnd(operation: Operation): void {
  const { id, type, status, error, result, request_id } = operation;
  const words = WORK[type];
  const name = nameOf(operation.resource);
  const about = name === undefined ? "" : `: ${name}`;
  if (status === "failed")
    notify({
      id,
      type: "error",
      header: `${words.failed}${about}`,
      content: (
        <>
          {error?.message}
          <RequestId id={request_id} />
        </>
      ),
    });
  else
    notify({
      id,
      type: "success",
      header: `${words.succeeded}${about}`,
      ...(result?.host_skipped === true && {
        content: "The server was not active: only the record was removed, and what is on the machine stays there.",
      }),
    });
}

/** A resource's name, from any answer that still is in the cache; what was deleted is often only there. */
function nameOf(resource: Operation["resource"]): string | undefined {
  for (const [, answer] of queryClient.getQueriesData<{ data: unknown }>({ queryKey: [`${resource.type}s`] })) {
    const records: unknown[] = Array.isArray(answer?.data) ? answer.data : [answer?.data];
    for (const record of records)
      if (typeof record === "object" && record !== null && "id" in record && record.id === resource.id) return nameIn(record);
  }
  return undefined;
}

function nameIn(record: object): string | undefined {
  if ("name" in record && typeof record.name === "string") return record.name;
  return "instance_name" in record && typeof record.instance_name === "string" ? record.instance_name : undefined;
}
