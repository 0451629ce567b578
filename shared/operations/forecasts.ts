// What a request would do, for its dry run. Whether it is allowed is decided by the change itself (`Change.rehearse`); this only
// describes it, and estimates what past operations of the instance allow to estimate.
import { isDeepStrictEqual } from "node:util";
import type { PolicyFields } from "../api/backup-policy.ts";
import type { Effect, Forecast } from "../api/dry-run.ts";
import { OPERATION, type OperationType, RESTORABLE, SERVING, USABLE } from "../domain/lifecycle.ts";
import { REDIRECT_DAYS } from "../domain/limits.ts";
import { listDays } from "../domain/cron-days.ts";
import { diskSize, diskStep } from "../domain/low-disk.ts";
import { english, type Parameters, type Sentence, type SentenceCode } from "../domain/sentences.ts";
import { waitingBackup } from "./begin-backup.ts";
import { findBackupCode } from "../records/backup-code.ts";
import { hostReportRef } from "../records/host-reports.ts";
import { keys, keyString } from "../data/keys.ts";
import { listOfParent, newestOfParent } from "../data/lists-of-parents.ts";
import { policyRef } from "../records/policies.ts";
import { isNeverInstalled, listNextRuns } from "./policy-changes.ts";
import { applyRules } from "./policy-runs.ts";
import { BackupRecord } from "../records/schemas/backup.ts";
import type { Caller } from "../records/schemas/caller.ts";
import { CodeRecord, type CommitRecord } from "../records/schemas/code.ts";
import type { InstanceRecord } from "../records/schemas/instance.ts";
import { OperationRecord } from "../records/schemas/operation.ts";
import type { PolicyRecord } from "../records/schemas/backup-policy.ts";
import type { ServerRecord } from "../records/schemas/server.ts";
import { serverRef } from "../records/servers.ts";
import { find, read, readAll } from "../data/table.ts";

type ResourceType = Effect["resource"]["type"];

export const sentence = (code: SentenceCode, parameters: Parameters = {}): Sentence => ({ code, parameters });

export const effect = (
  action: Effect["action"],
  resource: { type: ResourceType; id: string | null },
  code: SentenceCode,
  parameters: Parameters = {},
): Effect => ({ action, resource, detail: english({ code, parameters }), code, parameters });

interface Estimate extends Partial<Pick<Forecast, "downtime_seconds" | "disk_bytes" | "next_run_at" | "next_runs">> {
  warnings?: Sentence[];
}

/** What interrupts no ERP and needs no disk space, unless it says otherwise. */
export const forecast = (effects: Effect[], { warnings = [], ...estimate }: Estimate = {}): Forecast => ({
  effects,
  downtime_seconds: 0,
  disk_bytes: 0,
  ...estimate,
  warnings: warnings.map(english),
  warning_reasons: warnings,
});

export const SERVER = "server" as const;
export const INSTANCE = "instance" as const;
export const BACKUP = "backup" as const;
const NEW_INSTANCE = { type: INSTANCE, id: null };
export const NEW_BACKUP = { type: BACKUP, id: null };

export const forecastServerDeletion = ({ id, machine_id }: ServerRecord): Forecast =>
  forecast([effect("delete", { type: SERVER, id }, machine_id === null ? "server_record_deleted" : "server_deleted")]);

/** Who asks: a forecast shows nothing that they may not read. */
type Reader = Pick<Caller, "permissions">;
export const mayRead = ({ permissions }: Reader, type: "server" | "instance" | "backup"): boolean =>
  permissions.includes(`${type}s:read`);

const readsArchive = (reader: Reader, { id, size_bytes }: BackupRecord): Effect =>
  size_bytes !== null && mayRead(reader, "backup")
    ? effect("read", { type: BACKUP, id }, "archive_downloaded", { archive_bytes: size_bytes })
    : effect("read", { type: BACKUP, id }, "archive_read");

/**
 * What a server's disk is short of, as it last reported: `bytes` are the least that the work needs. Nothing without a report. It
 * is never an error: the machine itself checks for room before it works.
 */
export async function diskWarnings(reader: Reader, accountId: string, serverId: string, bytes: number): Promise<Sentence[]> {
  if (!mayRead(reader, "server")) return [];
  const { server, report } = await read({ server: serverRef(accountId, serverId), report: hostReportRef(accountId, serverId) });
  if (server === undefined || report === undefined) return [];
  const { disk_free_bytes: free, reported_at } = report;
  const size = diskSize({ ...report, specs: server.specs });
  if (diskStep(free - bytes, size) === null) return [];
  const reported = { server_name: server.name, free_bytes: free, reported_at };
  if (diskStep(free, size) !== null) return [sentence("disk_low", reported)];
  return [sentence("disk_low_afterwards", { needed_bytes: bytes, ...reported })];
}

/**
 * With one more instance, each must have at least the least share of memory that an instance gets (`share` in
 * hosts/script/install.sh).
 */
const INSTANCE_MB_MIN = 768;
const memoryForInstances = (memory_gb: number): number => (memory_gb * 1024 * 15) / 16 - 384;

async function memoryWarnings(reader: Reader, accountId: string, serverId: string): Promise<Sentence[]> {
  if (!mayRead(reader, "server")) return [];
  const server = await find(serverRef(accountId, serverId));
  if (server === undefined) return [];
  const { name: server_name, instances, specs } = server;
  const { memory_gb } = specs;
  const instance_count = instances + 1;
  if (instance_count * INSTANCE_MB_MIN <= memoryForInstances(memory_gb)) return [];
  return [sentence("memory_low", { server_name, instance_count, needed_mb: INSTANCE_MB_MIN, memory_gb })];
}

/** Of a new instance that gets this policy. */
export async function forecastCreation(
  reader: Reader,
  { account_id, ...instance }: InstanceRecord,
  policy: PolicyFields | null,
): Promise<Forecast> {
  const { erp_version, edition, server_id, database_name, domain } = instance;
  return forecast(
    [
      effect("create", NEW_INSTANCE, "erp_installed", { erp_version, edition, server_id, database_name, domain }),
      ...effectsOfFirst(policy),
    ],
    {
      disk_bytes: null,
      warnings: [
        ...(await diskWarnings(reader, account_id, server_id, 0)),
        ...(await memoryWarnings(reader, account_id, server_id)),
      ],
    },
  );
}

/** For work that takes a domain: the other instance that redirects it no longer, if there is one. */
export const alsoEndsRedirect = (
  reader: Reader,
  planned: Forecast,
  { domain, of }: { domain: string; of: string | undefined },
): Forecast => {
  if (of === undefined) return planned;
  const resource = { type: INSTANCE, id: mayRead(reader, "instance") ? of : null };
  return { ...planned, effects: [...planned.effects, effect("update", resource, "redirect_ended", { domain })] };
};

/** What a policy does from now on; `archive_bytes` are those of the newest backup, if there is one that may be read. */
export const effectsOfPolicy = (
  instanceId: string | null,
  { schedule, timezone, enabled, drill_every_days }: PolicyFields,
  archive_bytes?: number | null,
): Effect[] => [
  enabled
    ? effect("update", { type: INSTANCE, id: instanceId }, "backups_scheduled", { schedule, timezone })
    : effect("update", { type: INSTANCE, id: instanceId }, "backups_paused"),
  ...(enabled && drill_every_days !== null
    ? [effect("read", NEW_BACKUP, ...drillsEvery(drill_every_days, archive_bytes ?? null))]
    : []),
];

function drillsEvery(days: number, archive_bytes: number | null): [SentenceCode, Parameters] {
  if (archive_bytes === null) return days === 1 ? ["drills_daily", {}] : ["drills_scheduled", { days }];
  return days === 1 ? ["drills_daily_download", { archive_bytes }] : ["drills_scheduled_download", { days, archive_bytes }];
}

const DUE_BACKUP = effect("create", NEW_BACKUP, "backup_due");

/** Those of a new instance's policy. */
const effectsOfFirst = (policy: PolicyFields | null): Effect[] =>
  policy === null ? [] : [...effectsOfPolicy(null, policy), ...(policy.enabled ? [DUE_BACKUP] : [])];

interface Parts {
  restore_database: boolean;
  restore_filestore: boolean;
}

type PartsName = "all" | "database" | "files";

const nameParts = ({ restore_database, restore_filestore }: Parts): PartsName =>
  restore_database && restore_filestore ? "all" : restore_database ? "database" : "files";

const NAMED_CLONE = {
  all: "erp_installed_from_backup",
  database: "erp_installed_from_database",
  files: "erp_installed_from_files",
} as const satisfies Record<PartsName, SentenceCode>;
const UNNAMED_CLONE = {
  all: "clone_installed_from_backup",
  database: "clone_installed_from_database",
  files: "clone_installed_from_files",
} as const satisfies Record<PartsName, SentenceCode>;

/** Without a name, the database of each clone gets another one. */
export async function forecastClone(
  reader: Reader,
  clone: Omit<InstanceRecord, "database_name"> & { database_name?: string | undefined },
  { backup, policy }: { backup: BackupRecord; policy: PolicyFields | null },
  parts: Parts & { reset_users: boolean },
): Promise<Forecast> {
  const { account_id, erp_version, edition, server_id, database_name, domain, neutralized } = clone;
  const place = { erp_version, edition, server_id, domain };
  return forecast(
    [
      database_name === undefined
        ? effect("create", NEW_INSTANCE, UNNAMED_CLONE[nameParts(parts)], place)
        : effect("create", NEW_INSTANCE, NAMED_CLONE[nameParts(parts)], { ...place, database_name }),
      ...(parts.restore_database ? await effectsOfCode(reader, backup, neutralized) : []),
      ...(parts.restore_database ? effectsOnCopy(neutralized, parts.reset_users) : []),
      readsArchive(reader, backup),
      ...effectsOfFirst(policy),
    ],
    {
      disk_bytes: null,
      warnings: [
        ...(neutralized ? [] : [sentence(backup.kind === "uploaded" ? "upload_not_neutralized" : "clone_not_neutralized")]),
        ...(parts.restore_database && parts.restore_filestore && backup.missing_files > 0
          ? [sentence("files_missing", { missing_files: backup.missing_files })]
          : []),
        ...moduleWarnings(reader, backup, parts),
        ...(await diskWarnings(reader, account_id, server_id, estimateBytes(backup, parts))),
        ...(await memoryWarnings(reader, account_id, server_id)),
      ],
    },
  );
}

/** What happens to the copied database before the ERP starts on it. */
const effectsOnCopy = (neutralizes: boolean, resetsUsers: boolean): Effect[] => [
  ...(neutralizes ? [effect("update", NEW_INSTANCE, "copy_neutralized")] : []),
  ...(resetsUsers ? [effect("update", NEW_INSTANCE, "copy_users_reset")] : []),
];

/** Of the image that the backup's modules were last compared with: that of another server may be a newer one. */
const moduleWarnings = (reader: Reader, { missing_modules }: BackupRecord, { restore_database }: Parts): Sentence[] =>
  restore_database && missing_modules !== null && missing_modules.length > 0 && mayRead(reader, "backup")
    ? [sentence("modules_missing", { modules: missing_modules.join(", ") })]
    : [];

/** What a new instance has besides its image. */
async function effectsOfCode(reader: Reader, backup: BackupRecord, neutralized: boolean): Promise<Effect[]> {
  const brought = mayRead(reader, "backup") ? await findBackupCode(backup) : undefined;
  if (brought === undefined) return [];
  const leavesSecrets = neutralized && brought.code.environment.some(({ secret }) => secret !== undefined);
  return [
    ...brought.commits.map(({ url, ref, commit }) => effect("create", NEW_INSTANCE, "copy_code", { url, ref, commit })),
    ...(leavesSecrets ? [effect("update", NEW_INSTANCE, "copy_without_secrets")] : []),
  ];
}

/** A restore into its own instance leaves the code as it is. */
async function codeWarnings(
  reader: Reader,
  { account_id, id }: InstanceRecord,
  backup: BackupRecord,
  { restore_database }: Parts,
): Promise<Sentence[]> {
  if (!restore_database || !mayRead(reader, "backup") || !mayRead(reader, "instance")) return [];
  const [then, present] = await Promise.all([
    findBackupCode(backup),
    find({ key: keys.code(account_id, id), schema: CodeRecord }).then((record) => record?.deployed),
  ]);
  const [before, now] = [describeCode(then), describeCode(present)];
  const [other, added] = [before.filter((each) => !now.includes(each)), now.filter((each) => !before.includes(each))];
  if (other.length > 0) return [sentence("restore_code_differs", { code: other.join(", ") })];
  return added.length > 0 ? [sentence("restore_code_added", { code: added.join(", ") })] : [];
}

/** Each commit and each package. */
const describeCode = (code: { commits: CommitRecord[]; python_packages?: string[] | undefined } | null | undefined): string[] =>
  code == null
    ? []
    : [
        ...code.commits.map(({ url, path, commit }) => [url, path ?? [], commit].flat().join(" ")),
        ...(code.python_packages ?? []),
      ];

/** What at least is put on the disk: nobody knows how large one part of an archive is. */
const estimateBytes = ({ size_bytes }: BackupRecord, { restore_database, restore_filestore }: Parts): number =>
  restore_database && restore_filestore ? (size_bytes ?? 0) : 0;

interface Restore extends Parts {
  neutralize: boolean;
  backup_first: boolean;
}

export async function forecastRestore(
  reader: Reader,
  instance: InstanceRecord,
  backup: BackupRecord,
  restore: Restore,
): Promise<Forecast> {
  const { neutralize, backup_first } = restore;
  const parts = nameParts(restore);
  return forecast(
    [
      effect(
        "restore",
        { type: INSTANCE, id: instance.id },
        parts === "files" ? "files_replaced" : neutralize ? `${parts}_replaced_neutralized` : `${parts}_replaced`,
      ),
      ...(backup_first ? [effect("create", NEW_BACKUP, "safety_backup_taken")] : []),
      readsArchive(reader, backup),
    ],
    {
      downtime_seconds: !mayRead(reader, "instance")
        ? null
        : !SERVING.includes(instance.state)
          ? 0
          : mayRead(reader, "backup")
            ? await downtimeOfRestore(instance, restore)
            : null,
      disk_bytes: null,
      warnings: [
        ...(backup_first ? [] : [sentence(restore.restore_database ? "data_not_recoverable" : "files_not_recoverable")]),
        ...moduleWarnings(reader, backup, restore),
        ...(await codeWarnings(reader, instance, backup, restore)),
        ...(await diskWarnings(reader, instance.account_id, instance.server_id, estimateBytes(backup, restore))),
      ],
    },
  );
}

export const forecastDrill = async (reader: Reader, backup: BackupRecord, serverId: string): Promise<Forecast> =>
  forecast([effect("update", { type: BACKUP, id: backup.id }, "backup_drilled"), readsArchive(reader, backup)], {
    disk_bytes: null,
    warnings: await diskWarnings(reader, backup.account_id, serverId, backup.size_bytes ?? 0),
  });

export async function forecastAction(
  reader: Reader,
  instance: InstanceRecord,
  action: "start" | "stop" | "restart" | "backup",
): Promise<Forecast> {
  const serves = SERVING.includes(instance.state);
  const resource = { type: INSTANCE, id: instance.id };
  switch (action) {
    case "start":
      return forecast([effect("start", resource, "erp_started")]);
    case "stop":
      return forecast([effect("stop", resource, "erp_stopped")], {
        downtime_seconds: null,
      });
    case "restart":
      return forecast([effect("restart", resource, "erp_restarted")], {
        downtime_seconds: !serves ? 0 : mayRead(reader, "instance") ? await durationOfLast(instance, "instance.restart") : null,
      });
    case "backup": {
      const newest = mayRead(reader, "backup") ? await newestBackup(instance) : undefined;
      const disk_bytes = newest?.size_bytes ?? null;
      return forecast([effect("create", NEW_BACKUP, "backup_taken")], {
        disk_bytes,
        warnings: await diskWarnings(reader, instance.account_id, instance.server_id, disk_bytes ?? 0),
      });
    }
    default:
      throw new Error(`No such action: ${String(action satisfies never)}`);
  }
}

export function forecastUpdate(
  reader: Reader,
  instance: InstanceRecord,
  {
    labels,
    ...news
  }: { [K in "name" | "admin_email" | "domain" | "labels" | "disk_quota_bytes"]?: InstanceRecord[K] | undefined },
): Forecast {
  const resource = { type: INSTANCE, id: instance.id };
  const knowsOld = mayRead(reader, "instance");
  const changed = (["name", "admin_email", "domain"] as const).flatMap((field) => {
    const [before, after] = [instance[field], news[field]];
    return after === undefined || after === before ? [] : [{ field, parameters: knowsOld ? { before, after } : { after } }];
  });
  const effects = changed.map(({ field, parameters }) =>
    effect("update", resource, knowsOld ? `${field}_changed` : `${field}_set`, parameters),
  );
  if (labels !== undefined && !isDeepStrictEqual(labels, instance.labels))
    effects.push(effect("update", resource, "labels_changed"));
  const quota = news.disk_quota_bytes;
  if (quota === null && instance.disk_quota_bytes !== null) effects.push(effect("update", resource, "disk_quota_removed"));
  if (typeof quota === "number" && quota !== instance.disk_quota_bytes)
    effects.push(effect("update", resource, "disk_quota_set", { quota_bytes: quota }));
  return forecast(effects.length === 0 ? [effect("update", resource, "nothing_changed")] : effects, {
    warnings: changed.flatMap(({ field, parameters }) =>
      field === "domain"
        ? [sentence(knowsOld ? "domain_redirects" : "old_domain_redirects", { ...parameters, days: REDIRECT_DAYS })]
        : [],
    ),
  });
}

export async function forecastInstanceDeletion(reader: Reader, instance: InstanceRecord): Promise<Forecast> {
  const { account_id, id, server_id } = instance;
  const [server, completed, policy] = await Promise.all([
    find(serverRef(account_id, server_id)),
    someCompleted(account_id, id),
    find(policyRef(account_id, id)),
  ]);
  const waiting = mayRead(reader, "backup") ? await waitingBackup(policy) : undefined;
  const reachable = server !== undefined && USABLE.includes(server.state);
  const readsBackups = mayRead(reader, "backup");
  return forecast(
    [
      effect("delete", { type: INSTANCE, id }, reachable || !mayRead(reader, "server") ? "erp_deleted" : "erp_deleted_later"),
      ...(policy === undefined || !readsBackups ? [] : [effect("delete", { type: "backup_policy", id }, "policy_deleted")]),
      ...(waiting === undefined ? [] : [effect("delete", { type: BACKUP, id: waiting.id }, "waiting_backup_deleted")]),
    ],
    {
      downtime_seconds: SERVING.includes(instance.state) ? null : 0,
      warnings: !readsBackups
        ? [sentence("unsaved_not_recoverable")]
        : completed.length === 0
          ? [sentence("no_backup_left")]
          : [],
    },
  );
}

export async function forecastBackupDeletion(reader: Reader, backup: BackupRecord): Promise<Forecast> {
  const completed =
    backup.instance_id === null || !mayRead(reader, "backup") ? [] : await someCompleted(backup.account_id, backup.instance_id);
  const isLast = completed.length === 1 && completed[0]?.id === backup.id;
  return forecast([effect("delete", { type: BACKUP, id: backup.id }, "backup_deleted")], {
    warnings: isLast ? [sentence("last_backup")] : [],
  });
}

/** Two of an instance's completed backups, if there are two: however many failed ones are newer. */
async function someCompleted(accountId: string, instanceId: string): Promise<BackupRecord[]> {
  const isCompleted = ({ state }: BackupRecord): boolean => RESTORABLE.includes(state);
  return (
    await listOfParent({ kind: "backup", accountId, schema: BackupRecord, parentId: instanceId }, { per_page: 2 }, isCompleted)
  ).items;
}

/** What a policy would change: what it will do, and what its rules would remove after the next run. */
export async function forecastPolicy(reader: Reader, instance: InstanceRecord, policy: PolicyRecord): Promise<Forecast> {
  const { next_run_at } = policy;
  const newest = mayRead(reader, "backup") ? await newestBackup(instance) : undefined;
  const removable = next_run_at === null ? [] : (await applyRules(policy, instance, policy.due?.due_at ?? next_run_at)).removable;
  return forecast(
    [
      ...effectsOfPolicy(instance.id, policy, newest?.size_bytes),
      ...(policy.due?.backup_id === null ? [DUE_BACKUP] : []),
      ...removable.map(({ id, due_at }) =>
        mayRead(reader, "backup")
          ? effect("delete", { type: BACKUP, id }, "backup_not_kept", { due_at })
          : effect("delete", { type: BACKUP, id: null }, "some_backup_not_kept"),
      ),
    ],
    {
      next_run_at,
      next_runs: listNextRuns(policy),
      warnings: [
        ...daysWarning(policy.schedule),
        ...(isNeverInstalled(instance) && mayRead(reader, "instance") ? [sentence("never_installed")] : []),
      ],
    },
  );
}

/** People rarely expect what cron makes of two restricted fields of days. */
function daysWarning(schedule: string): Sentence[] {
  const [, , day = "", , weekday = ""] = schedule.split(" ");
  switch (listDays(schedule)) {
    case "either":
      return [sentence("days_match_either", { day, weekday })];
    case "both":
      return [sentence("days_match_both", { day, weekday })];
    default:
      return [];
  }
}

/** How far back an estimate looks, in records of the instance: one Query of at most some 100 KB. */
const LOOK_BACK = 100;

async function newestBackup({ account_id, id }: InstanceRecord): Promise<BackupRecord | undefined> {
  const newest = await newestOfParent({ kind: "backup", accountId: account_id, schema: BackupRecord }, id, LOOK_BACK);
  return newest.find(({ state }) => RESTORABLE.includes(state));
}

async function succeeded({ account_id, id }: InstanceRecord, type: OperationType): Promise<OperationRecord[]> {
  const list = { kind: "operation", accountId: account_id, schema: OperationRecord } as const;
  const newest = await newestOfParent(list, id, LOOK_BACK);
  return newest.filter((operation) => operation.type === type && operation.state === OPERATION.succeeded);
}

/** The whole operation's, which is a little more than the ERP is away. */
async function durationOfLast(instance: InstanceRecord, type: OperationType): Promise<number | null> {
  const [last] = await succeeded(instance, type);
  if (last === undefined || last.started_at === null || last.finished_at === null) return null;
  return Math.ceil((Date.parse(last.finished_at) - Date.parse(last.started_at)) / 1000);
}

/**
 * The last restore of the same parts. The ERP is away for the safety backup and the swap, not while the restored data is built;
 * so it is longer if the instance has grown since, as its backups show.
 */
async function downtimeOfRestore(instance: InstanceRecord, restore: Restore): Promise<number | null> {
  const same = (await succeeded(instance, "backup.restore")).filter(({ input }) =>
    (["restore_database", "restore_filestore", "backup_first"] as const).every((part) => input[part] === restore[part]),
  );
  const last = same.find(({ result }) => result?.downtime_seconds !== undefined)?.result;
  if (last?.downtime_seconds === undefined) return null;
  if (last.safety_backup_id === undefined) return last.downtime_seconds;
  const key = keys.record("backup", instance.account_id, last.safety_backup_id);
  const [then, now] = await Promise.all([readAll([key]), newestBackup(instance)]);
  const before = BackupRecord.safeParse(then.get(keyString(key))).data?.size_bytes ?? 0;
  const growth = before > 0 ? Math.max(1, (now?.size_bytes ?? 0) / before) : 1;
  return Math.ceil(last.downtime_seconds * growth);
}
