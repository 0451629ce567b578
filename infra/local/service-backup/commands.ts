// The operator's commands for backups of the service itself: what `npm run admin` prints, and by what it fails.
import { join } from "node:path";
import { DAY_MS } from "../../../shared/domain/durations.ts";
import { requirePassphrase } from "../../passphrase.ts";
import { LocalError } from "../errors.ts";
import { type BackupStore, openBackupStore } from "./store.ts";
import { ageOf, backUpService, listBackups, restoreService, type ServiceBackup } from "./service-backup.ts";

/** A month of daily ones. */
const KEPT = 30;

export async function takeBackup(options: { to: string; data: string; keep?: number; daily: boolean }): Promise<void> {
  const passphrase = requirePassphrase("SERVICE_BACKUP_PASSPHRASE", process.env);
  const store = await openBackupStore(options.to, process.env);
  try {
    const [newest] = options.daily ? await listBackups(store) : [];
    if (newest !== undefined && ageOf(newest) < DAY_MS) return;
    console.log(describe(await backUpService({ dataDir: options.data, store, passphrase, keep: options.keep ?? KEPT })));
  } catch (error) {
    const message = `The service could not be backed up: ${error instanceof LocalError ? error.message : String(error)}`;
    const alarm = await alarmAt(store).catch(() => undefined); // a place that cannot be listed is what `message` says
    throw new LocalError(alarm === undefined ? message : `${message}\n${alarm}`, { cause: error });
  }
}

export async function showBackups(from: string): Promise<void> {
  const store = await openBackupStore(from, process.env);
  for (const each of await listBackups(store)) console.log(describe(each));
  const alarm = await alarmAt(store);
  if (alarm !== undefined) throw new LocalError(alarm);
}

export async function restoreBackup({ from, name, data }: { from: string; name?: string; data: string }): Promise<void> {
  const passphrase = requirePassphrase("SERVICE_BACKUP_PASSPHRASE", process.env);
  const store = await openBackupStore(from, process.env);
  const backups = await listBackups(store);
  const chosen = name === undefined ? backups[0] : backups.find((each) => each.name === name);
  if (chosen === undefined) throw new LocalError(`There is no complete backup ${name ?? "of the service"} in ${from}`);
  const { objects, interrupted } = await restoreService({ store, name: chosen.name, passphrase, dataDir: data });
  console.log(`Restored ${describe(chosen)}`);
  for (const id of interrupted) console.log(`${id} was in progress: it has failed; check what it has done`);
  if (objects > 0)
    console.log(
      `Put the content of its ${objects} objects where it was: the folders \`data\` of the buckets in ${join(data, "s3")}`,
    );
  console.log(`Start it: npm start -- --environment ${chosen.environment} --data ${data}`);
}

const describe = ({ name, created_at, environment, items, objects, bytes }: ServiceBackup): string =>
  `${name}  ${created_at}  ${environment}  ${items} items, ${objects} objects, ${bytes} bytes`;

/** One day's backup may fail and be made up for the next day; after two somebody has to look. */
async function alarmAt(store: BackupStore): Promise<string | undefined> {
  const [newest] = await listBackups(store);
  if (newest === undefined) return "ALARM: there is no backup of the service";
  return ageOf(newest) > 2 * DAY_MS ? `ALARM: the newest backup of the service is of ${newest.created_at}` : undefined;
}
