// What a request would do, for its dry run. Whether it is allowed is decided by the change itself (`Change.rehearse`); this only describes
// it, and estimates what past operations of the instance allow to estimate.
import { isDeepStrictEqual } from "node:util";
import type { PolicyFields } from "../api/backup-policy.ts";
import type { Effect, Forecast } from "../api/dry-run.ts";
import { OPERATION, type OperationType, RESTORABLE, SERVING, USABLE } from "../domain/lifecycle.ts";
import { daysOf } from "../domain/cron-days.ts";
import { isLowDisk } from "../domain/low-disk.ts";
import { waitingBackup } from "./begin-backup.ts";
import { hostReportRef } from "./host-reports.ts";
import { keys, keyString } from "./keys.ts";
import { listOfParent, newestOfParent } from "./lists-of-parents.ts";
import { policyRef } from "./policies.ts";
import { isNeverInstalled, nextRunsOf } from "./policy-changes.ts";
import { retentionOf } from "./policy-runs.ts";
import {
  BackupRecord,
  type Caller,
  type InstanceRecord,
  OperationRecord,
  type PolicyRecord,
  type ServerRecord,
} from "./records.ts";
import { serverRef } from "./servers.ts";
import { find, read, readAll } from "./table.ts";

type ResourceType = Effect["resource"]["type"];

const effect = (action: Effect["action"], type: ResourceType, id: string | null, detail: string): Effect => ({
  action,
  resource: { type, id },
  detail,
});

/** What interrupts no ERP and needs no disk space, unless it says otherwise. */
const forecast = (effects: Effect[], other: Partial<Omit<Forecast, "effects">> = {}): Forecast => ({
  effects,
  downtime_seconds: 0,
  disk_bytes: 0,
  warnings: [],
  ...other,
});

const readsArchive = (backupId: string): Effect =>
  effect("read", "backup", backupId, "Reads the archive; the backup cannot be deleted until the operation ends");

export const forecastServerDeletion = ({ id, machine_id }: ServerRecord): Forecast =>
  forecast([
    effect(
      "delete",
      "server",
      id,
      machine_id === null ? "Deletes the record; it has no machine" : "Deletes the machine at its provider, and the record",
    ),
  ]);

/** Who asks: a forecast shows nothing that they may not read. */
type Reader = Pick<Caller, "permissions">;
const mayRead = ({ permissions }: Reader, type: "server" | "instance" | "backup"): boolean =>
  permissions.includes(`${type}s:read`);

/**
 * What a server's disk is short of, as it last reported: `bytes` are the least that the work needs. Nothing without a report. It is never an
 * error: the machine itself checks for room before it works.
 */
async function diskWarnings(reader: Reader, accountId: string, serverId: string, bytes: number): Promise<string[]> {
  if (!mayRead(reader, "server")) return [];
  const { server, report } = await read({ server: serverRef(accountId, serverId), report: hostReportRef(accountId, serverId) });
  if (server === undefined || report === undefined) return [];
  const { disk_free_bytes: free, reported_at } = report;
  const { disk_gb } = server.specs;
  if (!isLowDisk(free - bytes, disk_gb)) return [];
  const needed = isLowDisk(free, disk_gb) ? "" : `this needs at least ${gigabytes(bytes)} GB, and `;
  return [`Low disk space: ${needed}server ${server.name} reported ${gigabytes(free)} GB free at ${reported_at}. ${REMEDY}`];
}

const REMEDY = "Delete instances there that you no longer need, or use another server";

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

/** With one more instance, each must have at least the least share of memory that an instance gets (`share` in hosts/script/install.sh). */
const INSTANCE_MB_MIN = 768;
const memoryForInstances = (memory_gb: number): number => (memory_gb * 1024 * 15) / 16 - 384;

async function memoryWarnings(reader: Reader, accountId: string, serverId: string): Promise<string[]> {
  if (!mayRead(reader, "server")) return [];
  const server = await find(serverRef(accountId, serverId));
  if (server === undefined) return [];
  const { name, instances, specs } = server;
  if ((instances + 1) * INSTANCE_MB_MIN <= memoryForInstances(specs.memory_gb)) return [];
  return [
    `Too little memory: with this one, server ${name} has ${instances + 1} instances, which need ${INSTANCE_MB_MIN} MB each, and ${specs.memory_gb} GB of memory. Use another server`,
  ];
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
      effect(
        "create",
        "instance",
        null,
        `Installs the ERP ${erp_version} (${edition}) on server ${server_id} with the database ${database_name}, at https://${domain}`,
      ),
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

/** What a policy does from now on. */
const effectsOfPolicy = (
  instanceId: string | null,
  { schedule, timezone, enabled, drill_every_days }: PolicyFields,
): Effect[] => [
  effect(
    "update",
    "instance",
    instanceId,
    enabled ? `Backs up the instance by the schedule ${schedule} (${timezone})` : "Takes no backups by schedule",
  ),
  ...(enabled && drill_every_days !== null
    ? [
        effect(
          "read",
          "backup",
          null,
          `Drills the newest completed backup every ${drill_every_days === 1 ? "day" : `${drill_every_days} days`}`,
        ),
      ]
    : []),
];

const DUE_BACKUP = effect("create", "backup", null, "Takes a backup as soon as the instance is available");

/** Those of a new instance's policy. */
const effectsOfFirst = (policy: PolicyFields | null): Effect[] =>
  policy === null ? [] : [...effectsOfPolicy(null, policy), ...(policy.enabled ? [DUE_BACKUP] : [])];

interface Parts {
  restore_database: boolean;
  restore_filestore: boolean;
}

const partsOf = ({ restore_database, restore_filestore }: Parts): string =>
  restore_database && restore_filestore ? "the database and the files" : restore_database ? "the database" : "the files";

/** Without a name, the database of each clone gets another one. */
export async function forecastClone(
  reader: Reader,
  clone: Omit<InstanceRecord, "database_name"> & { database_name?: string | undefined },
  { backup, policy }: { backup: BackupRecord; policy: PolicyFields | null },
  parts: Parts & { reset_users: boolean },
): Promise<Forecast> {
  const { account_id, erp_version, edition, server_id, database_name, domain, neutralized } = clone;
  const database = database_name === undefined ? "a database named after it" : `the database ${database_name}`;
  const place = `the ERP ${erp_version} (${edition}) on server ${server_id} with ${database}, at https://${domain}`;
  return forecast(
    [
      effect("create", "instance", null, `Installs ${place}, with ${partsOf(parts)} of the backup`),
      ...(parts.restore_database ? effectsOnCopy(neutralized, parts.reset_users) : []),
      readsArchive(backup.id),
      ...effectsOfFirst(policy),
    ],
    {
      disk_bytes: null,
      warnings: [
        ...(neutralized
          ? []
          : [
              backup.kind === "uploaded"
                ? "The instance is not neutralized: its scheduled jobs, mail and payments run from now on here; stop the original first"
                : "The clone is not neutralized: its scheduled jobs, mail and payments run like the original's",
            ]),
        ...(await diskWarnings(reader, account_id, server_id, leastOf(backup, parts))),
        ...(await memoryWarnings(reader, account_id, server_id)),
      ],
    },
  );
}

/** What happens to the copied database before the ERP starts on it. */
const effectsOnCopy = (neutralizes: boolean, resetsUsers: boolean): Effect[] => [
  ...(neutralizes
    ? [effect("update", "instance", null, "Neutralizes the copy: scheduled jobs, mail and payments are turned off")]
    : []),
  ...(resetsUsers
    ? [
        effect(
          "update",
          "instance",
          null,
          "Resets the copy's users: passwords, sessions and API keys stop working, except for the administrator's new password",
        ),
      ]
    : []),
];

/** What at least is put on the disk: nobody knows how large one part of an archive is. */
const leastOf = ({ size_bytes }: BackupRecord, { restore_database, restore_filestore }: Parts): number =>
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
  const replaces = restore.restore_database
    ? `Replaces ${partsOf(restore)} with the backup's`
    : "Adds the backup's files to the present ones, and replaces those of the same name";
  return forecast(
    [
      effect("restore", "instance", instance.id, neutralize ? `${replaces}, and neutralizes the database` : replaces),
      ...(backup_first
        ? [effect("create", "backup", null, "Takes a safety backup of the current data while the ERP is stopped")]
        : []),
      readsArchive(backup.id),
    ],
    {
      downtime_seconds: !SERVING.includes(instance.state)
        ? 0
        : mayRead(reader, "instance") && mayRead(reader, "backup")
          ? await downtimeOfRestore(instance, restore)
          : null,
      disk_bytes: null,
      warnings: [
        ...(backup_first
          ? []
          : [`Without a backup first, the ${restore.restore_database ? "current data" : "replaced files"} cannot be recovered`]),
        ...(await diskWarnings(reader, instance.account_id, instance.server_id, leastOf(backup, restore))),
      ],
    },
  );
}

export async function forecastAction(
  reader: Reader,
  instance: InstanceRecord,
  action: "start" | "stop" | "restart" | "backup",
): Promise<Forecast> {
  const serves = SERVING.includes(instance.state);
  switch (action) {
    case "start":
      return forecast([effect("start", "instance", instance.id, "Starts the ERP")]);
    case "stop":
      return forecast([effect("stop", "instance", instance.id, "Stops the ERP until you start it again")], {
        downtime_seconds: null,
      });
    case "restart":
      return forecast([effect("restart", "instance", instance.id, "Stops the ERP and starts it again")], {
        downtime_seconds: !serves ? 0 : mayRead(reader, "instance") ? await durationOfLast(instance, "instance.restart") : null,
      });
    case "backup": {
      const newest = mayRead(reader, "backup") ? await newestBackup(instance) : undefined;
      const disk_bytes = newest?.size_bytes ?? null;
      return forecast(
        [effect("create", "backup", null, "Archives the database and the files while the ERP keeps its current status")],
        { disk_bytes, warnings: await diskWarnings(reader, instance.account_id, instance.server_id, disk_bytes ?? 0) },
      );
    }
    default:
      throw new Error(`No such action: ${String(action satisfies never)}`);
  }
}

export function forecastUpdate(
  instance: InstanceRecord,
  { labels, ...news }: { [K in "name" | "admin_email" | "domain" | "labels"]?: InstanceRecord[K] | undefined },
): Forecast {
  const changed = (["name", "admin_email", "domain"] as const).filter(
    (field) => news[field] !== undefined && news[field] !== instance[field],
  );
  const details = changed.map((field) => `${field} from ${instance[field]} to ${String(news[field])}`);
  if (labels !== undefined && !isDeepStrictEqual(labels, instance.labels)) details.push("its labels");
  return forecast(
    [effect("update", "instance", instance.id, details.length === 0 ? "Changes nothing" : `Changes ${details.join(", ")}`)],
    {
      warnings: changed.includes("domain")
        ? [`${instance.domain} stops working. ${String(news.domain)} needs a DNS record that leads to the server`]
        : [],
    },
  );
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
  return forecast(
    [
      effect(
        "delete",
        "instance",
        instance.id,
        reachable
          ? "Removes the ERP with its database and files from the server, and the record; backups stay"
          : "Removes the record at once, because the server is not active, and the ERP when the server responds again; backups stay",
      ),
      ...(policy === undefined || !mayRead(reader, "backup")
        ? []
        : [effect("delete", "backup_policy", id, "Deletes the backup policy")]),
      ...(waiting === undefined
        ? []
        : [effect("delete", "backup", waiting.id, "Removes the scheduled backup that waits for its turn")]),
    ],
    {
      downtime_seconds: SERVING.includes(instance.state) ? null : 0,
      warnings: !mayRead(reader, "backup")
        ? ["What is in no completed backup cannot be recovered"]
        : completed.length === 0
          ? ["The instance has no completed backup, so its data cannot be recovered"]
          : [],
    },
  );
}

export async function forecastBackupDeletion(reader: Reader, backup: BackupRecord): Promise<Forecast> {
  const completed =
    backup.instance_id === null || !mayRead(reader, "backup") ? [] : await someCompleted(backup.account_id, backup.instance_id);
  const isLast = completed.length === 1 && completed[0]?.id === backup.id;
  return forecast([effect("delete", "backup", backup.id, "Deletes the archive and the record")], {
    warnings: isLast ? ["It is the last completed backup of its instance"] : [],
  });
}

/** Two of an instance's completed backups, if there are two: however many failed ones are newer. */
async function someCompleted(accountId: string, instanceId: string): Promise<BackupRecord[]> {
  const isCompleted = ({ state }: BackupRecord): boolean => RESTORABLE.includes(state);
  return (await listOfParent({ kind: "backup", accountId, schema: BackupRecord }, instanceId, { per_page: 2 }, isCompleted))
    .items;
}

/** What a policy would change: what it will do, and what its rules would remove after the next run. */
export async function forecastPolicy(reader: Reader, instance: InstanceRecord, policy: PolicyRecord): Promise<Forecast> {
  const { next_run_at } = policy;
  const removable =
    next_run_at === null ? [] : (await retentionOf(policy, instance, policy.due?.due_at ?? next_run_at)).removable;
  return forecast(
    [
      ...effectsOfPolicy(instance.id, policy),
      ...(policy.due?.backup_id === null ? [DUE_BACKUP] : []),
      ...removable.map(({ id, due_at }) =>
        mayRead(reader, "backup")
          ? effect("delete", "backup", id, `No rule keeps the scheduled backup of ${due_at}; it is removed after the next run`)
          : effect("delete", "backup", null, "No rule keeps a scheduled backup; it is removed after the next run"),
      ),
    ],
    {
      next_run_at,
      next_runs: nextRunsOf(policy),
      warnings: [
        ...daysWarning(policy.schedule),
        ...(isNeverInstalled(instance) ? ["The ERP was never installed on this instance, so it is not backed up"] : []),
      ],
    },
  );
}

/** People rarely expect what cron makes of two restricted fields of days. */
function daysWarning(schedule: string): string[] {
  const [, , day = "", , weekday = ""] = schedule.split(" ");
  const fields = `its day of the month (${day}) and its weekday (${weekday})`;
  switch (daysOf(schedule)) {
    case "either":
      return [`The schedule runs on days that match either of ${fields}, not only on those that match both, as in cron`];
    case "both":
      return [`The schedule runs only on days that match both ${fields}, because one of these fields begins with *, as in cron`];
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
 * The last restore of the same parts. The ERP is away for the safety backup and the swap, not while the restored data is built; so it is
 * longer if the instance has grown since, as its backups show.
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
