// A host: the machine of a server, and the jobs that run on it.
//
// A job is begun once, however often it is asked for under its id, and asked for again until it is ready.
import type { ServerRecord } from "../data/records.ts";

/** What of an instance its host needs to know. */
export interface ErpSpec {
  instance_id: string;
  domain: string;
  database_name: string;
  erp_version: string;
  edition: "community" | "enterprise";
  admin_email: string;
}

/** An archive to be read, and what proves that it is the one that was made. */
export interface ArchiveRef {
  key: string;
  sha256: string;
  erp_version: string;
}

interface OnInstance {
  instance_id: string;
}

export type Job =
  | { kind: "prepare" }
  | { kind: "install"; erp: ErpSpec; admin_password: string | undefined; start: boolean }
  | ({ kind: "remove" | "start" | "stop" | "restart" | "neutralize" | "inspect" } & OnInstance)
  /** Ready when the ERP answers as it should. */
  | ({ kind: "health" } & OnInstance)
  | ({ kind: "archive"; key: string; note: string | null } & OnInstance)
  | { kind: "verify"; archive: ArchiveRef }
  /** Puts the archive's data in the place of the ERP's own, which are kept until `drop_old` or `put_back` of the same restore. */
  | ({
      kind: "restore";
      restore_id: string;
      archive: ArchiveRef;
      database: boolean;
      filestore: boolean;
      neutralize: boolean;
      /** Whether it shall run after, even if it does not now. */
      start: boolean;
    } & OnInstance)
  | ({ kind: "put_back" | "drop_old"; restore_id: string } & OnInstance)
  /** A database uuid and secret of its own, its base URL, its administrator; then it is started. */
  | { kind: "personalize"; erp: ErpSpec; admin_password: string | undefined }
  | ({ kind: "move_domain"; domain: string } & OnInstance);

/** What an archive job found of the archive that it stored. */
export interface MadeArchive {
  size_bytes: number;
  /** Of the archive as the host made it, in hexadecimal. */
  sha256: string;
  /** The storage's own checksum of what arrived, to compare with what it has. */
  stored_checksum: string | undefined;
}

export interface Inspection {
  is_neutralized: boolean;
  active_crons: number;
  active_mail_servers: number;
  new_database_uuid: boolean;
  base_url: string;
}

/** What the end of each kind of job tells. */
export type JobResults = { [K in Job["kind"]]: K extends "archive" ? MadeArchive : K extends "inspect" ? Inspection : null };

export interface Host {
  /** The job's result once it is ready, before that undefined. Throws TryAgain and GiveUp with the HOST_, BACKUP_ and STORAGE_ codes. */
  run: <J extends Job>(server: ServerRecord, jobId: string, job: J) => Promise<JobResults[J["kind"]] | undefined>;
  /** Whether the machine answers. */
  probe: (server: ServerRecord) => Promise<boolean>;
}
