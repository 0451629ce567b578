// Alerts: what is wrong now with a server or an instance, and what was.
import * as z from "zod";
import { ALERT_KIND_NAMES, ALERT_STATUSES, MUTED_DAYS_MAX } from "../domain/alerts.ts";
import { exampleId } from "../domain/id-kinds.ts";
import { HISTORY_DAYS } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import { alertClosed } from "./errors.ts";
import * as fields from "./fields.ts";

export const Alert = z
  .object({
    id: fields.id("alert"),
    kind: z.string().meta({
      description: "What is wrong (docs/alerts.md); new kinds may appear",
      examples: ["disk_free"],
    }),
    resource: z.object({
      type: z.string().meta({ description: "`server` or `instance`", examples: ["server"] }),
      id: z.string().meta({ examples: [exampleId("server")] }),
      name: z.string().meta({ examples: ["erp-1"] }),
    }),
    status: z.enum(ALERT_STATUSES).meta({ examples: ["open"] }),
    value: fields.integer(14).nullable().meta({ description: "What was measured when it opened; null if nothing is measured" }),
    threshold: fields.integer(15).nullable().meta({ description: "What the value was compared with, in the same unit" }),
    operation_id: fields
      .id("operation")
      .nullable()
      .meta({ description: "The operation that has failed, if it tells of one", examples: [null] }),
    opened_at: fields.timestamp,
    closed_at: fields.timestamp.nullable().meta({ examples: [null] }),
    muted_until: fields.timestamp.nullable().meta({ description: "No mail is sent about it until then", examples: [null] }),
  })
  .meta({ id: "Alert" });
export type Alert = z.infer<typeof Alert>;

export const list = () =>
  endpoint({
    path: "/alerts",
    summary: "List alerts",
    description:
      "Returns the alerts that the credential may read, the newest first: those of servers need `servers:read`, those of instances `instances:read`. " +
      `Closed alerts are kept for ${HISTORY_DAYS} days. The times of the filters are those at which alerts opened.`,
    access: ["settings:read"],
    ...fields.resourceListOf("alert", Alert, {
      status: z.enum(ALERT_STATUSES).meta({ examples: ["open"] }),
      kind: z.enum(ALERT_KIND_NAMES).meta({ examples: ["disk_free"] }),
      resource_id: z
        .string()
        .regex(/^[a-z]{1,20}_[0-9a-z]{26}$/, "must be the ID of a resource")
        .meta({ examples: [exampleId("server")], maxLength: 47 }),
    }),
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/alerts/:id",
    summary: "Show an alert",
    description: "Needs the read permission of the alert's kind of resource, too; otherwise the response is 404.",
    access: ["settings:read"],
    unversioned: [],
    data: Alert,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/alerts/:id",
    summary: "Mute or unmute an alert",
    description: `No mail is sent about a muted alert; events and webhooks go on. At most ${MUTED_DAYS_MAX} days from now; null unmutes it.`,
    access: ["settings:write"],
    unversioned: [],
    errors: () => [alertClosed()],
    body: z.strictObject({ muted_until: fields.time.nullable().meta({ examples: [null] }) }),
    data: Alert,
  });
