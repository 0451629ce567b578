// An account as it is stored: its settings, its quotas, and what counts against them.
import * as z from "zod";
import type { PolicyFields } from "../../api/backup-policy.ts";
import * as fields from "../../api/fields.ts";
import type { Settings } from "../../api/settings.ts";
import { openEnum } from "../../data/stored.ts";
import { CODE, DEFAULT_QUOTAS, SESSIONS_PER_USER } from "../../domain/limits.ts";
import { text, textOrNull, count, counter } from "./fields.ts";

export const AccountRecord = z.object({
  id: fields.id("account"),
  account_name: text,
  contact_email: textOrNull,
  default_provider: textOrNull,
  default_region: textOrNull,
  backup_retention_days: count,
  token_max_days: count.nullable().default(null),
  /** The networks that people may sign in from; empty: everywhere. */
  allowed_ips: z.array(text).default([]),
  require_second_factor: openEnum<Settings["require_second_factor"]>().default("none"),
  /** Those that were ever set; see `alertSettings`. */
  alert_settings: z.record(text, z.unknown()).default({}),
  default_backup_policy: z.custom<PolicyFields>().nullable().default(null),
  created_at: fields.timestamp,
  updated_at: fields.timestamp,
  /** How many there may be. */
  limit_server: counter,
  limit_instance: counter,
  limit_token: counter,
  limit_ssh_key: counter,
  limit_user: counter,
  limit_backup: count.default(DEFAULT_QUOTAS.backup),
  limit_backup_bytes: count.default(DEFAULT_QUOTAS.backup_bytes),
  limit_webhook: count.default(DEFAULT_QUOTAS.webhook),
  /** Per user; beyond it, the oldest session ends. */
  limit_session: count.default(SESSIONS_PER_USER),
  /** Per instance. */
  limit_repositories: count.default(CODE.repositories),
  /** How many there are. */
  used_server: counter,
  used_instance: counter,
  used_token: counter,
  used_ssh_key: counter,
  used_user: counter,
  used_backup: counter,
  used_backup_bytes: counter,
  used_webhook: counter,
  /** How many there have been: the number that the next one gets. */
  made_server: counter,
  made_instance: counter,
  made_backup: counter,
  made_operation: counter,
  made_event: counter,
  made_outcome: counter,
  made_alert: counter,
});

export type AccountRecord = z.infer<typeof AccountRecord>;
