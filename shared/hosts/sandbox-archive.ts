// The sandbox's archives: real zips in the layout of the ERP's own backups, with what the sandbox's ERP holds.
import { createHash } from "node:crypto";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import * as z from "zod";
import type { SandboxContent } from "../data/sandbox.ts";
import { GiveUp } from "../runtime/task-errors.ts";

/** A fixed time, so that the same content makes the same bytes. */
const MODIFIED = "2026-01-01T00:00:00Z";

export interface ArchiveOf {
  database_name: string;
  erp_version: string;
  content: SandboxContent;
}

export function packArchive({ database_name, erp_version, content }: ArchiveOf): Uint8Array {
  const manifest = {
    odoo_dump: "1",
    db_name: database_name,
    version: `${erp_version}`,
    version_info: [...erp_version.split(".").map(Number), 0, "final", 0, ""],
    major_version: erp_version,
    pg_version: "16.0",
    modules: { base: `${erp_version}.1.3`, web: `${erp_version}.1.0` },
  };
  const files = Object.entries(content.files).map(([path, text]) => [`filestore/${path}`, strToU8(text)] as const);
  return zipSync(
    {
      "dump.sql": strToU8(dumpSql(content)),
      "manifest.json": strToU8(JSON.stringify(manifest, undefined, 4)),
      ...Object.fromEntries(files),
    },
    { mtime: MODIFIED, level: 6 },
  );
}

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const Manifest = z.object({ odoo_dump: z.literal("1"), major_version: z.string() });

/** Throws GiveUp BACKUP_CORRUPT for whatever is not whole, not ours, or of another version. */
export function unpackArchive(bytes: Uint8Array, erpVersion: string): SandboxContent {
  const entries = unzip(bytes);
  const manifest = Manifest.safeParse(parseJson(textOf(entries, "manifest.json")));
  if (!manifest.success) throw corrupt("has no readable manifest");
  if (manifest.data.major_version !== erpVersion)
    throw corrupt(`is of version ${manifest.data.major_version}, not ${erpVersion}`);
  const files = Object.entries(entries)
    .filter(([path]) => path.startsWith("filestore/"))
    .map(([path, content]) => [safePath(path.slice("filestore/".length)), strFromU8(content)]);
  return { ...contentOf(textOf(entries, "dump.sql")), files: Object.fromEntries(files) };
}

function unzip(bytes: Uint8Array): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes);
  } catch (error) {
    throw corrupt("cannot be unpacked", error);
  }
}

function textOf(entries: Record<string, Uint8Array>, path: string): string {
  const content = entries[path];
  if (content === undefined) throw corrupt(`lacks ${path}`);
  return strFromU8(content);
}

function safePath(path: string): string {
  if (path.startsWith("/") || path.split("/").includes("..")) throw corrupt("has a file outside its own folder");
  return path;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema that reads it says that it is not what it should be
  }
}

const corrupt = (what: string, cause?: unknown) => new GiveUp("BACKUP_CORRUPT", `The backup's archive ${what}`, cause);

/** The database as plain SQL: parameters, scheduled jobs, mail servers, and what people wrote, one row a line. */
function dumpSql(content: SandboxContent): string {
  const named = (count: number, name: string): [string, string][] =>
    Array.from({ length: count }, (_, i) => [`${name} ${i + 1}`, "true"]);
  const tables: Record<string, [string, string][]> = {
    ir_config_parameter: [
      ["database.uuid", content.database_uuid],
      ["web.base.url", content.base_url],
      ["database.is_neutralized", String(content.is_neutralized)],
    ],
    ir_cron: named(content.active_crons, "Job"),
    ir_mail_server: named(content.active_mail_servers, "Mail server"),
    sandbox_data: Object.entries(content.data).map(([key, value]) => [key, JSON.stringify(value)]),
  };
  return `-- PostgreSQL database dump\n\n${Object.entries(tables)
    .map(
      ([table, rows]) =>
        `CREATE TABLE public.${table} (key text PRIMARY KEY, value text);\n${rows.map((row) => insert(table, row)).join("")}`,
    )
    .join("\n")}\n-- PostgreSQL database dump complete\n`;
}

const quoted = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;
const unquoted = (text: string): string =>
  text.replaceAll("''", "'").replace(/\\([\\nr])/g, (_, sign: string) => ({ "\\": "\\", n: "\n", r: "\r" })[sign] ?? sign);

const insert = (table: string, [key, value]: [string, string]): string =>
  `INSERT INTO public.${table} (key, value) VALUES (E${quoted(key)}, E${quoted(value)});\n`;
const INSERT = /^INSERT INTO public\.(\w+) \(key, value\) VALUES \(E'((?:[^']|'')*)', E'((?:[^']|'')*)'\);$/;

/** Reads back only what `dumpSql` writes: anything else is not an archive of the sandbox. */
function contentOf(sql: string): Omit<SandboxContent, "files"> {
  if (!sql.trimEnd().endsWith("-- PostgreSQL database dump complete")) throw corrupt("has a database dump that is cut off");
  const rows = sql
    .split("\n")
    .filter((line) => line.startsWith("INSERT"))
    .map((line) => {
      const [, table = "", key = "", value = ""] = INSERT.exec(line) ?? [];
      if (table === "") throw corrupt("has a database dump that cannot be read");
      return { table, key: unquoted(key), value: unquoted(value) };
    });
  const parameter = (name: string): string => {
    const row = rows.find(({ table, key }) => table === "ir_config_parameter" && key === name);
    if (row === undefined) throw corrupt(`has a database dump that lacks ${name}`);
    return row.value;
  };
  return {
    database_uuid: parameter("database.uuid"),
    base_url: parameter("web.base.url"),
    is_neutralized: parameter("database.is_neutralized") === "true",
    active_crons: rows.filter(({ table }) => table === "ir_cron").length,
    active_mail_servers: rows.filter(({ table }) => table === "ir_mail_server").length,
    data: Object.fromEntries(
      rows.filter(({ table }) => table === "sandbox_data").map(({ key, value }) => [key, parseJson(value)]),
    ),
  };
}
