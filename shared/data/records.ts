// The records as stored in the table: the public fields, and those that only the service needs.
import * as z from "zod";
import { BackupPolicy, type PolicyFields } from "../api/backup-policy.ts";
import { Backup } from "../api/backups.ts";
import { type Actor, id, type Labels, timestamp } from "../api/fields.ts";
import { Instance } from "../api/instances.ts";
import { Operation } from "../api/operations.ts";
import { Server, SERVER_OBSERVED } from "../api/servers.ts";
import { Event } from "../api/settings.ts";
import { SshKey } from "../api/ssh-keys.ts";
import { Token } from "../api/tokens.ts";
import type { Permission } from "../api/permissions.ts";
import { DEFAULT_QUOTAS, SESSIONS_PER_USER } from "../domain/limits.ts";
import type {
  BackupStatus,
  HealthStatus,
  InstanceStatus,
  OperationStatus,
  OperationType,
  ProtectionStatus,
  ResourceType,
  ServerPhase,
} from "../domain/lifecycle.ts";
import { Stamp } from "./stamps.ts";
import { growing, stored } from "./stored.ts";

// Built once each: a function builds all schemas of its records when it starts.
const text = z.string();
const textOrNull = text.nullable();
const noText = textOrNull.default(null);
const maybeText = text.optional();
const count = z.number().int();
const counter = count.default(0);
const maybeCount = count.optional();
const mark = z.literal(true).optional();
const resourceType = growing<ResourceType>();

/** Checked when they came in; records of before there were labels have none. */
const labels = z.custom<Labels>().default({});

/** Fields of an instance that change immediately; one that was not sent keeps its value. */
export interface RenamedFields {
  name?: string | undefined;
  admin_email?: string | undefined;
  labels?: Labels | undefined;
  disk_quota_bytes?: number | null | undefined;
}

const listed = { account_id: text, number: text };

export const ServerRecord = stored(Server.omit({ status: true, reason: true, name_unicode: true, ...SERVER_OBSERVED })).extend({
  ...listed,
  labels,
  /** Servers of before it was stored have none. */
  ssh_key_name: noText,
  state: growing<ServerPhase>(),
  /** The provider's own id of the machine; null until it has given one. */
  machine_id: textOrNull,
  /** When an order was last sent, or its response was last unclear: there may be a machine that the provider does not list yet. */
  requested_at: noText,
  /** When its creation was given up: from then on no machine is ordered for it. */
  orders_closed_at: maybeText,
  /** Where its SSH server listens; null until the machine is known. */
  ssh_port: count.nullable().default(null),
  /** The public host keys that it may show, one line each: two while one is being changed for the other. */
  host_keys: z.array(text).default([]),
  /** Instances that are on it: it cannot be deleted while there are any. */
  instances: counter,
  failed_probes: counter,
  /** Scheduled backups that run on it. */
  scheduled_backups: counter,
});
export type ServerRecord = z.infer<typeof ServerRecord>;

/** A server whose health is checked. It is in no index, so that a check each minute costs one write unit, and none for each index. */
export const WatchedServer = z.object({
  account_id: text,
  server_id: text,
  last_seen_at: noText,
  /** When it was last checked, if it did not respond then. */
  silent_at: maybeText,
  /** How many instances were on it at the last login: another number is a reason for the next one. */
  instances_at_login: maybeCount,
  /** The last line of its machine, and when it was first seen. It was lost if no new one came. */
  line: z
    .object({ sequence: count, at: text, lost: z.boolean().default(false) })
    .nullable()
    .default(null),
  /** How often each ERP that cannot be used was missed in a row, by its instance's ID. */
  misses: z.record(text, count).default({}),
  /** When a quota of an instance on it was last changed that its machine does not know yet. */
  quotas_changed_at: maybeText,
  /** Domains that it redirects no longer, which its machine does not know yet: passed on with the quotas. */
  ended_redirects: z.set(text).optional(),
  /** Its disk is low: instances on it may be paused at any moment. */
  disk_low: mark,
});
export type WatchedServer = z.infer<typeof WatchedServer>;

/** What the proxy of a machine has for an instance's domain. */
const ReportedCertificate = z.object({
  domain: text,
  /** Null if there is none. */
  expires_at: textOrNull,
  /** The last attempt to get or renew it failed, or it is for another domain. */
  failing: z.boolean(),
});
export type ReportedCertificate = z.infer<typeof ReportedCertificate>;

/** What an instance uses of its machine's disk, what it may use, and whether the machine has paused it. */
const ReportedUse = z.object({
  used_bytes: count,
  /** As far as the machine knows it. */
  quota_bytes: count.nullable(),
  paused: z.boolean(),
});
export type ReportedUse = z.infer<typeof ReportedUse>;

/** What a server's machine last reported about itself. Like the item above it is in no index. */
export const HostReport = z.object({
  disk_free_bytes: count,
  memory_free_bytes: count,
  reported_at: text,
  /** By the instance's ID. */
  certificates: z.record(text, ReportedCertificate).default({}),
  /** When the certificates were reported, which the rest may be without; null if they never were. */
  certificates_at: noText,
  disk_size_bytes: count.nullable().default(null),
  /** By the instance's ID. */
  uses: z.record(text, ReportedUse).default({}),
  /** The step of free disk space, in percent, below which an alert is open. */
  disk_alert: count.nullable().default(null),
  /** The step at which the account's overview counts the server: an older version opened alerts without counting. */
  disk_shown: count.nullable().default(null),
  /** The kinds of the alerts that are open for an instance, by its ID. */
  use_alerts: z.record(text, z.array(text)).default({}),
});
export type HostReport = z.infer<typeof HostReport>;

export const InstanceRecord = stored(
  Instance.omit({
    status: true,
    reason: true,
    allowed_actions: true,
    dns_record: true,
    url: true,
    domain_unicode: true,
    protection: true,
    certificate: true,
    health: true,
    disk_used_bytes: true,
    disk_quota_bytes: true,
  }),
).extend({
  ...listed,
  labels,
  disk_quota_bytes: count.nullable().default(null),
  protection_status: growing<ProtectionStatus>().default("unprotected"),
  /** The last completed backup, without safety backups: when it was completed, and when it was begun. */
  last_backup_id: noText,
  last_backup_at: noText,
  last_backup_begun_at: noText,
  /** Whether the last drill of one of its backups passed or failed; null before the first. */
  last_drill: noText,
  /** Null without an enabled policy. */
  next_backup_at: noText,
  state: growing<InstanceStatus>(),
  server_ip: textOrNull,
  /** Whether the ERP was ever installed; records of before this was noted are taken for installed. */
  installed: z.boolean().default(true),
  health_status: growing<HealthStatus>().default("unknown"),
  health_since: noText,
  /** What does not load, of an ERP that is failing. */
  health_fault: noText,
  /** Modules that the last start found half installed. */
  unfinished_modules: z.array(text).default([]),
  /** The newest first, with those that have ended since. */
  previous_domains: z.array(z.object({ domain: text, redirects_until: text })).default([]),
  missing_modules: z.array(text).nullable().default(null),
  /** When the service last restarted it by itself. */
  auto_restarts: z.array(text).default([]),
});
export type InstanceRecord = z.infer<typeof InstanceRecord>;

export const KeptUpload = z.object({
  /** The storage's ID of the multipart upload, whose parts may not have been joined. */
  store_id: text,
  size_bytes: count,
  sha256: text,
});
export type KeptUpload = z.infer<typeof KeptUpload>;

const storedBackup = stored(Backup.omit({ status: true, reason: true }));
export const BackupRecord = storedBackup.extend({
  ...listed,
  labels,
  state: growing<BackupStatus>(),
  file_name: noText,
  missing_files: counter,
  listed_files: count.nullable().default(null),
  skipped_files: counter,
  left_out: storedBackup.shape.left_out.default([]),
  missing_modules: z.array(text).nullable().default(null),
  locked: Backup.shape.locked.default(false),
  drill: storedBackup.shape.drill.default(null),
  retained_by: storedBackup.shape.retained_by.default([]),
  /** When the run of a scheduled backup was due, and whether it repeats one that failed. */
  due_at: maybeText,
  attempt: maybeCount,
  server_id: id("server"),
  /** The storage's own checksum of the archive as it arrived. */
  stored_checksum: maybeText,
  /** What another try of a failed import takes, as long as its archive is stored. */
  upload: KeptUpload.optional(),
  /** For a clone once the instance is gone; an uploaded backup never had one. */
  admin_email: textOrNull,
  /** Operations that are reading the archive: it cannot be deleted while there are any. */
  used_by: z.set(text).optional(),
  /** The bytes that it counts in the account's quotas (`backup-quota.ts`); records from before have none, and are not counted. */
  counted_bytes: maybeCount,
});
export type BackupRecord = z.infer<typeof BackupRecord>;

/** A due run of a policy that has not started. */
const DueRun = z.object({
  due_at: text,
  /** 2 if it repeats one that failed. */
  attempt: count,
  /** From when on it may start. */
  start_at: text,
  /** Since when it is retried because its instance or server is not available; null while it is not. */
  held_since: textOrNull,
  /** Its backup, while it waits for a place on its server. */
  backup_id: textOrNull,
});
export type DueRun = z.infer<typeof DueRun>;

/** What moving a policy takes, without what is only shown of it: the end of a backup builds no more. */
export const PolicyCore = z.object({
  account_id: text,
  instance_id: text,
  server_id: text,
  enabled: z.boolean(),
  next_run_at: textOrNull,
  /** Changes with each write. */
  revision: text,
  /** The times before it was set or enabled do not count. */
  since: text,
  due: DueRun.nullable(),
  /** Whether a run has completed since retention was last applied. */
  retain: z.boolean(),
  /** When its instance becomes overdue, unless a backup is taken; null if it cannot, or is. */
  overdue_at: textOrNull,
  /** When the next restore drill is due; null without drills. */
  drill_at: noText,
});
export type PolicyCore = z.infer<typeof PolicyCore>;

export const PolicyRecord = stored(BackupPolicy.omit({ next_runs: true })).extend(PolicyCore.shape);
export type PolicyRecord = z.infer<typeof PolicyRecord>;

/**
 * What starting, withdrawing and ending an operation takes, without what is only shown of it. A function that can begin an operation builds this
 * schema at each cold start; the public one takes six times as long.
 */
export const OperationCore = z.object({
  ...listed,
  id: text,
  created_at: text,
  state: growing<OperationStatus>(),
  type: growing<OperationType>(),
  /** Operations of before they had a name have none. */
  resource: z.object({ type: resourceType, id: text, name: noText }),
  /** The execution's input: ids and flags. */
  input: z.record(text, z.unknown()),
  /** The state of the resource when the operation started; null for operations that create it. */
  before: textOrNull,
  /** What else the operation locks, besides its resource. */
  holds: z.array(z.object({ type: resourceType, id: text })),
  /** The backup whose archive it reads. */
  uses_backup_id: textOrNull,
  /** The other resources whose lists include the operation. */
  concerns: z.array(text).default([]),
  /** What the request changed immediately, for withdrawing the operation. */
  replaced: z.custom<{ before: RenamedFields; after: RenamedFields }>().optional(),
  /** Where the resource goes instead of what the lifecycle says, if a task found that out. */
  failed_state: maybeText,
  /** How many tries of its undos have failed: each further try is a separate job on the machine. */
  failed_undos: maybeCount,
  /** What the work was for is done and stays: only tidying up is left. */
  committed: mark,
  /** The operation is being undone: its steps must not add anything. */
  undoing: mark,
  /** What it found out is recorded, in this one change. */
  recorded: mark,
  /** A retry of the request got its success: the operation cannot be withdrawn. */
  confirmed: mark,
});
export type OperationCore = z.infer<typeof OperationCore>;

export const OperationRecord = stored(Operation.omit({ status: true })).extend({ ...OperationCore.shape, step_code: noText });
export type OperationRecord = z.infer<typeof OperationRecord>;

export const EventRecord = stored(Event).extend(listed);
export type EventRecord = z.infer<typeof EventRecord>;

export const SshKeyRecord = stored(SshKey).extend({ account_id: text });
export type SshKeyRecord = z.infer<typeof SshKeyRecord>;

const bytes = z.instanceof(Uint8Array);
/** When a credential's last counted requests came, in any order: a slot is free when its time is outside the window. */
const slots = z.array(Stamp);

/** What admits a token's requests, and so is written by each of them. */
export const TokenAccess = z.object({
  id: text,
  account_id: text,
  hash: bytes,
  /** A bit for each permission (`PERMISSION_BITS`). */
  permissions: z.number(),
  /** Milliseconds since 1970; absent: never. */
  expires_at: z.number().optional(),
  last_used_ip: noText,
  all: slots,
  create_delete: slots,
});
export type TokenAccess = z.infer<typeof TokenAccess>;

/** What is only shown of a token. */
export const TokenLabel = stored(
  Token.pick({ id: true, name: true, prefix: true, last4: true, created_at: true, created_by: true }),
).extend({
  /** What no other token's name may look like; older tokens claimed their name as it is. */
  unique_name: maybeText,
});

export interface TokenRecord extends Token {
  unique_name?: string | undefined;
  account_id: string;
  hash: Uint8Array;
}

/** What admits the requests of a user's sessions, and so is written by each of them. */
export const UserAccess = z.object({
  /** Changes with the password: no session is opened with one that is no longer the user's. */
  password: bytes,
  /** The tags of those that are open. */
  sessions: z.set(bytes).optional(),
  all: slots,
  create_delete: slots,
});
export type UserAccess = z.infer<typeof UserAccess>;

export const UserRecord = z.object({
  id: id("user"),
  account_id: id("account"),
  email: text,
  name: text,
  password_hash: text,
  created_at: timestamp,
});
export type UserRecord = z.infer<typeof UserRecord>;

export const AccountRecord = z.object({
  id: id("account"),
  account_name: text,
  contact_email: textOrNull,
  default_provider: textOrNull,
  default_region: textOrNull,
  backup_retention_days: count,
  default_backup_policy: z.custom<PolicyFields>().nullable().default(null),
  created_at: timestamp,
  updated_at: timestamp,
  /** How many there may be. */
  limit_server: counter,
  limit_instance: counter,
  limit_token: counter,
  limit_ssh_key: counter,
  limit_user: counter,
  limit_backup: count.default(DEFAULT_QUOTAS.backup),
  limit_backup_bytes: count.default(DEFAULT_QUOTAS.backup_bytes),
  /** Of each user; the oldest ends. */
  limit_session: count.default(SESSIONS_PER_USER),
  /** How many there are. */
  used_server: counter,
  used_instance: counter,
  used_token: counter,
  used_ssh_key: counter,
  used_user: counter,
  used_backup: counter,
  used_backup_bytes: counter,
  /** How many there have been: the number that the next one gets. */
  made_server: counter,
  made_instance: counter,
  made_backup: counter,
  made_operation: counter,
  made_event: counter,
});
export type AccountRecord = z.infer<typeof AccountRecord>;

/** The caller of a request, as the authorizer identified it. */
export const Caller = z.object({
  account_id: id("account"),
  type: growing<"token" | "user">(),
  id: text,
  /** Unknown to the authorizer; whoever changes something reads it with the account (`begin.ts`). */
  name: maybeText,
  permissions: z.array(growing<Permission>()),
  session_id: maybeText,
  ip_address: textOrNull,
  /** Which of the credential's places for waiting the request has taken, and until when it is taken. */
  wait: z.object({ place: text, until: z.number() }).optional(),
});
export type Caller = z.infer<typeof Caller>;

export type { Actor };
