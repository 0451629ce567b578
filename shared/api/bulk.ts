// Bulk actions: one request for the same action on up to a thousand resources, which the service carries out.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { RESOURCE_TYPES } from "../domain/lifecycle.ts";
import { BULK, LABELS_MAX } from "../domain/limits.ts";
import { BULK_ACTION_NAMES } from "./bulk-actions.ts";
import { endpoint } from "./endpoint.ts";
import { permissionRequired, tooManyBulks } from "./errors.ts";
import * as fields from "./fields.ts";
import { justBegun } from "./just-begun.ts";
import { Operation } from "./operations.ts";

const ResourceId = z.union(
  [fields.id("instance"), fields.id("backup"), fields.id("server")],
  "must be the ID of a server, an instance or a backup",
);

const atMost = (length: number) => z.string().max(length, `must have at most ${length} characters`);
/** Longer than every filter of the lists. */
const FilterValue = atMost(512);
const Name = atMost(63);

const Select = z
  .strictObject({
    ids: z
      .array(ResourceId)
      .min(1, "must not be empty")
      .max(BULK.selected, `must have at most ${BULK.selected} entries`)
      .optional()
      .meta({ description: "These resources, all of one type", examples: [[exampleId("instance")]] }),
    type: z
      .enum(RESOURCE_TYPES)
      .optional()
      .meta({ description: "Instead of `ids`: the resources of this type that match `filter`", examples: ["instance"] }),
    filter: z
      .record(
        Name,
        z.union(
          [FilterValue, z.array(FilterValue).max(LABELS_MAX, `must have at most ${LABELS_MAX} entries`)],
          "must be a text, or an array of texts",
        ),
      )
      .optional()
      .meta({
        description:
          "With `type`: the filters of the list of that type, such as `status`, `server_id`, `protection`, `label` and `search`; `{}` selects all",
        examples: [{ protection: "unprotected" }],
      }),
  })
  .check(({ value, issues }) => {
    const message = "either ids or type is required";
    if ((value.ids === undefined) === (value.type === undefined))
      issues.push({ code: "custom", path: ["ids"], message, input: value });
    if (value.filter !== undefined && value.type === undefined)
      issues.push({ code: "custom", path: ["filter"], message: "is only possible with type", input: value });
    // Whoever forgets it does not mean the whole account.
    if (value.type !== undefined && value.filter === undefined)
      issues.push({ code: "custom", path: ["filter"], message: "is required with type; {} selects all", input: value });
  })
  .meta({ examples: [{ ids: [exampleId("instance")] }] });

export const run = () =>
  endpoint({
    method: "POST",
    path: "/bulk",
    summary: "Run an action on many resources",
    description:
      `Starts an operation that runs one action on each of up to ${BULK.selected} resources. The request fixes the selection. The service runs the action on ` +
      `${BULK.atOnce} resources at a time, on ${BULK.perServer} of one server (a drill at a time), and deletes at most ${BULK.deletionsPerMinute} resources a minute in an account. ` +
      "`parameters` is the body of the endpoint for one resource: `note` and `labels` for `backup`, a policy for `set_policy`, `server_id` for `drill`, all but a rollback for `deploy`. " +
      "`set_labels` takes `labels`, or `add` and `remove`, which keep the other labels. `delete` of instances takes `with_backups`. " +
      "Instances have the actions `start`, `stop`, `restart`, `backup`, `deploy`, `set_policy`, `delete_policy`, `set_labels` and `delete`; backups `lock`, `unlock`, " +
      "`delete`, `drill` and `set_labels`; servers `reboot`, `update` and `set_labels`. Each needs the permission of its own endpoint, now and again for each resource: what a revoked token " +
      `has not begun is cancelled. A resource that another operation holds is tried for ${BULK.heldMinutes} minutes. ` +
      "The operation succeeds whatever becomes of its resources: `GET /operations/:id/items` says it for each. " +
      `An account may have ${BULK.open} bulk actions in progress.`,
    access: "credential",
    proof: ({ body }) => body["action"] === "delete",
    status: 202,
    errors: () => [permissionRequired("instances:actions"), tooManyBulks(BULK.open)],
    example: {
      ...justBegun("bulk.run", "account"),
      result: {
        bulk: {
          action: "stop",
          type: "instance",
          parameters: {},
          total: 2,
          waiting: 2,
          running: 0,
          succeeded: 0,
          failed: 0,
          cancelled: 0,
        },
        control: "run",
      },
    },
    dryRun: true,
    starts: ["run-bulk"],
    body: z.strictObject({
      action: z
        .string()
        .refine((name) => BULK_ACTION_NAMES.includes(name), `must be one of: ${BULK_ACTION_NAMES.join(", ")}`)
        .meta({
          enum: [...BULK_ACTION_NAMES],
          examples: ["stop"],
        }),
      select: Select,
      parameters: z
        .record(Name, z.unknown())
        .default({})
        .meta({ description: "The body of the endpoint for one resource", examples: [{}] }),
      stop_after_failures: z
        .int()
        .min(1, "must be at least 1")
        .max(BULK.selected, `must be at most ${BULK.selected}`)
        .optional()
        .meta({ description: "Cancels what has not begun after so many failures", examples: [5] }),
    }),
    data: Operation,
  });
