// A backup's archive in the ERP's own layout: a zip of dump.sql, filestore/ and manifest.json.
import { strToU8, zipSync, type Zippable } from "fflate";
import * as z from "zod";
import { type ErpDatabase, ErpFiles, type SandboxErp } from "../../providers/sandbox/machines.ts";
import { because } from "../../domain/reasons.ts";
import type { Job, LeftOut } from "../host.ts";
import { byName, countRows, fromDump, toDump } from "./dump.ts";
import { requirePlainDump, printable, unusable, Unusable, withoutExtraFolder } from "./layout.ts";
import { initialModules } from "./modules.ts";
import { unzip } from "./zip.ts";

const PG_VERSION = "16.4";
const DUMP_FORMAT = "1";

const Manifest = z.object({
  db_name: z.string().catch(""),
  major_version: z.string().or(
    z
      .number()
      .positive()
      .lt(1000)
      .transform((version) => version.toFixed(1)),
  ),
  modules: z.record(z.string(), z.unknown()).catch({}),
  /** How many files the database referenced and the file tree lacked. Only our own archives have it. */
  missing_files: z.number().int().nonnegative().optional().catch(undefined),
  /** How many rows each table had. Likewise. */
  rows: z.record(z.string(), z.number().int()).optional().catch(undefined),
});
type Manifest = z.infer<typeof Manifest>;

export interface Archived {
  manifest: Manifest;
  database: ErpDatabase;
  files: ErpFiles;
  /** Statements of its dump that are not the ERP's. */
  left_out: LeftOut[];
}

type Archivable = Pick<SandboxErp, "erp_version" | "edition" | "database_name" | "files"> & { database: ErpDatabase };

/** Files that the database names and that are not there, as after a restore of the database alone. */
export function missingFiles({ database, files }: Pick<Archived, "database" | "files">): string[] {
  return listedFiles(database).filter((file) => !(file in files));
}

export const listedFiles = ({ attachments }: ErpDatabase): string[] => [...new Set(attachments.map(({ file }) => file))];

/** The same contents at the same time make the same bytes. */
export function packArchive(erp: Archivable, at: string, code?: Job<"make_archive">["code"]): Uint8Array {
  const files: Zippable = {
    "dump.sql": strToU8(toDump(erp.database)),
    ...Object.fromEntries(Object.entries(erp.files).map(([path, text]) => [`${FILESTORE}${path}`, strToU8(text)])),
    "manifest.json": strToU8(`${JSON.stringify({ ...buildManifest(erp), ...(code && { code }) }, undefined, 4)}\n`),
  };
  return zipSync(files, { mtime: at });
}

/**
 * Files that were already missing when the archive was created are no damage; an archive without that number is accepted as it
 * is.
 */
export function requireListedFiles({ manifest: { missing_files = Infinity }, ...archived }: Archived): void {
  const [first, ...others] = missingFiles(archived);
  if (first !== undefined && others.length >= missing_files)
    throw new Unusable(because("archive_files_missing", { missing: others.length + 1, known: missing_files }));
}

/** Throws an error whose message tells the user what is wrong with the archive. */
export function unpackArchive(bytes: Uint8Array): Archived {
  const { "dump.sql": dump, "manifest.json": manifest, ...stored } = Object.fromEntries(unzip(bytes));
  if (dump === undefined || manifest === undefined) throw unusable("listing");
  requirePlainDump(dump);
  const about = manifestIn(manifest);
  const paths = withoutExtraFolder(Object.keys(stored), about.db_name);
  const files = Object.entries(stored).map(([path, content], index) => [
    (paths[index] ?? path).slice(FILESTORE.length),
    decodeText(path, content),
  ]);
  return { manifest: about, ...fromDump(decodeText("dump.sql", dump)), files: ErpFiles.parse(Object.fromEntries(files)) };
}

const FILESTORE = "filestore/";
const MANIFEST_MAX = 1 << 24;

function decodeText(path: string, content: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new Unusable(because("archive_sandbox_binary", { name: printable(path) }), { cause });
  }
}

/** Reads a manifest as Python reads JSON, which Windows' editors write in UTF-16 or with a byte order mark. */
function manifestIn(content: Buffer): Manifest {
  if (content.length > MANIFEST_MAX) throw unusable("manifestTooLong");
  const isUtf16 = content.length >= 2 && [0xfeff, 0x7b].includes(content.readUInt16LE(0));
  const parsed = Manifest.safeParse(decodeJson(new TextDecoder(isUtf16 ? "utf-16le" : "utf-8", { fatal: true }), content));
  const version = parsed.data?.major_version;
  if (!parsed.success || !version) throw unusable("manifestWithoutVersion");
  if (/^[0-9]{1,3}\.[0-9]{1,3}$/.test(version)) return parsed.data;
  throw unusable(/^saas/i.test(version) ? "intermediate" : "version", { version: printable(version) });
}

function decodeJson(decoder: InstanceType<typeof TextDecoder>, content: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(content));
  } catch {
    throw unusable("manifestNotJson");
  }
}

function buildManifest({ erp_version, edition, database_name, database, files }: Archivable): object {
  const [major = 0, minor = 0] = erp_version.split(".").map(Number);
  return {
    odoo_dump: DUMP_FORMAT,
    db_name: database_name,
    version: erp_version,
    version_info: [major, minor, 0, "final", 0, ""],
    major_version: erp_version,
    pg_version: PG_VERSION,
    modules: Object.fromEntries(byName({ ...initialModules({ erp_version, edition }), ...database.modules })),
    missing_files: missingFiles({ database, files }).length,
    rows: countRows(database),
  };
}
