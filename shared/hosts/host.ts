// A host: the machine of a server, and the jobs that run on it.
//
// A job is begun once, however often it is asked for under its id, and asked again until it is ready.
import type { ServerRecord } from "../data/records.ts";

/** What of an instance its host needs to know. */
export interface ErpSpec {
  instance_id: string;
  domain: string;
  database_name: string;
  erp_version: string;
  edition: string;
  admin_email: string;
}

/** An archive to be read, and what proves that it is the one that was made. */
export interface ArchiveRef {
  key: string;
  sha256: string;
  erp_version: string;
}

export type Job =
  | { kind: "prepare" }
  | { kind: "install"; erp: ErpSpec; admin_password: string | undefined; start: boolean }
  | { kind: "remove"; instance_id: string }
  | { kind: "start" | "stop" | "restart"; instance_id: string }
  /** Ready when the ERP answers as it should; one that was stopped before is stopped again after. */
  | { kind: "health"; instance_id: string; leave: "running" | "stopped" }
  | { kind: "archive"; instance_id: string; key: string; note: string | null }
  | { kind: "verify"; archive: ArchiveRef }
  /** Puts the archive's data in the place of the ERP's own, which are kept until `drop_old` or `put_back`. */
  | {
      kind: "restore";
      instance_id: string;
      operation_id: string;
      archive: ArchiveRef;
      database: boolean;
      filestore: boolean;
      neutralize: boolean;
      start: boolean;
    }
  | { kind: "put_back" | "drop_old"; instance_id: string; operation_id: string }
  | { kind: "neutralize"; instance_id: string }
  /** A database uuid and secret of its own, its base URL, its administrator; then it is started. */
  | { kind: "personalize"; erp: ErpSpec; admin_password: string | undefined }
  | { kind: "move_domain"; instance_id: string; domain: string }
  | { kind: "inspect"; instance_id: string };

/** What an archive job found of the archive that it stored. */
export interface ArchiveResult {
  size_bytes: number;
  /** Of the archive, computed on the host, in hexadecimal. */
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

/** What a job's end tells, by the kind of job. */
export type JobResult<K extends Job["kind"]> = K extends "archive" ? ArchiveResult : K extends "inspect" ? Inspection : null;

export type JobState<K extends Job["kind"]> = { ready: false } | { ready: true; result: JobResult<K> };

export interface Host {
  /** Throws TryAgain or GiveUp. */
  run: <J extends Job>(server: ServerRecord, jobId: string, job: J) => Promise<JobState<J["kind"]>>;
  /** Whether the machine answers. */
  probe: (server: ServerRecord) => Promise<boolean>;
}
