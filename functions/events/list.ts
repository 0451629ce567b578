// GET /events
import * as events from "../../shared/api/events.ts";
import { permissionForEvent } from "../../shared/api/event-permissions.ts";
import { EVENT_TYPES } from "../../shared/domain/event-types.ts";
import { listEvents } from "../../shared/data/lists.ts";
import { findOutcomes } from "../../shared/records/outcomes.ts";
import { EventRecord } from "../../shared/records/schemas/event.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(events.list)(async ({ query: { class: eventClass, ...query }, caller }) => {
  const { type = "" } = query;
  const kind = (eventClass ?? EVENT_TYPES[type]?.class ?? "audit") === "audit" ? "event" : "outcome";
  const { items, meta } = await listEvents({ kind, accountId: caller.account_id, schema: EventRecord }, query);
  const maySee = ({ type: of, resource }: EventRecord) => caller.permissions.includes(permissionForEvent(of, resource.type));
  // The audit log has requests, which were written before anything came of them.
  const operationIds = kind === "event" ? items.flatMap(({ operation_id }) => operation_id ?? []) : [];
  const outcomes = await findOutcomes(caller.account_id, operationIds);
  const withOutcome = (event: EventRecord): EventRecord => {
    const operation = outcomes.get(event.operation_id ?? "");
    return operation === undefined ? event : { ...event, data: { ...event.data, operation } };
  };
  return { items: items.map((event) => (maySee(event) ? withOutcome(event) : { ...event, data: null })), meta };
});
