// What dry runs say, by code: the API sends the code and its parameters beside the English sentence, and a client says it in its
// own words. A code and the names of its parameters never change; codes are only added.

/** `{name}` stands for a parameter; the name of one in bytes ends in `_bytes`. */
export const SENTENCES = {
  server_deleted: "Deletes the machine at its provider, and the record",
  server_record_deleted: "Deletes the record; it has no machine",
  archive_read: "Reads the archive; the backup cannot be deleted until the operation ends",
  archive_downloaded:
    "Downloads the archive ({archive_bytes}) to the server, once; the backup cannot be deleted until the operation ends",
  disk_low:
    "Low disk space: server {server_name} reported {free_bytes} free at {reported_at}. Delete instances there that you no longer need, or use another server",
  disk_low_afterwards:
    "Low disk space: this needs at least {needed_bytes}, and server {server_name} reported {free_bytes} free at {reported_at}. Delete instances there that you no longer need, or use another server",
  memory_low:
    "Too little memory: with this one, server {server_name} has {instance_count} instances, which need {needed_mb} MB each, and {memory_gb} GB of memory. Use another server",
  erp_installed:
    "Installs the ERP {erp_version} ({edition}) on server {server_id} with the database {database_name}, at https://{domain}",
  erp_installed_from_backup:
    "Installs the ERP {erp_version} ({edition}) on server {server_id} with the database {database_name}, at https://{domain}, with the database and the files of the backup",
  erp_installed_from_database:
    "Installs the ERP {erp_version} ({edition}) on server {server_id} with the database {database_name}, at https://{domain}, with the database of the backup",
  erp_installed_from_files:
    "Installs the ERP {erp_version} ({edition}) on server {server_id} with the database {database_name}, at https://{domain}, with the files of the backup",
  clone_installed_from_backup:
    "Installs the ERP {erp_version} ({edition}) on server {server_id} with a database named after it, at https://{domain}, with the database and the files of the backup",
  clone_installed_from_database:
    "Installs the ERP {erp_version} ({edition}) on server {server_id} with a database named after it, at https://{domain}, with the database of the backup",
  clone_installed_from_files:
    "Installs the ERP {erp_version} ({edition}) on server {server_id} with a database named after it, at https://{domain}, with the files of the backup",
  backups_scheduled: "Backs up the instance by the schedule {schedule} ({timezone})",
  backups_paused: "Takes no backups by schedule",
  backup_drilled:
    "Restores the backup to a throwaway database on the server, checks it, and removes everything; no instance is interrupted",
  drills_daily: "Drills the newest completed backup every day",
  drills_scheduled: "Drills the newest completed backup every {days} days",
  drills_daily_download:
    "Drills the newest completed backup every day; each drill downloads its archive to the server, {archive_bytes} for the newest one now",
  drills_scheduled_download:
    "Drills the newest completed backup every {days} days; each drill downloads its archive to the server, {archive_bytes} for the newest one now",
  backup_due: "Takes a backup as soon as the instance is available",
  upload_not_neutralized:
    "The instance is not neutralized: its scheduled jobs, mail and payments run from now on here; stop the original first",
  clone_not_neutralized: "The clone is not neutralized: its scheduled jobs, mail and payments run like the original's",
  files_missing:
    "{missing_files} of the files that the backup's database lists are not in it, and nobody can open them in the new instance",
  modules_missing:
    "These installed modules are neither in the image of the ERP nor in the code of the instance, or only in an older version: {modules}. What they do is missing then, and the ERP may not start",
  copy_code: "Brings the code of the backup: {url} at {ref}, commit {commit}",
  copy_without_secrets: "Leaves out the secret variables of the code, because the copy is neutralized",
  restore_code_added: "The ERP keeps the code that it has now, of which the backup was taken without {code}",
  restore_code_differs: "The backup was taken with other code ({code}), and the ERP keeps the code that it has now",
  copy_neutralized: "Neutralizes the copy: scheduled jobs, mail and payments are turned off",
  copy_users_reset:
    "Resets the copy's users: passwords, sessions and API keys stop working, except for the administrator's new password",
  all_replaced: "Replaces the database and the files with the backup's",
  all_replaced_neutralized: "Replaces the database and the files with the backup's, and neutralizes the database",
  database_replaced: "Replaces the database with the backup's",
  database_replaced_neutralized: "Replaces the database with the backup's, and neutralizes the database",
  files_replaced: "Adds the backup's files to the present ones, and replaces those of the same name",
  safety_backup_taken: "Takes a safety backup of the current data while the ERP is stopped",
  data_not_recoverable: "Without a backup first, the current data cannot be recovered",
  files_not_recoverable: "Without a backup first, the replaced files cannot be recovered",
  server_rebooted: "Reboots the machine, once nothing else runs on its instances",
  server_packages_updated: "Installs the updates of the system's packages, once nothing else runs on its instances",
  server_proxy_updated:
    "Renews the image of the proxy, if there is a newer one of its major version: no instance responds for some seconds then",
  erp_away_for_reboot: "{name} does not respond from the reboot until it has started again",
  erp_away_for_update:
    "{name} restarts if there is a newer image of its database server, of the same major version; one instance after the other",
  erp_updated_at_start: "{name} gets the newest image of its database server the next time it starts",
  server_work_waits: "Operations on instances of the server end first; after 30 minutes of waiting for them this fails",
  deploy_ref: "Brings {url} at {ref} to the ERP; its newest commit is looked up then",
  deploy_commit: "Brings {url} at {ref} to the ERP; its newest commit was {commit} when it was last checked",
  deploy_modules_changed: "Updates the modules whose files have changed; which ones is known once the code was fetched",
  deploy_modules_found:
    "Updates these modules, as far as they are installed, because their files have changed since the last deploy, by the last check: {modules}",
  deploy_modules_unchanged:
    "Updates no modules, unless a restore has brought back data of other code: by the last check, no files have changed since the last deploy",
  deploy_modules_all: "Updates all modules of the code",
  deploy_modules_named: "Updates these modules: {modules}",
  deploy_modules_installed: "Installs these modules, unless they are installed: {modules}",
  deploy_packages: "Installs these Python packages: {packages}",
  deploy_image_back: "Gives the ERP back the image that it had with that deploy",
  deploy_image: "Gives the ERP and its database server the newest images of the same versions, and updates all modules with them",
  deploy_enterprise_stays: "The modules of the enterprise edition stay as they are on the server: an image does not bring others",
  deploy_rehearsed:
    "Tries the new code, and the update, on a copy of the database first; if that fails, the ERP is left as it is",
  deploy_backup: "Takes a backup before the ERP stops",
  deploy_not_rehearsed: "Without a rehearsal, code or an update that fails interrupts the ERP until everything is put back",
  deploy_without_backup:
    "Without a backup first, what is entered after the deploy is lost if you go back to the data from before",
  deploy_no_code: "The instance has no repositories: the ERP runs without modules of its own from then on",
  deploy_rolled_back: "Deploys the commits of the deploy {deploy} again",
  deploy_data_restored: "Replaces the database and the files with those of {since}, from the backup {backup}",
  deploy_modules_may_be_missing:
    "The code of that deploy may lack these modules, which are installed: {modules}. If it does, the deploy fails before the ERP stops",
  deploy_data_lost: "Loses {duration} of changes: everything since {since}",
  deploy_data_lost_since_backup: "Loses all changes since the backup that the data comes back from",
  erp_started: "Starts the ERP",
  erp_stopped: "Stops the ERP until you start it again",
  erp_restarted: "Stops the ERP and starts it again",
  backup_taken: "Archives the database and the files while the ERP keeps its current status",
  nothing_changed: "Changes nothing",
  name_changed: "Changes name from {before} to {after}",
  admin_email_changed: "Changes admin_email from {before} to {after}",
  domain_changed: "Changes domain from {before} to {after}",
  name_set: "Changes name to {after}",
  admin_email_set: "Changes admin_email to {after}",
  domain_set: "Changes domain to {after}",
  labels_changed: "Changes its labels",
  disk_quota_set: "Sets its disk quota to {quota_bytes}",
  disk_quota_removed: "Removes its disk quota",
  domain_redirects:
    "{before} redirects to {after} for {days} days, as long as its DNS record leads to the server. {after} needs one that does, too",
  old_domain_redirects:
    "The old domain redirects to {after} for {days} days, as long as its DNS record leads to the server. {after} needs one that does, too",
  redirect_ended: "{domain} no longer redirects to this instance",
  erp_deleted: "Removes the ERP with its database and files from the server, and the record; backups stay",
  erp_deleted_later:
    "Removes the record at once, because the server is not active, and the ERP when the server responds again; backups stay",
  policy_deleted: "Deletes the backup policy",
  waiting_backup_deleted: "Removes the scheduled backup that waits for its turn",
  unsaved_not_recoverable: "What is in no completed backup cannot be recovered",
  no_backup_left: "The instance has no completed backup, so its data cannot be recovered",
  backup_deleted: "Deletes the archive and the record",
  its_backups_deleted: "Deletes the instance's backups, but for those that are locked or in use",
  backups_deleted: "Deletes {backup_count} of its backups",
  last_backup: "It is the last completed backup of its instance",
  backup_not_kept: "No rule keeps the scheduled backup of {due_at}; it is removed after the next run",
  some_backup_not_kept: "No rule keeps a scheduled backup; it is removed after the next run",
  days_match_either:
    "The schedule runs on days that match either of its day of the month ({day}) and its weekday ({weekday}), not only on those that match both, as in cron",
  days_match_both:
    "The schedule runs only on days that match both its day of the month ({day}) and its weekday ({weekday}), because one of these fields begins with *, as in cron",
  backup_locked: "Locks the backup, so that nobody can delete it",
  backup_unlocked: "Unlocks the backup",
  bulk_not_now: "{name} is left as it is: {why}",
  bulk_no_backup_left: "{names} will have no completed backup left, so the data cannot be recovered",
  bulk_never_installed: "The ERP was never installed on {names}, so they are not backed up",
  bulk_waits: "Waits for other operations on {names}, for up to {minutes} minutes",
  bulk_waits_for_server: "Waits for operations on the server of {names}, for up to {minutes} minutes",
  bulk_policy_replaced: "Replaces the present backup policy of {names}",
  bulk_quotas: "The account's quotas have room for {room_count} of the {backup_count} backups; the others will fail",
  bulk_quotas_short: "The account's quotas do not have room for all of the backups; the others will fail",
  never_installed: "The ERP was never installed on this instance, so it is not backed up",
} as const satisfies Record<string, string>;

export type SentenceCode = keyof typeof SENTENCES;
export type Parameters = Readonly<Record<string, string | number>>;

export interface Sentence {
  code: SentenceCode;
  parameters: Parameters;
}

/** The sentence of a template; what is no parameter of it stays as it is. */
export const fillIn = (
  template: string,
  parameters: Parameters,
  show: (value: string | number, name: string) => string = String,
): string =>
  template.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = parameters[name];
    return value === undefined ? placeholder : show(value, name);
  });

const inEnglish = (value: string | number, name: string): string =>
  name.endsWith("_bytes") ? sizeInEnglish(Number(value)) : String(value);

/** Shows a size in the largest unit of which one digit after the point says something. */
function sizeInEnglish(bytes: number): string {
  const { unit, name } = UNITS.find((each) => bytes >= each.unit / 20) ?? GIGABYTE;
  return `${(bytes / unit).toFixed(1)} ${name}`;
}
const GIGABYTE = { unit: 1e9, name: "GB" };
const UNITS = [GIGABYTE, { unit: 1e6, name: "MB" }, { unit: 1e3, name: "KB" }];

export const english = ({ code, parameters }: Sentence): string => fillIn(SENTENCES[code], parameters, inEnglish);
