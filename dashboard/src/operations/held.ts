// Whether the page still shows a record as held by work.
import { queryClient } from "../app/query-client.ts";

export const heldOnPage = (operationId: string): boolean =>
  queryClient
    .getQueryCache()
    .findAll({ type: "active" })
    // What cannot be asked again, such as what was deleted, is as old as it says.
    .some(
      ({ state }) =>
        state.status !== "error" &&
        recordsIn(state.data).some((record) => "operation_id" in record && record.operation_id === operationId),
    );

/** The records of a response. */
function recordsIn(response: unknown): object[] {
  if (typeof response !== "object" || response === null || !("data" in response)) return [];
  const records: unknown[] = Array.isArray(response.data) ? response.data : [response.data];
  return records.filter((record) => typeof record === "object" && record !== null);
}
