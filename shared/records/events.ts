// The audit log: who did what, written with the change.
import type { Actor } from "../api/fields.ts";
import type { Alert, FieldChange } from "../api/events.ts";
import type { Change } from "../data/change.ts";
import { newId } from "../domain/ids.ts";
import type { Caller } from "./schemas/caller.ts";
import type { EventRecord } from "./schemas/event.ts";

/** On whose behalf, and by which request. */
export interface By {
  caller: Caller;
  requestId: string;
}

/** A caller, the service itself and its operator, or whoever started an operation. */
export type Author = By | { operator: string; requestId: string } | { actor: Actor; requestId: string };

export function actorOf(by: Author): Actor {
  if ("actor" in by) return by.actor;
  if ("operator" in by) return { type: "operator", id: "operator", name: by.operator };
  return { type: by.caller.type, id: by.caller.id, name: by.caller.name ?? by.caller.id };
}

/** Writes to the account's audit log who did what; `what` has the changed fields of a resource, or an alert. */
export function logEvent(
  change: Change,
  by: Author,
  what: string | { type: string; changes: FieldChange[] } | { type: string; alert: Alert },
  resource: EventRecord["resource"],
): void {
  const { type, ...data } = typeof what === "string" ? { type: what } : what;
  const id = newId("event");
  const event: EventRecord = {
    id,
    account_id: change.accountId,
    number: change.number("event", id),
    type,
    actor: { ...actorOf(by), ip_address: "caller" in by ? by.caller.ip_address : null },
    resource,
    request_id: by.requestId,
    ...(Object.keys(data).length > 0 && { data }),
    created_at: change.at,
  };
  change.add("event", event, { status: type, parentId: resource.id, actorId: event.actor.id });
}
