// Finds the operations that a response of the API names.

/** The operations that a response names: the operation itself, or those that lock its records. */
export function operationIdsIn(answer: unknown): string[] {
  if (typeof answer !== "object" || answer === null || !("data" in answer)) return [];
  const records: unknown[] = Array.isArray(answer.data) ? answer.data : [answer.data];
  return records.flatMap((record) => {
    if (typeof record !== "object" || record === null) return [];
    if ("operation_id" in record && typeof record.operation_id === "string") return [record.operation_id];
    return "progress" in record && "id" in record && typeof record.id === "string" ? [record.id] : [];
  });
}
