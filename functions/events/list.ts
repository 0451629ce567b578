// GET /events
import * as events from "../../shared/api/events.ts";
import type { Permission } from "../../shared/api/permissions.ts";
import { listEvents } from "../../shared/data/lists.ts";
import { EventRecord } from "../../shared/records/schemas/event.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(events.list)(async ({ query, caller }) => {
  const { items, meta } = await listEvents({ kind: "event", accountId: caller.account_id, schema: EventRecord }, query);
  const maySee = (event: EventRecord) => caller.permissions.includes(permissionFor(event));
  return { items: items.map((event) => (maySee(event) ? event : { ...event, data: undefined })), meta };
});

/** Who may read the fields of what an event is about. */
const permissionFor = ({ type, resource }: EventRecord): Permission => {
  if (type.startsWith("backup_policy.") || resource.type === "backup") return "backups:read";
  if (resource.type === "server") return "servers:read";
  return resource.type === "instance" ? "instances:read" : "settings:read";
};
