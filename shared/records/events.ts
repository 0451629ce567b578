// Events, written with the change that they tell of: who asked for what, and what came of it.
import type { Actor } from "../api/fields.ts";
import type { Alert } from "../api/alerts.ts";
import type { Expiry, FieldChange, OperationOutcome } from "../api/events.ts";
import type { Change } from "../data/change.ts";
import type { EventKind } from "../data/keys.ts";
import type { AuditType, OutcomeType } from "../domain/event-types.ts";
import { newId } from "../domain/ids.ts";
import { type Caller, roleIn } from "./schemas/caller.ts";
import { announceEvent } from "./outbox.ts";
import { EventRecord } from "./schemas/event.ts";
import { sentFields } from "./sent-fields.ts";

/** The caller on whose behalf something is done, and the request that does it. */
export interface By {
  caller: Caller;
  requestId: string;
  /** Whether it is a part of a bulk action. */
  inBulk?: boolean;
}

/** A caller, the service itself and its operator, or whoever started an operation. */
export type Author = By | { operator: string; requestId: string } | { actor: Actor; requestId: string };

export function toActor(by: Author): Actor {
  if ("actor" in by) return by.actor;
  if ("operator" in by) return { type: "operator", id: "operator", name: by.operator };
  return { type: by.caller.type, id: by.caller.id, name: by.caller.name ?? by.caller.id };
}

/** Describes from where a caller acts, and as what. */
function describeCaller(caller: Caller) {
  const { ip_address, signed_in_with } = caller;
  const role = roleIn(caller);
  return { ip_address, ...(role !== undefined && { role }), ...(signed_in_with !== undefined && { signed_in_with }) };
}

interface NewEvent<T> {
  type: T;
  /** The changed fields of the resource. */
  changes?: FieldChange[] | undefined;
  alert?: Alert;
  /** How an operation has ended. */
  operation?: OperationOutcome;
  /** The expiry of an API token. */
  expiry?: Expiry;
  operation_id?: string;
}

/**
 * Writes to the account's audit log who did what. What begins an operation is announced once that cannot be withdrawn any more.
 */
export const logEvent = (
  change: Change,
  by: Author,
  event: AuditType | NewEvent<AuditType>,
  resource: EventRecord["resource"],
): EventRecord => writeEvent(change, { kind: "event", by }, typeof event === "string" ? { type: event } : event, resource);

/** The service itself as the author of a change; `requestId` names the work that made it. */
export const serviceAuthor = (name: string, requestId: string) =>
  ({ actor: { type: "service", id: "service", name }, requestId }) as const;

/** Writes what came of something that was asked for, or what happened by itself. */
export const logOutcome = (
  change: Change,
  by: Author,
  event: NewEvent<OutcomeType>,
  resource: EventRecord["resource"],
): EventRecord => writeEvent(change, { kind: "outcome", by }, event, resource);

function writeEvent(
  change: Change,
  { kind, by }: { kind: EventKind; by: Author },
  { type, operation_id, ...rest }: NewEvent<string>,
  resource: EventRecord["resource"],
): EventRecord {
  const id = newId("event");
  const data = sentFields(rest);
  const event = {
    id,
    account_id: change.accountId,
    number: change.number(kind, id),
    type,
    actor: { ...toActor(by), ...("caller" in by ? describeCaller(by.caller) : { ip_address: null }) },
    resource,
    request_id: by.requestId,
    ...(operation_id !== undefined && { operation_id }),
    ...(Object.keys(data).length > 0 && { data }),
    created_at: change.at,
  };
  change.add(kind, event, { status: type, parentId: resource.id, actorId: event.actor.id });
  if (kind === "outcome" || operation_id === undefined) announceEvent(change, kind, { id, type });
  return EventRecord.parse(event);
}
