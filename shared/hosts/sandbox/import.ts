// Imports in the sandbox: opens an uploaded archive as a machine does, but no larger one than a sandbox holds.
import { GiveUp } from "../../platform/task-errors.ts";
import type { Job, JobResult } from "../host.ts";
import { listedFiles, missingFiles } from "./archive.ts";
import { unusable } from "./layout.ts";
import { differingModules } from "./modules.ts";
import { corrupt, openUploaded } from "./opened.ts";
import { because } from "../../domain/reasons.ts";
import { jsonBytes } from "../../domain/json-bytes.ts";

/** Size limit for a database with its files: a restore keeps three copies in one item, which has room for 400 KB. */
const BYTES_MAX = 100_000;

export async function importArchive({
  archive,
  erp_versions,
  note,
}: Job<"import_archive">): Promise<JobResult<"import_archive">> {
  if (note === "fail-import") throw new GiveUp("HOST_JOB_FAILED", because("disk_almost_full", { free_mb: 120 }));
  const { manifest, database, files, left_out } = await openUploaded(archive);
  const { major_version, db_name, modules } = manifest;
  // The error is not BACKUP_CORRUPT, which would remove the upload: the catalog may have the version tomorrow.
  if (!erp_versions.includes(major_version)) {
    const reason = unusable("version", { version: major_version }).reason;
    throw new GiveUp("HOST_JOB_FAILED", because("backup_unusable", { why: reason }));
  }
  if (jsonBytes({ database, files }) > BYTES_MAX) throw corrupt(because("archive_over_sandbox"));
  const edition = "web_enterprise" in modules ? "enterprise" : "community";
  return {
    erp_version: major_version,
    edition,
    database_name: db_name.replaceAll(/[^A-Za-z0-9_.-]/g, "_").slice(0, 63) || "imported",
    missing_files: missingFiles({ database, files }).length,
    listed_files: listedFiles(database).length,
    left_out,
    modules: differingModules({ erp_version: major_version, edition }, database),
  };
}
