// The sandbox's archives: real zips in the layout of the ERP's own backups, with what the sandbox's ERP holds.
import { createHash } from "node:crypto";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import * as z from "zod";
import { type ErpDatabase, type ErpFiles, fileNameOf } from "../data/sandbox.ts";
import { GiveUp } from "../runtime/task-errors.ts";
import { fromDump, toDump } from "./sandbox-dump.ts";

export interface Contents {
  database: ErpDatabase;
  files: ErpFiles;
}

/** A fixed time, so that the same content makes the same bytes. */
const MODIFIED = "2026-01-01T00:00:00Z";

export function packArchive({ database, files }: Contents, erp: { database_name: string; erp_version: string }): Uint8Array {
  const manifest = {
    odoo_dump: "1",
    db_name: erp.database_name,
    version: erp.erp_version,
    version_info: [...erp.erp_version.split(".").map(Number), 0, "final", 0, ""],
    major_version: erp.erp_version,
    pg_version: "16.0",
    modules: { base: `${erp.erp_version}.1.3`, web: `${erp.erp_version}.1.0` },
  };
  const stored = Object.entries(files).map(([path, text]) => [`filestore/${path}`, strToU8(text)] as const);
  return zipSync(
    {
      "dump.sql": strToU8(toDump(database)),
      "manifest.json": strToU8(JSON.stringify(manifest, undefined, 4)),
      ...Object.fromEntries(stored),
    },
    { mtime: MODIFIED },
  );
}

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const Manifest = z.object({ odoo_dump: z.literal("1"), major_version: z.string() });

/** Throws BACKUP_CORRUPT for whatever is not whole, not of this version, or lacks a file that its database names. */
export function unpackArchive(bytes: Uint8Array, erpVersion: string): Contents {
  try {
    const entries = unzipSync(bytes);
    const text = (path: string): string => {
      const content = entries[path];
      if (content === undefined) throw new Error(`it lacks ${path}`);
      return strFromU8(content);
    };
    const manifest = Manifest.parse(JSON.parse(text("manifest.json")));
    if (manifest.major_version !== erpVersion) throw new Error(`it is of version ${manifest.major_version}, not ${erpVersion}`);
    const database = fromDump(text("dump.sql"));
    const paths = Object.keys(entries).filter((path) => path.startsWith("filestore/"));
    const files = Object.fromEntries(paths.map((path) => [path.slice("filestore/".length), text(path)]));
    // A file's name is the hash of what is in it; that refuses names that lead elsewhere, too.
    const wrong = Object.entries(files).find(([name, content]) => fileNameOf(content) !== name);
    if (wrong !== undefined) throw new Error(`its file ${wrong[0]} is damaged`);
    const missing = database.attachments.find(({ file }) => files[file] === undefined);
    if (missing !== undefined) throw new Error(`it lacks the file of the attachment ${missing.name}`);
    return { database, files };
  } catch (error) {
    const why = error instanceof Error && !(error instanceof z.ZodError) ? error.message : "it has no readable manifest";
    throw new GiveUp("BACKUP_CORRUPT", `The backup's archive cannot be used: ${why}`, { cause: error });
  }
}
