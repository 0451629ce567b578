// The records as stored in the table: the public fields, and those that only the service needs.
import * as z from "zod";
import { BackupPolicy, type PolicyFields } from "../api/backup-policy.ts";
import { Backup, BackupStatus } from "../api/backups.ts";
import { type Actor, email, id, timestamp } from "../api/fields.ts";
import { Instance, InstanceStatus } from "../api/instances.ts";
import { Operation, OperationStatus } from "../api/operations.ts";
import { Server } from "../api/servers.ts";
import { Event } from "../api/settings.ts";
import { SshKey } from "../api/ssh-keys.ts";
import { Token } from "../api/tokens.ts";
import { ALL_PERMISSIONS } from "../api/permissions.ts";
import { isServerPhase, OPERATION_TYPES, PROTECTION_STATUSES, RESOURCE_TYPES, type ServerPhase } from "../domain/lifecycle.ts";
import { Stamp } from "./stamps.ts";
import { stored } from "./stored.ts";

const listed = { account_id: z.string(), number: z.string() };

export const ServerRecord = stored(Server.omit({ status: true, last_seen_at: true })).extend({
  ...listed,
  state: z.custom<ServerPhase>(isServerPhase),
  /** The provider's own id of the machine; null until it has given one. */
  machine_id: z.string().nullable(),
  /** When an order was last sent, or its response was last unclear: there may be a machine that the provider does not list yet. */
  requested_at: z.string().nullable().default(null),
  /** When its creation was given up: from then on no machine is ordered for it. */
  orders_closed_at: z.string().optional(),
  /** Where its SSH server listens; null until the machine is known. */
  ssh_port: z.number().int().nullable().default(null),
  /** The public host keys that it may show, one line each: two while one is being changed for the other. */
  host_keys: z.array(z.string()).default([]),
  /** Instances that are on it: it cannot be deleted while there are any. */
  instances: z.number().int().default(0),
  failed_probes: z.number().int().default(0),
  /** Scheduled backups that run on it. */
  scheduled_backups: z.number().int().default(0),
});
export type ServerRecord = z.infer<typeof ServerRecord>;

/** A server whose health is checked. It is in no index, so that a check each minute costs one write unit, and none for each index. */
export const WatchedServer = z.object({
  account_id: z.string(),
  server_id: z.string(),
  last_seen_at: z.string().nullable().default(null),
});
export type WatchedServer = z.infer<typeof WatchedServer>;

export const InstanceRecord = stored(
  Instance.omit({ status: true, allowed_actions: true, dns_record: true, url: true, protection: true }),
).extend({
  ...listed,
  protection_status: z.enum(PROTECTION_STATUSES).default("unprotected"),
  /** The last completed backup, without safety backups: when it was completed, and when it was begun. */
  last_backup_id: z.string().nullable().default(null),
  last_backup_at: z.string().nullable().default(null),
  last_backup_begun_at: z.string().nullable().default(null),
  /** Null without an enabled policy. */
  next_backup_at: z.string().nullable().default(null),
  state: InstanceStatus,
  server_ip: z.string().nullable(),
  /** Whether the ERP was ever installed; records of before this was noted are taken for installed. */
  installed: z.boolean().default(true),
});
export type InstanceRecord = z.infer<typeof InstanceRecord>;

export const BackupRecord = stored(Backup.omit({ status: true })).extend({
  ...listed,
  state: BackupStatus,
  missing_files: Backup.shape.missing_files.default(0),
  skipped_files: Backup.shape.skipped_files.default(0),
  locked: Backup.shape.locked.default(false),
  drill: Backup.shape.drill.default(null),
  retained_by: Backup.shape.retained_by.default([]),
  /** When the run of a scheduled backup was due, and whether it repeats one that failed. */
  due_at: z.string().optional(),
  attempt: z.number().int().optional(),
  server_id: id("server"),
  /** The storage's own checksum of the archive as it arrived. */
  stored_checksum: z.string().optional(),
  /** For a clone once the instance is gone. */
  admin_email: email,
  /** Operations that are reading the archive: it cannot be deleted while there are any. */
  used_by: z.set(z.string()).optional(),
});
export type BackupRecord = z.infer<typeof BackupRecord>;

/** A due run of a policy that has not started. */
const DueRun = z.object({
  due_at: z.string(),
  /** 2 if it repeats one that failed. */
  attempt: z.number().int(),
  /** From when on it may start. */
  start_at: z.string(),
  /** Since when it is retried because its instance or server is not available; null while it is not. */
  held_since: z.string().nullable(),
  /** Its backup, while it waits for a place on its server. */
  backup_id: z.string().nullable(),
});
export type DueRun = z.infer<typeof DueRun>;

/** What moving a policy takes, without what is only shown of it: the end of a backup builds no more. */
export const PolicyCore = z.object({
  account_id: z.string(),
  instance_id: z.string(),
  server_id: z.string(),
  enabled: z.boolean(),
  next_run_at: z.string().nullable(),
  /** Changes with each write. */
  revision: z.string(),
  /** The times before it was set or enabled do not count. */
  since: z.string(),
  due: DueRun.nullable(),
  /** Whether a run has completed since retention was last applied. */
  retain: z.boolean(),
  /** When its instance becomes overdue, unless a backup is taken; null if it cannot, or is. */
  overdue_at: z.string().nullable(),
  /** When the next restore drill is due; null without drills. */
  drill_at: z.string().nullable().default(null),
});
export type PolicyCore = z.infer<typeof PolicyCore>;

export const PolicyRecord = stored(BackupPolicy).extend(PolicyCore.shape);
export type PolicyRecord = z.infer<typeof PolicyRecord>;

/**
 * What starting, withdrawing and ending an operation takes, without what is only shown of it. A function that can begin an operation builds this
 * schema at each cold start; the public one takes six times as long.
 */
export const OperationCore = z.object({
  ...listed,
  id: z.string(),
  created_at: z.string(),
  state: OperationStatus,
  type: z.enum(OPERATION_TYPES),
  resource: z.object({ type: z.enum(RESOURCE_TYPES), id: z.string() }),
  /** The execution's input: ids and flags. */
  input: z.record(z.string(), z.unknown()),
  /** The state of the resource when the operation started; null for operations that create it. */
  before: z.string().nullable(),
  /** What else the operation locks, besides its resource. */
  holds: z.array(z.object({ type: z.enum(RESOURCE_TYPES), id: z.string() })),
  /** The backup whose archive it reads. */
  uses_backup_id: z.string().nullable(),
  /** The other resources whose lists include the operation. */
  concerns: z.array(z.string()).default([]),
  /** The previous values of what the request changed immediately, for withdrawing the operation. */
  replaced: z.record(z.string(), z.string()).optional(),
  /** Where the resource goes instead of what the lifecycle says, if a task found that out. */
  failed_state: z.string().optional(),
  /** How many tries of its undos have failed: each further try is a separate job on the machine. */
  failed_undos: z.number().int().optional(),
  /** What the work was for is done and stays: only tidying up is left. */
  committed: z.literal(true).optional(),
  /** The operation is being undone: its steps must not add anything. */
  undoing: z.literal(true).optional(),
  /** What it found out is recorded, in this one change. */
  recorded: z.literal(true).optional(),
  /** A retry of the request got its success: the operation cannot be withdrawn. */
  confirmed: z.literal(true).optional(),
});
export type OperationCore = z.infer<typeof OperationCore>;

export const OperationRecord = stored(Operation.omit({ status: true })).extend(OperationCore.shape);
export type OperationRecord = z.infer<typeof OperationRecord>;

export const EventRecord = stored(Event).extend(listed);
export type EventRecord = z.infer<typeof EventRecord>;

export const SshKeyRecord = stored(SshKey).extend({ account_id: z.string() });
export type SshKeyRecord = z.infer<typeof SshKeyRecord>;

const bytes = z.instanceof(Uint8Array);
/** When a credential's last counted requests came, in any order: a slot is free when its time is outside the window. */
const slots = z.array(Stamp);

/** What admits a token's requests, and so is written by each of them. */
export const TokenAccess = z.object({
  id: z.string(),
  account_id: z.string(),
  hash: bytes,
  /** A bit for each permission, in the order of `ALL_PERMISSIONS`. */
  permissions: z.number(),
  /** Milliseconds since 1970; absent: never. */
  expires_at: z.number().optional(),
  last_used_ip: z.string().nullable().default(null),
  all: slots,
  create_delete: slots,
});
export type TokenAccess = z.infer<typeof TokenAccess>;

/** What is only shown of a token. */
export const TokenLabel = stored(
  Token.pick({ id: true, name: true, prefix: true, last4: true, created_at: true, created_by: true }),
);

export interface TokenRecord extends Token {
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
  email,
  name: z.string(),
  password_hash: z.string(),
  created_at: timestamp,
});
export type UserRecord = z.infer<typeof UserRecord>;

const counter = z.number().int().default(0);

export const AccountRecord = z.object({
  id: id("account"),
  account_name: z.string(),
  contact_email: z.string().nullable(),
  default_provider: z.string().nullable(),
  default_region: z.string().nullable(),
  backup_retention_days: z.number().int(),
  default_backup_policy: z.custom<PolicyFields>().nullable().default(null),
  created_at: timestamp,
  updated_at: timestamp,
  /** How many there may be. */
  limit_server: counter,
  limit_instance: counter,
  limit_token: counter,
  limit_ssh_key: counter,
  limit_user: counter,
  /** How many there are. */
  used_server: counter,
  used_instance: counter,
  used_token: counter,
  used_ssh_key: counter,
  used_user: counter,
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
  type: z.enum(["token", "user"]),
  id: z.string(),
  /** Unknown to the authorizer; whoever changes something reads it with the account (`begin.ts`). */
  name: z.string().optional(),
  permissions: z.array(z.enum(ALL_PERMISSIONS)),
  session_id: z.string().optional(),
  ip_address: z.string().nullable(),
  /** Which of the credential's places for waiting the request has taken, and until when it is taken. */
  wait: z.object({ place: z.string(), until: z.number() }).optional(),
});
export type Caller = z.infer<typeof Caller>;

export type { Actor };
