// A backup's archive in the ERP's own layout: a zip of dump.sql, filestore/ and manifest.json.
import { strFromU8, strToU8, unzipSync, zipSync, type Zippable } from "fflate";
import * as z from "zod";
import { type ErpDatabase, ErpFiles, fileNameOf, type SandboxErp } from "../data/sandbox.ts";
import { countRows, fromDump, toDump } from "./sandbox-dump.ts";

const PG_VERSION = "16.4";
const DUMP_FORMAT = "1";

const Manifest = z.object({
  odoo_dump: z.literal(DUMP_FORMAT),
  db_name: z.string(),
  version: z.string(),
  version_info: z.tuple([z.number(), z.number(), z.number(), z.string(), z.number(), z.string()]),
  major_version: z.string(),
  pg_version: z.string(),
  modules: z.record(z.string(), z.string()),
  /** How many files the database referenced and the file tree lacked. Only our own archives have it. */
  missing_files: z.number().int().optional(),
  /** How many rows each table had. Likewise. */
  rows: z.record(z.string(), z.number().int()).optional(),
});
type Manifest = z.infer<typeof Manifest>;

export interface Archived {
  manifest: Manifest;
  database: ErpDatabase;
  files: ErpFiles;
}

type Archivable = Pick<SandboxErp, "erp_version" | "edition" | "database_name" | "files"> & { database: ErpDatabase };

/** Files that the database names and that are not there, as after a restore of the database alone. */
export function missingFiles({ database, files }: Pick<Archived, "database" | "files">): string[] {
  return [...new Set(database.attachments.map(({ file }) => file))].filter((file) => !(file in files));
}

/** The same contents at the same time make the same bytes. */
export function packArchive(erp: Archivable, at: string): Uint8Array {
  const files: Zippable = {
    "dump.sql": strToU8(toDump(erp.database)),
    ...Object.fromEntries(Object.entries(erp.files).map(([path, text]) => [`${FILESTORE}${path}`, strToU8(text)])),
    "manifest.json": strToU8(`${JSON.stringify(manifestOf(erp), undefined, 4)}\n`),
  };
  return zipSync(files, { mtime: at });
}

/** Throws a plain error whose message tells the user what is wrong with the archive. */
export function unpackArchive(bytes: Uint8Array): Archived {
  const entries = new Map(Object.entries(unzipped(bytes)).map(([path, content]) => [path, strFromU8(content)]));
  const text = (path: string): string => {
    const content = entries.get(path);
    if (content === undefined) throw new Error(`it lacks ${path}`);
    return content;
  };
  const manifest = manifestIn(text("manifest.json"));
  const database = fromDump(text("dump.sql"));
  const files = filesIn([...entries].filter(([path]) => !OWN.has(path)));
  requireListedFiles(manifest, { database, files });
  return { manifest, database, files };
}

/** Files that were already missing when the archive was created are no damage; an archive without that number is accepted as it is. */
function requireListedFiles({ missing_files = Infinity }: Manifest, archived: Pick<Archived, "database" | "files">): void {
  const [first, ...others] = missingFiles(archived);
  if (first !== undefined && others.length >= missing_files)
    throw new Error(
      `it lacks ${others.length + 1} files that its database names, the first of them ${first}; ${missing_files} were missing when it was created`,
    );
}

/** Far more than a sandbox packs, and little enough for a function's memory. */
const ENTRIES_MAX = 10_000;
const UNPACKED_MAX = 16 * 1024 * 1024;

function unzipped(bytes: Uint8Array): Record<string, Uint8Array> {
  const names = new Set<string>();
  let size = 0;
  try {
    return unzipSync(bytes, {
      // Called before each file is unpacked, into memory of the size that the listing says and no more.
      filter: ({ name, originalSize }) => {
        if (names.has(name)) throw new Unacceptable("it contains a file twice");
        names.add(name);
        size += originalSize;
        if (names.size > ENTRIES_MAX || size > UNPACKED_MAX)
          throw new Unacceptable("it unpacks to more than a sandbox instance can hold");
        return true;
      },
    });
  } catch (cause) {
    if (cause instanceof Unacceptable) throw cause;
    throw new Error("it is not a readable zip file", { cause });
  }
}

class Unacceptable extends Error {
  override name = "Unacceptable";
}

function manifestIn(text: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error("its manifest.json is not an ERP's", { cause });
  }
}

const FILESTORE = "filestore/";
const OWN: ReadonlySet<string> = new Set(["dump.sql", "manifest.json"]);
const FILE = /^filestore\/([0-9a-f]{2}\/[0-9a-f]{40})$/;

/** Only names that the ERP gives its files: nothing absolute, no `..`, no links. */
function filesIn(entries: readonly (readonly [string, string])[]): ErpFiles {
  return ErpFiles.parse(
    Object.fromEntries(
      entries.map(([path, text]) => {
        const [, name] = FILE.exec(path) ?? [];
        if (name === undefined) throw new Error("it contains unexpected files");
        if (name !== fileNameOf(text)) throw new Error(`the content of its file ${name} does not match its name`);
        return [name, text];
      }),
    ),
  );
}

function manifestOf({ erp_version, edition, database_name, database, files }: Archivable): Manifest {
  const [major = 0, minor = 0] = erp_version.split(".").map(Number);
  const modules = ["base", "web", "mail", ...(edition === "enterprise" ? ["web_enterprise"] : [])];
  return {
    odoo_dump: DUMP_FORMAT,
    db_name: database_name,
    version: erp_version,
    version_info: [major, minor, 0, "final", 0, ""],
    major_version: erp_version,
    pg_version: PG_VERSION,
    modules: Object.fromEntries(modules.map((name) => [name, `${erp_version}.1.0`])),
    missing_files: missingFiles({ database, files }).length,
    rows: countRows(database),
  };
}
