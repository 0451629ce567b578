// Finds the operations that a response of the API names.

/** The operations that a response names: the operation itself, or those that lock its records. */
export function operationIdsIn(response: unknown): string[] {
  if (typeof response !== "object" || response === null || !("data" in response)) return [];
  const records: unknown[] = Array.isArray(response.data) ? response.data : [response.data];
  return records.flatMap((record) => {
    if (typeof record !== "object" || record === null) return [];
    if ("operation_id" in record && typeof record.operation_id === "string") return [record.operation_id];
    return "progress" in record && "id" in record && typeof record.id === "string" ? [record.id] : [];
  });
}
