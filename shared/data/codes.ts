// Codes that stand for values in stored items. An item is read for years, by later versions and, after a rollback, by earlier
// ones: never change a code, and never give one that was used to another value. `test/codes.test.ts` allows additions only.
import type { BackupKind } from "../api/backups.ts";
import type { Permission } from "../api/permissions.ts";
import type { Role } from "../api/roles.ts";
import type {
  BackupStatus,
  InstanceStatus,
  OperationStatus,
  OperationType,
  ProtectionStatus,
  ResourceType,
  ServerStatus,
} from "../domain/lifecycle.ts";

/** The bit of each permission in a token's number. A new permission gets the next one; a number holds 53. */
export const PERMISSION_BITS: Readonly<Record<Permission, number>> = {
  "servers:read": 0,
  "servers:write": 1,
  "instances:read": 2,
  "instances:write": 3,
  "instances:actions": 4,
  "backups:read": 5,
  "backups:write": 6,
  "backups:restore": 7,
  "settings:read": 8,
  "settings:write": 9,
};

/** One character for each role, as a user's access stores it: every request writes that item, which has little room. */
export const ROLE_CODES: Readonly<Record<Role, string>> = { owner: "o", admin: "a", operator: "p", viewer: "v", custom: "c" };

/**
 * One character for each status, as search entries store it: 10,000 of them are read for a search. A new status needs none: it is
 * stored as its text, which versions without it can show.
 */
export const STATUS_CODES: Readonly<
  Partial<Record<ServerStatus | InstanceStatus | BackupStatus | ProtectionStatus | OperationStatus, string>>
> = {
  active: "a",
  provisioning: "p",
  offline: "o",
  running: "r",
  stopping: "i",
  stopped: "s",
  starting: "t",
  restarting: "e",
  restoring: "v",
  failed: "f",
  deleting: "d",
  pending: "n",
  completed: "c",
  unprotected: "u",
  protected: "y",
  overdue: "z",
  succeeded: "g",
};

const CODES: Readonly<Record<string, string | undefined>> = STATUS_CODES;
export const codeOfStatus = (status: string): string => CODES[status] ?? status;
export const statusOfCode = (code: string): string => Object.keys(CODES).find((status) => CODES[status] === code) ?? code;

/** The same for each kind of backup. */
export const BACKUP_KIND_CODES: Readonly<Record<BackupKind, string>> = {
  manual: "m",
  pre_restore: "r",
  pre_deploy: "d",
  scheduled: "s",
  uploaded: "u",
};

const KIND_CODES: Readonly<Record<string, string | undefined>> = BACKUP_KIND_CODES;
export const codeOfBackupKind = (kind: string): string => KIND_CODES[kind] ?? kind;

/** The letter of each kind of record in the keys of its search entries. */
export const ENTRY_LETTERS: Readonly<Record<ResourceType | "operation", string>> = {
  server: "s",
  instance: "i",
  backup: "b",
  operation: "o",
};

/** One character for each type of operation, as their entries store it. A type without one is stored as its text. */
export const OPERATION_CODES: Readonly<Partial<Record<OperationType, string>>> = {
  "server.create": "a",
  "server.delete": "b",
  "instance.create": "c",
  "instance.update": "d",
  "instance.clone": "e",
  "instance.start": "f",
  "instance.stop": "g",
  "instance.restart": "h",
  "instance.delete": "i",
  "backup.create": "j",
  "backup.import": "k",
  "backup.delete": "l",
  "backup.drill": "m",
  "backup.restore": "n",
  "bulk.run": "o",
  "instance.check_code": "p",
  "instance.deploy": "q",
  "server.reboot": "r",
  "server.update": "s",
};

const TYPES: Readonly<Record<string, string | undefined>> = OPERATION_CODES;
export const codeOfOperation = (type: string): string => TYPES[type] ?? type;

/** The attributes of a search entry. */
export const ENTRY_ATTRIBUTES = {
  name: "n",
  domain: "d",
  database_name: "b",
  note: "t",
  labels: "l",
  server_id: "h",
  status: "s",
  protection: "p",
  /** Health of an instance's ERP, as its record has it; unknown if it is missing. */
  health: "e",
  /** Backups only. */
  backup_kind: "g",
  /** Backups only: size of the archive, once it was measured. */
  size_bytes: "z",
  /** How many milliseconds after the time in its ID the record was created. */
  created_after_id: "c",
  /** Operations only. */
  type: "k",
  actor: "a",
  /** Operations only: the instance that the operation is about, or else its resource; the last bytes of the ID. */
  about: "x",
} as const;

/** The attributes of a list's counts, each followed by the number of its block. */
export const COUNT_ATTRIBUTES = { count: "b", mark: "m" } as const;
/** Records in a block: what a page may have to skip over. Small, because each costs capacity to read. */
export const BLOCK = 32;
/** Blocks in an item of counts: a write costs a unit per KB of it, so that it must stay small however long the list. */
export const BLOCKS_PER_LEAF = 32;

/** Times in so many bytes, as milliseconds since then. */
export const STAMP = { bytes: 5, epoch: Date.UTC(2026, 0, 1) } as const;

/** Partitions of the policies' timers, by the policy's instance. Each is one read a minute. */
export const POLICY_SHARDS = 4;

/** Partitions of the outbox: each takes a thousand writes a second. */
export const OUTBOX_SHARDS = 8;
