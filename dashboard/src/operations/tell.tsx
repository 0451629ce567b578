// Tells how the user's operations have ended.
import type { Operation } from "../../../shared/api/operations.ts";
import { RequestId } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { recordsIn } from "./held.ts";
import { workOf } from "./words.ts";

export function tellEnd(operation: Operation): void {
  const { id, type, status, error, result, request_id } = operation;
  const words = workOf(type);
  const name = names.get(operation.resource.id);
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
      ...(result?.host_skipped === true && { content: text.operations.hostSkipped }),
    });
}

/** Names by ID, from every response: when an operation ends, a list may not show yet what it created, or no longer what it deleted. */
const names = new Map<string, string>();

export function rememberNames(response: unknown): void {
  for (const record of recordsIn(response)) {
    const name = nameIn(record);
    if ("id" in record && typeof record.id === "string" && name !== undefined) names.set(record.id, name);
  }
}

function nameIn(record: object): string | undefined {
  if ("name" in record && typeof record.name === "string") return record.name;
  return "instance_name" in record && typeof record.instance_name === "string" ? record.instance_name : undefined;
}
