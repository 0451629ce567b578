// Why something has its status, why an operation failed, and what a check found, by code: the API sends the code and its parameters beside
// the English sentence, and a client says it in its own words. A code and the names of its parameters never change; codes are only added.
//
// The code is found from the sentence. Sentences come from scripts on machines, pass through state machines as text, and older versions have
// stored them: none of these knows codes.

/** `{name}` stands for a parameter, and for one of `PARTS` another sentence. */
export const REASONS = {
  operation_timed_out: "The operation timed out",
  operation_stopped: "The operator of the service stopped the operation",
  internal_error: "Something went wrong on our side; include the operation ID when you report it",
  service_unavailable: "The service was unavailable for too long",
  operation_ended: "The operation has already ended",
  undo_timed_out: "Undoing the changes timed out",
  undo_failed: "The operation failed and its changes could not be undone; the operators of the service have been notified. {why}",
  creation_abandoned: "The creation was abandoned in the meantime",
  step_timed_out: "{step} timed out",
  machine_vanished: "The machine disappeared at the provider before it started",
  machine_gone: "The machine no longer exists at the provider",
  machine_off: "The machine is switched off at the provider",
  health_checks_unanswered: "The server does not respond to health checks",
  ssh_key_deleted: "The SSH key was deleted before the machine was created",
  provider_said: "{why}. {provider} says: {message}",
  quota_used_up: "The quota at {provider} is used up",
  provider_out_of_capacity:
    "{provider} has no machine of this size available in this region; try again later, or choose another size or region",
  size_not_offered: "{provider} no longer offers this size",
  credentials_rejected: "{provider} rejected the service's credentials; contact the operator",
  credentials_missing: "The operator has not set, or has removed, the credentials for {provider}",
  provider_busy: "{provider} was busy for too long; try again later",
  provider_error: "{provider} returned an error ({status})",
  provider_rejected: "{provider} rejected the request ({status})",
  provider_limits: "{provider} is limiting requests from this service; try again in a few minutes",
  provider_not_understood: "{provider} sent a response that this service does not understand",
  provider_lacks_resource: "{provider} does not have the requested resource",
  provider_lacks_list: "The provider does not have the requested list",
  provider_endless_list: "The provider returned a list without an end",
  provider_lacks_system: "{provider} offers no operating system that this service supports",
  provider_rejected_key: "{provider} did not accept the SSH key",
  provider_start_timed_out: "The provider did not start the machine in time",
  own_machine_removed: "The operator has removed this machine",
  own_machine_in_use: "This machine is already in use by another server",
  own_machine_used_before:
    "This machine belonged to another account. The operator must reinstall and release it before you can use it",
  server_silent: "The server does not respond",
  machine_silent: "The machine at {ip_address} does not respond",
  machine_slow: "The machine at {ip_address} took too long to respond",
  machine_rejected_command: "The machine at {ip_address} rejected a command",
  machine_sent_too_much: "The machine at {ip_address} sent too much output",
  host_key_unknown:
    "The machine at {ip_address} presented an unknown host key (SHA256:{fingerprint}), so the service did not log in",
  host_key_missing: "The machine has no IP address, or no host key to verify it with",
  host_key_unsupported: "The machine's host key is of a type that is not supported: {type}",
  machine_not_understood: "The machine sent a response that this service does not understand",
  script_failed: "Could not run the script on the machine: {output}",
  erps_of_another_server:
    "The machine still has ERPs of another server. If nobody needs them, remove its containers and volumes whose names start with erp-, and the contents of {folder}",
  packages_not_installed: "Required packages could not be installed: {packages}",
  docker_silent: "Docker does not respond on the machine",
  docker_not_started: "Docker does not start",
  docker_configuration_unreadable: "Docker's configuration {file} could not be read",
  docker_configuration_rejected: "Docker does not accept its configuration {file}",
  docker_in_swarm: "Docker on the machine belongs to a swarm, where containers stop with Docker",
  no_address_range: "There is no free IP address range for the machine's containers",
  proxy_not_started: "The proxy does not start: ports 80 and 443 must be free",
  proxy_rejected_domain: "The proxy rejected the domain: another instance on the server may use it",
  firewall_failed: "The firewall could not be set up",
  parameter_invalid: "The parameter {name} is missing or invalid",
  acme_email_invalid: "The parameter ACME_EMAIL is invalid",
  number_expected: "A value that should be a number is not one",
  room_missing: "{what} needs {needed_mb} MB and a reserve of {reserve_mb} MB, but the server's disk has {free_mb} MB free",
  what_backup: "A backup of the ERP",
  what_sending: "Sending a backup",
  what_erp: "An ERP",
  what_data: "The backup's data",
  memory_missing: "{what} needs {needed_mb} MB of memory, but the server has {free_mb} MB free",
  image_not_pulled: "The image {image} could not be pulled",
  container_unknown: "Docker does not say whether {container} runs",
  erp_not_installed: "The ERP is not installed on the server",
  erp_has_no_database: "The ERP has no database",
  erp_does_not_stop: "The ERP does not stop",
  erp_silent_at_new_domain: "The ERP does not respond at its new domain",
  erp_folder_is_link: "The ERP's folder {folder} is a link",
  erp_folder_is_no_folder: "The ERP's folder {folder} is not a folder",
  erp_creates_files: "The ERP's old files cannot be removed: it creates new ones meanwhile",
  erp_not_initialized: "The ERP could not be installed: its database could not be initialized",
  database_name_reserved: "The database name {name} is reserved by the database server",
  login_taken: "Another user of the ERP already has the login {login}",
  administrator_not_set: "The ERP's URL and administrator could not be set",
  password_not_stored: "The administrator's password is no longer stored",
  database_server_not_started: "The database server does not start",
  database_server_silent: "The database server does not respond",
  database_settings_not_reset: "The settings of the ERP's database could not be reset",
  enterprise_not_configured: "The operator of the service no longer has a source for the enterprise edition",
  enterprise_not_downloaded: "The enterprise edition could not be downloaded from the configured source",
  enterprise_not_unpacked: "The archive of the enterprise edition could not be unpacked",
  enterprise_without_modules: "The archive of the enterprise edition does not contain its modules",
  not_neutralized: "The ERP could not be neutralized",
  still_active: "The clone was neutralized, but some of its jobs or mail servers are still active",
  no_own_identity: "The instance does not have its own identity",
  snapshot_missing: "The database does not give a snapshot",
  dump_failed: "The database could not be dumped",
  dump_incomplete: "The database could not be dumped completely",
  too_many_files: "The ERP has {count} files, but a backup takes {limit} at most",
  files_removed_meanwhile:
    "{count} of the files that the database lists were removed from the backup's own folder while it was packed, such as {name}",
  archive_gone: "The server no longer has the archive",
  archive_left_server: "The archive is no longer on the server",
  archive_unknown: "The server no longer knows the archive",
  archive_not_sent: "The archive could not be sent to the backup storage",
  archive_not_uploaded: "The archive could not be uploaded to the storage",
  archive_not_read: "The archive could not be read from the backup storage",
  upload_urls_rejected: "The backup storage rejected the upload URLs",
  download_url_rejected: "The backup storage rejected the download URL",
  storage_unavailable: "The backup storage was unavailable for too long",
  storage_rejected: "The backup storage rejected the archive",
  storage_has_another: "The stored archive is not the one that was created",
  storage_lacks_parts: "The storage does not have the parts of the archive that were uploaded to it",
  storage_lacks_upload: "The storage does not have the archive that was uploaded",
  storage_lacks_archive: "The storage no longer has the archive that was created",
  storage_not_reached:
    "{why}\n(The service stores backups on its own machine, which other machines cannot reach. Set BACKUP_S3_ENDPOINT to a storage that they can reach.)",
  checksum_missing: "The backup has no checksum to verify it with",
  checksum_not_computed: "The archive's checksum could not be computed",
  checksum_differed_once: "The archive did not match its checksum at first, but does now: try again",
  archive_unreadable: "The backup's archive could not be read",
  restore_of_backup_failed: "The restore that this backup was taken for failed",
  data_not_prepared: "The data to restore has not been prepared",
  data_not_built: "The data to restore has not been built",
  database_not_restored: "The backup's database could not be restored",
  files_not_restored: "The backup's files could not be restored",
  restored_files_gone: "The restored files are not there any more: the ERP removed them",
  restored_database_gone: "The restored database is not there any more: the ERP removed it",
  database_does_not_say: "The database does not say what it has",
  sessions_do_not_end: "The ERP's sessions in the database server do not end",
  drill_without_result: "The drill has no result",
  drill_database_not_started: "The throwaway database server does not start",
  drill_database_lost: "The connection to the throwaway database server was lost",
  drill_database_short: "The throwaway database server ran short: {output}",
  drill_database_not_loaded: "The throwaway database could not be loaded",
  drill_files_not_written: "The throwaway files could not be written",
  drill_erp_not_started: "The throwaway ERP does not start",
  out_of_memory: "{what} ran out of memory",
  has_stopped: "{what} stopped",
  what_drill_database: "The throwaway database server",
  what_drill_erp: "The throwaway ERP",
  check_intact: "The archive matches its checksum",
  check_restored: "The database was restored without an error",
  check_unreadable: "The archive cannot be read: {why}",
  check_database_error: "The database reports: {output}",
  check_version: "The archive is of version {version}, not of {expected}",
  check_booted: "The ERP started without scheduled jobs, and its sign-in page responds",
  check_page_responds: "The ERP's sign-in page responds",
  check_no_page: "The ERP started on the restored data does not show its sign-in page",
  check_no_counts: "The archive has no row counts",
  check_rows_not_counted: "The rows could not be counted",
  check_rows: "All {count} tables have as many rows as in the backup",
  check_table_differs: "1 table differs: {table} has {rows} rows instead of {expected}",
  check_tables_differ: "{count} tables differ: {table} has {rows} rows instead of {expected}",
  check_no_list: "The database has no list of its files",
  check_files: "All {count} files have their content",
  check_files_differ: "{wrong} of {count} files have another content, such as {name}",
  check_files_missing: "{missing} of {count} files are missing, such as {name}; {known} were when it was made",
  check_files_missing_before: "{missing} of {count} files are missing, as when it was made",
  check_files_differ_and_miss:
    "{wrong} of {count} files have another content, such as {name}; {missing} of {total} files are missing, such as {other}; {known} were when it was made",
  check_files_differ_and_missed:
    "{wrong} of {count} files have another content, such as {name}; {missing} of {total} files are missing, as when it was made",
  check_not_made: "The check was not made",
  check_skipped_damaged: "Not checked, because the archive is damaged",
  check_skipped_not_restored: "Not checked, because the restore failed",
  backup_unusable: "The backup's archive cannot be used: {why}",
  upload_unusable: "The uploaded archive cannot be used: {why}",
  archive_is_other: "it is {is}, not the ERP's zip file: {advice}",
  archive_in_gzip: "it is {is}, compressed with gzip: {advice}",
  archive_dump_is_other: "its dump.sql is {is}, not a plain SQL dump: {advice}",
  archive_dump_empty: "its dump.sql is empty: {advice}",
  archive_dump_incomplete:
    "its dump.sql is incomplete: pg_dump did not finish it, perhaps because a disk was full. Create the backup again",
  archive_no_zip: "it is not a zip file: {advice}",
  archive_empty: "it contains no files: {advice}",
  archive_incomplete:
    "it is incomplete: a zip file ends with a listing of its files, and this one does not. Upload the whole file; join it first if it is one of several volumes",
  archive_beginning_missing: "its beginning is missing: upload the whole file; join it first if it is one of several volumes",
  archive_something_before: "it begins with something else than a zip file: upload the zip file alone",
  archive_split: "it is one part of a split zip file: join its parts (zip -s 0), and upload the whole",
  archive_huge:
    "its listing is wrong, as macOS's Compress makes it of files over 4 GB: zip the files with another program, such as zip or 7-Zip",
  archive_damaged: "it is damaged",
  archive_listing_wrong: "its listing does not match its files",
  archive_listing_long: "its listing is too long",
  archive_encrypted: "it is protected by a password: create it again without one",
  archive_method: "its file {name} is compressed with {method}: zip it again with the method Deflate",
  archive_links: "it contains links",
  archive_devices: "it contains devices, pipes or sockets",
  archive_strange: "it contains {name}, which is not part of an ERP's backup: remove it, and upload the archive again",
  archive_several: "it contains more than one backup ({name}, {other}): upload each by itself",
  archive_apart:
    "its files are in different folders ({name}, {other}): put dump.sql, manifest.json and filestore into one, and zip that",
  archive_twice: "it contains {name} twice",
  archive_folder: "one of its files has the name of a folder: {name}",
  archive_no_dump: "it has no dump.sql, but {name}: {advice}",
  archive_no_manifest: "it has no manifest.json, which says what version it is of: {advice}",
  archive_manifest_long: "its manifest.json is too long",
  archive_manifest_no_json: "its manifest.json cannot be read as JSON: create the backup again",
  archive_manifest_no_version: "its manifest.json does not name the ERP's version (major_version): create the backup again",
  archive_intermediate:
    "it is of version {version}, an intermediate version that only the ERP's own hosted platform has: upgrade it there to the next full version, and download it again",
  archive_version_unknown: "it is of version {version}, which the catalog does not have",
  archive_more_files: "it has more files than its listing says",
  archive_more_bytes: "it unpacks to more than its listing says",
  archive_too_much: "it unpacks to too much",
  archive_over_sandbox: "it holds more than a sandbox instance can",
  archive_unpacks_over_sandbox: "it unpacks to more than a sandbox instance can hold",
  archive_sandbox_binary: "its file {name} is not text, as everything in a sandbox is",
  archive_other_version: "it is of version {version}, not of {expected}",
  archive_not_stored: "it is no longer in the storage",
  archive_checksum: "it does not match its checksum",
  archive_not_read_at_all: "it cannot be read",
  archive_other_size: "it has {size} bytes instead of {expected}",
  archive_database_error: "the database reports: {output}",
  archive_no_erp: "its database is not an ERP's",
  archive_database_version: "its database is not of version {version}",
  archive_database_no_list: "its database has no list of its files",
  archive_files_missing: "{missing} files that its database lists are not in it, {known} were missing when it was made",
  archive_leaves_database: "its dump contains a command that leaves the database: {command}",
  archive_pg_dumpall: "its dump has several databases, as by pg_dumpall: dump the ERP's database alone, with pg_dump",
  archive_no_pg_dump: "its dump is none of pg_dump's: something follows COPY on its line",
  advice_export: "create the backup in the ERP's database manager, in the format zip, which includes the filestore",
  advice_repack: "unpack it, zip its dump.sql, manifest.json and filestore, and upload that",
  advice_download: "download the backup again, and look at the file before you upload it",
  advice_decrypt: "decrypt it, and upload what is inside",
  advice_join: "join its parts (zip -s 0), and upload the whole",
  advice_no_powershell: "create it again without PowerShell's >",
  advice_decode: "decode it (base64 -d), and upload that",
  is_changed_zip: "a zip file that was changed as if it were text",
  is_part_of_zip: "one part of a split zip file",
  is_zip: "a zip file",
  is_custom_dump: "a dump in pg_dump's custom format, without the ERP's files",
  is_tar_dump: "a dump in pg_dump's tar format, without the ERP's files",
  is_tar: "a tar archive",
  is_7z: "a 7z archive",
  is_rar: "a RAR archive",
  is_gzip: "a gzip file",
  is_bzip2: "a bzip2 file",
  is_xz: "an xz file",
  is_zstandard: "a Zstandard file",
  is_lz4: "an LZ4 file",
  is_lzma: "an LZMA file",
  is_compress: "a file of compress",
  is_other_archive: "an archive of another kind",
  is_disk_image: "an image of a disk",
  is_encrypted: "an encrypted file",
  is_program: "a program",
  is_document: "a document or an image",
  is_sqlite: "a database of SQLite",
  is_mssql: "a backup of Microsoft SQL Server",
  is_utf16: "text in UTF-16, as PowerShell writes with >",
  is_web_page: "a web page, such as a sign-in page or an error",
  is_xml: "an XML file, such as a storage's error",
  is_json: "a JSON file, such as an API's error",
  is_response: "a response with its headers",
  is_base64: "a zip file in Base64",
  is_lfs_pointer: "a pointer of Git LFS",
  is_mysql: "a dump of MySQL",
  is_pg_dumpall: "a dump of a whole PostgreSQL server (pg_dumpall)",
  is_plain_dump: "a plain SQL dump, without the ERP's files",
  is_zeros: "filled with zeros",
  sandbox_provider_error: "The provider returned an error ({status})",
  sandbox_quota_used_up: "The quota at the provider is used up",
  sandbox_out_of_capacity:
    "The provider has no machine of this size available in this region; try again later, or choose another size or region",
  script_ended: "the script ended with {status}",
  archive_directory_dump: "it is a dump in pg_dump's directory format, without the ERP's files: {advice}",
  archive_dump_compressed: "its dump is compressed by itself ({name}): unpack it to dump.sql, and zip that again",
  archive_dump_elsewhere_other: "its database is in {name}, which is not a plain SQL dump (dump.sql): {advice}",
  archive_dump_elsewhere: "its database is in {name} and not in dump.sql: {advice}",
  archive_in_archive: "it contains another archive: unpack it, and upload {name} itself",
  archive_with_archive:
    "it contains another archive, {name}: unpack both, zip dump.sql, manifest.json and filestore, and upload that",
  archive_office: "it is an office document: {advice}",
  archive_modules: "it contains modules of the ERP, not a backup: {advice}",
  archive_data_directory: "it contains the files of a PostgreSQL server, not a dump: {advice}",
  check_files_missing_unnamed: "{missing} of {count} files are missing; {known} were when it was made",
  check_files_differ_and_miss_unnamed:
    "{wrong} of {count} files have another content, such as {name}; {missing} of {total} files are missing; {known} were when it was made",
  provider_silent: "{provider} did not respond",
  erp_files_unreadable: "The ERP's files cannot be read",
  archive_not_written: "The archive could not be written",
  rows_not_compared: "The row counts could not be compared",
  files_not_compared: "The restored files could not be compared",
  old_files_not_removed: "The ERP's old files cannot be removed",
  restored_files_unreadable: "The restored files cannot be read",
  files_not_swapped: "The ERP's files could not be swapped",
  files_not_put_back: "The ERP's files could not be put back",
} as const satisfies Record<string, string>;

export type ReasonCode = keyof typeof REASONS;

export interface FoundReason {
  code: ReasonCode;
  /** Of a part, the parameter `{name}_code` is its own code; its parameters stand beside those of the whole. */
  parameters: Record<string, string>;
}

/** Parameters that are sentences themselves, of which the code must be known. */
const PARTS: ReadonlySet<string> = new Set(["advice", "is", "what", "why"]);

interface Pattern {
  code: ReasonCode;
  names: readonly string[];
  matches: RegExp;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

let compiled: readonly Pattern[] | undefined;

/** What has most words of its own comes first: it says most. */
function patterns(): readonly Pattern[] {
  compiled ??= codes()
    .map((code) => ({ code, words: REASONS[code].split(/\{\w+\}/), names: [...REASONS[code].matchAll(/\{(\w+)\}/g)] }))
    .toSorted((a, b) => b.words.join("").length - a.words.join("").length)
    .map(({ code, words, names }) => ({
      code,
      names: names.map(([, name = ""]) => name),
      matches: new RegExp(`^${words.map(escaped).join("(.+?)")}$`, "s"),
    }));
  return compiled;
}

const isCode = (name: string): name is ReasonCode => name in REASONS;
const codes = (): ReasonCode[] => Object.keys(REASONS).filter(isCode);

/** The code of a sentence and its parameters; null for a sentence that has none. */
export function reasonOf(sentence: string | null): FoundReason | null {
  if (sentence === null) return null;
  for (const { code, names, matches } of patterns()) {
    const found = matches.exec(sentence);
    const parameters = found && parametersIn(names, found.slice(1));
    if (parameters) return { code, parameters };
  }
  return null;
}

/** Undefined if a part is no known sentence. */
function parametersIn(names: readonly string[], values: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? "";
    parameters[name] = value;
    if (!PARTS.has(name)) continue;
    const part = reasonOf(value);
    if (part === null) return undefined;
    Object.assign(parameters, part.parameters, { [name]: value, [`${name}_code`]: part.code });
  }
  return parameters;
}
