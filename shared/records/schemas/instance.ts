// An instance as it is stored.
import * as z from "zod";
import { Instance, type update } from "../../api/instances.ts";
import type { HealthStatus, InstanceStatus, ProtectionStatus } from "../../domain/lifecycle.ts";
import { openEnum, stored } from "../../data/stored.ts";
import { text, textOrNull, noText, count, labels, listed, reason } from "./fields.ts";

/** What `PUT /instances/:id` takes. A field that was not sent keeps its value. */
export type InstanceUpdate = z.infer<ReturnType<typeof update>["body"]>;

/** All but the domain change immediately. */
export type InstanceEdit = Omit<InstanceUpdate, "domain">;

export const InstanceRecord = stored(
  Instance.omit({
    status: true,
    reason: true,
    allowed_actions: true,
    dns_record: true,
    url: true,
    domain_unicode: true,
    admin_email_unicode: true,
    protection: true,
    certificate: true,
    health: true,
    disk_used_bytes: true,
    disk_quota_bytes: true,
  }),
).extend({
  ...listed,
  labels,
  reason,
  disk_quota_bytes: count.nullable().default(null),
  protection_status: openEnum<ProtectionStatus>().default("unprotected"),
  /** The last completed backup, without safety backups: when it was completed, and when it was begun. */
  last_backup_id: noText,
  last_backup_at: noText,
  last_backup_begun_at: noText,
  /** Whether the last drill of one of its backups passed or failed; null before the first. */
  last_drill: noText,
  /** Null without an enabled policy. */
  next_backup_at: noText,
  state: openEnum<InstanceStatus>(),
  server_ip: textOrNull,
  /** Whether the ERP was ever installed; records of before this was noted are taken for installed. */
  installed: z.boolean().default(true),
  health_status: openEnum<HealthStatus>().default("unknown"),
  health_since: noText,
  /** What does not load, of an ERP that is failing. */
  health_fault: noText,
  /** Modules that the last start found half installed. */
  unfinished_modules: z.array(text).default([]),
  /** The newest first, with those that have ended since. */
  previous_domains: z.array(z.object({ domain: text, redirects_until: text })).default([]),
  missing_modules: z.array(text).nullable().default(null),
  /** The image of its ERP, as its server last reported it, and whether there is a newer one. */
  image_id: noText,
  image_created_at: noText,
  update_available: z.boolean().nullable().default(null),
  /** The times when the service last restarted it by itself. */
  auto_restarts: z.array(text).default([]),
});

export type InstanceRecord = z.infer<typeof InstanceRecord>;
