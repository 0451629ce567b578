// What there is at a glance.
import * as z from "zod";
import { BACKUP_KINDS } from "../domain/backup-kinds.ts";
import {
  BACKUP_STATUSES,
  DRILL,
  INSTANCE_STATUSES,
  OPEN_STATUSES,
  PROTECTION_STATUSES,
  SERVER_STATUSES,
} from "../domain/lifecycle.ts";
import { NIGHTS_BACKUPS_MAX, WORST } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { ROLES } from "./roles.ts";

/** A number for each status. */
const counts = <const S extends string>(statuses: readonly S[]) =>
  z.object(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose the names of the statuses
    Object.fromEntries(statuses.map((status) => [status, fields.integer(0)])) as Record<S, ReturnType<typeof fields.integer>>,
  );

export const Overview = z
  .object({
    servers: z
      .object({
        total: fields.integer(1),
        status: counts(SERVER_STATUSES),
        low_disk: z
          .object({ below_15_percent: fields.integer(0), below_5_percent: fields.integer(0) })
          .meta({ description: "How many servers have so little of their disk free; each counts once" }),
        needs_reboot: fields.integer(0, "How many servers need a reboot"),
      })
      .optional(),
    instances: z
      .object({
        total: fields.integer(1),
        status: counts(INSTANCE_STATUSES),
        protection: counts(PROTECTION_STATUSES),
        update_available: fields.integer(0, "How many have an image for which there is a newer one"),
      })
      .optional(),
    backups: z.object({ total: fields.integer(1), status: counts(BACKUP_STATUSES) }).optional(),
    operations: counts(OPEN_STATUSES).optional().meta({ description: "Operations that have not ended" }),
    alerts: z
      .object({ open: fields.integer(0) })
      .optional()
      .meta({ description: "Alerts that are open, of what the credential may read" }),
    role: z
      .enum(ROLES)
      .nullable()
      .meta({ description: "The user's role; null for an API token", examples: [null] }),
    permissions: z
      .array(z.enum(ALL_PERMISSIONS))
      .meta({ description: "What the credential may do", examples: [["servers:read", "instances:read"]] }),
    revision: fields.integer(42, "Rises with every change in the account, except the progress of an operation"),
    revisions: z
      .object({
        servers: fields.integer(7).optional(),
        ssh_keys: fields.integer(1).optional(),
        instances: fields.integer(12).optional(),
        backups: fields.integer(9).optional(),
        policies: fields.integer(3).optional(),
        operations: fields.integer(31).optional(),
        users: fields.integer(2),
        invitations: fields.integer(1),
        sessions: fields.integer(5),
        others: fields.integer(2),
      })
      .meta({
        description:
          "The same by what is changed: each rises with a change of one of these records, `others` if it was none of these",
      }),
  })
  .meta({ id: "Overview" });
export type Overview = z.infer<typeof Overview>;

export const get = () =>
  endpoint({
    method: "GET",
    path: "/overview",
    summary: "Show how much there is, by status",
    description:
      "Counts what the credential may read: `servers`, `instances` and `backups` each need their read permission, `operations` needs all three, `alerts` needs `settings:read`. `role` and `permissions` say what the credential may do. " +
      "The counts are exact. Ask as often as you like with `If-None-Match`: as long as nothing has changed, the response is an empty `304`.",
    access: "credential",
    unversioned: [],
    data: Overview,
  });

/** The most loaded servers or instances, the worst first. */
const ranking = (kind: "server" | "instance", value: number) =>
  z.array(
    z.object({
      id: fields.id(kind),
      name: z.string().meta({ examples: [kind === "server" ? "erp-1" : "Shop"] }),
      value: z.number().meta({ examples: [value] }),
    }),
  );

export const worst = () =>
  endpoint({
    method: "GET",
    path: "/overview/worst",
    summary: "Show which servers and instances are loaded most",
    description: `Returns up to ${WORST.rows} of each, as their servers last reported, about every ten minutes; none that has not reported for half an hour.`,
    access: ["servers:read", "instances:read"],
    data: z
      .object({
        memory: ranking("server", 81).meta({ description: "Used memory of servers, in percent" }),
        disk: ranking("server", 64).meta({ description: "Used disk space of servers, in percent" }),
        p95_ms: ranking("instance", 420).meta({
          description: "How long 95 of 100 requests of an instance took at most in the last minutes, in milliseconds",
        }),
        complete: z.boolean().meta({
          description: `Whether all servers were compared. Of accounts with more than ${WORST.servers}, the instances on those are that use most of their memory`,
          examples: [true],
        }),
      })
      .meta({ id: "Worst" }),
  });

export const nights = () =>
  endpoint({
    method: "GET",
    path: "/overview/nights",
    summary: "Show what became of the backups of the last nights",
    description: `Returns the backups that were begun since a time, by instance, without uploads: the newest ${NIGHTS_BACKUPS_MAX.toLocaleString("en")} of them. Instances without any, and those that were deleted, are left out.`,
    access: ["backups:read"],
    query: z.strictObject({
      created_after: fields.queryMoment.meta({ description: "Since when", examples: ["2026-11-20"], ...fields.MOMENT_FORM }),
    }),
    data: z
      .object({
        instances: z.array(
          z.object({
            id: fields.id("instance"),
            name: z.string().meta({ description: "As the newest of its backups has it", examples: ["Shop"] }),
            backups: z
              .array(
                z.object({
                  id: fields.id("backup"),
                  kind: z.enum(BACKUP_KINDS).meta({ description: "New kinds may appear", examples: ["scheduled"] }),
                  status: z.enum(BACKUP_STATUSES).meta({ examples: ["completed"] }),
                  size_bytes: fields.integer(18_432, "null until the archive was measured").nullable(),
                  drill: z
                    .enum([DRILL.passed, DRILL.failed])
                    .nullable()
                    .meta({ description: "What the last restore drill found", examples: ["passed"] }),
                  created_at: fields.timestamp,
                }),
              )
              .meta({ description: "Newest first" }),
          }),
        ),
        complete: z.boolean().meta({ description: "Whether these are all backups since then", examples: [true] }),
      })
      .meta({ id: "Nights" }),
  });
