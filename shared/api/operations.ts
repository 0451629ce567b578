// Operations: long-running work, tracked from the request to the end.
import * as z from "zod";
import { ITEM_STATUSES, OPERATED_TYPES, OPERATION_STATUSES, OPERATION_TYPES, RESOURCE_TYPES } from "../domain/lifecycle.ts";
import { notControllable, OPERATION_ERRORS, permissionRequired, tooManyLogReads } from "./errors.ts";
import { endpoint } from "./endpoint.ts";
import { HISTORY_DAYS, LOG_READS, WAITS_AT_ONCE, WORK_LOG } from "../domain/limits.ts";

import { Drill } from "./drill.ts";
import * as fields from "./fields.ts";

const OperationStatus = z.enum(OPERATION_STATUSES);

/** Checks of a clone after neutralizing it. */
export const Verification = z
  .object({
    is_neutralized: z.boolean().meta({ examples: [true] }),
    active_crons: fields.integer(0, "Scheduled jobs that are still active on the clone"),
    active_mail_servers: fields.integer(0),
    new_database_uuid: z.boolean().meta({ description: "Whether the clone has its own database UUID", examples: [true] }),
    base_url: z.string().meta({ examples: ["https://staging.example.com"] }),
  })
  .meta({ id: "Verification" });

/** What a check of an instance's code found. */
export const CodeResult = z
  .object({
    commits: z.array(
      z.object({
        url: z.string().meta({ examples: ["https://git.example/acme"] }),
        ref: z.string().meta({ examples: ["main"] }),
        commit: z
          .string()
          .nullable()
          .meta({ examples: ["8f3c1d5e7a90b24c6d8e0f1a2b3c4d5e6f708192"] }),
        subject: z
          .string()
          .nullable()
          .meta({ description: "The first line of the commit's message", examples: ["Round prices"] }),
      }),
    ),
    problems: z
      .array(
        z.object({
          code: z.enum(["CODE_UNREACHABLE", "CODE_INVALID"]).meta({ examples: ["CODE_INVALID"] }),
          url: z.string().meta({ examples: ["https://git.example/acme"] }),
          module: z
            .string()
            .nullable()
            .meta({ examples: ["acme"] }),
          message: z.string().meta({ examples: ["https://git.example/acme has no module"] }),
          reason: fields.reason,
        }),
      )
      .meta({ description: "What a deploy would fail for; no problem, no failure", examples: [[]] }),
  })
  .meta({ id: "CodeResult", description: "What a check of an instance's code found" });
export type CodeResult = z.infer<typeof CodeResult>;

const count = (description: string) => fields.integer(0, description).min(0);

/** How far a bulk action is. */
const BulkResult = z
  .object({
    action: z.string().meta({ examples: ["stop"] }),
    type: z.enum(RESOURCE_TYPES).meta({ description: "The type of the resources", examples: ["instance"] }),
    parameters: z.record(z.string(), z.unknown()).meta({ description: "Those of the request, with defaults", examples: [{}] }),
    total: count("How many resources the request selected"),
    waiting: count("Not begun yet"),
    running: count("In progress"),
    succeeded: count("Done"),
    failed: count("Failed; the items say why"),
    cancelled: count("Never begun"),
  })
  .meta({ id: "BulkResult", description: "How far a bulk action is" });
export type BulkResult = z.infer<typeof BulkResult>;

/** What the operation created or found out, depending on its type. New fields may appear. */
export const OperationResult = z
  .object({
    backup_id: fields.id("backup").optional().meta({ description: "The backup that was created, restored or cloned from" }),
    safety_backup_id: fields.id("backup").optional().meta({ description: "The safety backup taken before a restore" }),
    host_skipped: z
      .boolean()
      .optional()
      .meta({
        description:
          "The server was not active, so only the record was removed; the ERP is removed when the server responds again",
        examples: [false],
      }),
    verification: Verification.optional(),
    drill: Drill.optional().meta({ description: "What a restore drill found" }),
    downtime_seconds: z
      .number()
      .min(0)
      .optional()
      .meta({
        description: "How long the work stopped the ERP, in seconds; of a server, the ERP that was away for longest",
        examples: [4.2],
      }),
    unfinished_modules: z
      .array(z.string())
      .optional()
      .meta({
        description:
          "Modules of the ERP whose installation, upgrade or removal has begun and not ended (up to 50), as the ERP's start found them. " +
          "Pages and records that need them may fail: an administrator upgrades, installs or cancels them in the ERP's list of apps",
        examples: [["crm", "sale"]],
      }),
    missing_modules: z
      .array(z.string())
      .optional()
      .meta({
        description:
          "Installed modules that the image of the ERP does not have, or only in an older version (up to 50), as an import, a restore or a start found them. " +
          "What they do is missing in the ERP, and it may not even start",
        examples: [["queue_job"]],
      }),
    deploy_id: fields.id("deploy").optional().meta({ description: "The deploy that the operation carries out" }),
    code: CodeResult.optional(),
    skipped_paths: z
      .array(z.string())
      .optional()
      .meta({
        description: "Up to 20 of the paths that the backup left out; the backup's `skipped_files` counts them all",
        examples: [["ab/link"]],
      }),
    bulk: BulkResult.optional(),
    control: z
      .enum(["run", "pause", "cancel"])
      .optional()
      .meta({
        description: "Of a bulk action: what it was last asked for; `POST /operations/:id/actions` changes it",
        examples: ["run"],
      }),
    missing_files: z
      .number()
      .int()
      .min(1)
      .optional()
      .meta({ description: "How many files the database of an imported archive lists that are not in it", examples: [31] }),
    left_out: z
      .array(z.object({ kind: z.string(), count: z.number().int().min(1), names: z.array(z.string()) }))
      .optional()
      .meta({
        description:
          "Statements of an imported dump that are about the server that it comes from, and are not loaded: up to 20 of each kind",
        examples: [[{ kind: "privileges", count: 1, names: ["GRANT SELECT ON TABLE public.ir_attachment TO metabase"] }]],
      }),
  })
  .meta({ id: "OperationResult" });
export type OperationResult = z.infer<typeof OperationResult>;

export const Operation = z
  .object({
    id: fields.id("operation"),
    type: z.enum(OPERATION_TYPES).meta({ examples: ["instance.create"] }),
    status: OperationStatus.meta({ examples: ["running"] }),
    progress: z
      .number()
      .int()
      .min(0)
      .max(100)
      .meta({ description: "Progress in percent", examples: [40] }),
    step: z
      .string()
      .nullable()
      .meta({ description: "The current step, for people to read", examples: ["Installing the ERP"] }),
    step_code: z
      .string()
      .nullable()
      .meta({ description: "The same as a code; new codes may appear", examples: ["installErp"] }),
    resource: z.object({
      type: z.enum(OPERATED_TYPES).meta({ description: "`account` for a bulk action", examples: ["instance"] }),
      id: z.string().meta({ examples: ["ins_01kag8w1s2e7tv8q4m5n6p7r8s"] }),
      name: z
        .string()
        .nullable()
        .meta({ description: "Its name when the operation started; null for old operations", examples: ["Shop"] }),
    }),
    instance_id: fields
      .id("instance")
      .nullable()
      .meta({ description: "The instance that it is about: of an operation on a backup, the backup's; null if there is none" }),
    result: OperationResult.nullable().meta({ examples: [null] }),
    error: z
      .object({ code: z.enum(OPERATION_ERRORS), message: z.string(), reason: fields.reason.optional() })
      .nullable()
      .meta({ description: "Why the operation failed; if its changes could not be undone, that too", examples: [null] }),
    request_id: z
      .string()
      .meta({ description: "The request that started the operation", examples: ["3f0c6e2a-8f1b-4d55-9b1e-6c1f2a7d9e10"] }),
    created_by: fields.Actor,
    created_at: fields.timestamp,
    started_at: fields.timestamp.nullable(),
    finished_at: fields.timestamp.nullable().meta({ examples: [null] }),
  })
  .meta({ id: "Operation" });
export type Operation = z.infer<typeof Operation>;

export const list = () =>
  endpoint({
    path: "/operations",
    summary: "List operations",
    access: ["servers:read", "instances:read", "backups:read"],
    description:
      "With `resource_id`, returns the operations that change, lock or read a resource: an instance's list includes the operations " +
      "of its backups and clones, and a backup's list includes its restores. " +
      `Operations are kept for ${HISTORY_DAYS} days.`,
    ...fields.resourceListOf("operation", Operation, {
      status: OperationStatus,
      resource_id: z.union(
        [fields.id("server"), fields.id("instance"), fields.id("backup")],
        "must be the ID of a server, an instance or a backup",
      ),
      type: z.enum(OPERATION_TYPES).meta({ examples: ["instance.create"] }),
      actor: fields.actorId.meta({ description: "Only operations that this actor started: the `created_by.id` of an operation" }),
      server_id: fields.id("server").meta({
        description: "Only operations on this server, on the instances that are on it now, and on their backups",
      }),
    }),
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/operations/:id",
    summary: "Show an operation, or wait for it to finish",
    description:
      "With `wait`, responds as soon as the operation finishes, or after that many seconds. " +
      `A credential can have up to ${WAITS_AT_ONCE} waiting requests; any further one returns the current status immediately. ` +
      "Requires the read permission of the operation's resource, unless this credential started the operation.",
    access: "credential",
    errors: () => [permissionRequired("instances:read")],
    query: z.strictObject({ wait: fields.waitSeconds }),
    waits: "wait",
    unversioned: [],
    data: Operation,
  });

export const log = () =>
  endpoint({
    method: "GET",
    path: "/operations/:id/log",
    summary: "Read what an operation has logged",
    description:
      `Returns what the operation's work on its server has printed: read from the server while it is in progress, at most ${LOG_READS.aMinute} times a minute, and kept for ${WORK_LOG.days} days once it has ended; of more than 1 MB the end. ` +
      "Passwords, tokens and signed parts of URLs are replaced with `[redacted]`. With `follow`, the response comes as soon as there is more, or after that many seconds. " +
      "Empty if nothing was done on a server. Requires the same as `GET /operations/:id`.",
    access: "credential",
    errors: () => [permissionRequired("instances:read"), tooManyLogReads(LOG_READS.aMinute)],
    waits: "follow",
    query: z.strictObject({
      after: z
        .string()
        .regex(/^\d{1,9}$/, "must be the next of a response")
        .optional()
        .meta({ description: "Only what is behind this `next` of an earlier response", examples: ["2"], maxLength: 9 }),
      follow: fields.followSeconds,
    }),
    data: z
      .object({
        text: z.string().meta({
          description:
            "Text, never HTML; each part begins with `#` and the kind of work. Control characters but line breaks and tabs are shown as escapes",
          examples: ["# restart_erp\nContainer erp-shop Started\n"],
        }),
        next: z.string().meta({ description: "`after` of the next request", examples: ["2"] }),
        ended: z.boolean().meta({ description: "Whether nothing more will come", examples: [true] }),
      })
      .meta({ id: "OperationLog" }),
  });

/** What becomes of one resource of a bulk action. */
const OperationItem = z
  .object({
    resource: z.object({
      type: z.enum(RESOURCE_TYPES).meta({ examples: ["instance"] }),
      id: z.string().meta({ examples: ["ins_01kag8w1s2e7tv8q4m5n6p7r8s"] }),
      name: z.string().meta({ description: "Its name when the operation started", examples: ["Shop"] }),
    }),
    status: z.enum(ITEM_STATUSES).meta({ examples: ["succeeded"] }),
    operation_id: fields.id("operation").nullable().meta({ description: "The operation on this resource, if there is one" }),
    error: z
      .object({
        code: z
          .string()
          .meta({ description: "The code of the endpoint's error, or of the operation's", examples: ["INVALID_STATE"] }),
        message: z.string(),
        reason: fields.reason,
      })
      .nullable()
      .meta({ description: "Why it failed, was cancelled, or is still waiting", examples: [null] }),
  })
  .meta({ id: "OperationItem" });
export type OperationItem = z.infer<typeof OperationItem>;

export const items = () =>
  endpoint({
    path: "/operations/:id/items",
    summary: "List what becomes of each resource of a bulk action",
    description:
      "In the order of the selection; `order=desc` reverses it. Other operations have no items. Requires the read permission of the resources' type, " +
      "unless this credential started the operation.",
    access: "credential",
    errors: () => [permissionRequired("instances:read")],
    ...fields.listOf(OperationItem, { status: z.enum(ITEM_STATUSES).meta({ examples: ["failed"] }) }),
  });

export const act = () =>
  endpoint({
    method: "POST",
    path: "/operations/:id/actions",
    summary: "Pause, resume or cancel a bulk action",
    description:
      "What has begun goes on; `cancel` ends the operation with the error `CANCELLED` once that has ended. Requires the permissions of the bulk action.",
    access: "credential",
    errors: () => [permissionRequired("instances:actions"), notControllable("succeeded")],
    body: z.strictObject({ action: z.enum(["pause", "resume", "cancel"]).meta({ examples: ["pause"] }) }),
    data: Operation,
  });
