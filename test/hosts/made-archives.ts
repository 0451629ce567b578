// A backup as the ERP makes it, what others make of its files, and ways to change it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { unzipSync } from "fflate";
import { buildAttachments } from "../../shared/providers/sandbox/machines.ts";
import { packArchive } from "../../shared/hosts/sandbox/archive.ts";
import { type ZipEntry, type ZipOptions, writeZip } from "../harness/zip.ts";

const { attachments, files } = buildAttachments({ orders: 3 });
export const database = {
  uuid: "7d1f6a3e-0000-4000-8000-000000000000",
  secret: "s3cret",
  base_url: "https://shop.example.com",
  neutralized: false,
  crons: [],
  mail_servers: [],
  admin_login: "admin@example.com",
  admin_password_hash: "$pbkdf2-sha512$1$a$b",
  users: [],
  data: '{"orders":3}',
  attachments,
  modules: { base: "19.0.1.3", crm: "19.0.1.9" },
  updated_with: null,
};
export const archive = packArchive(
  { erp_version: "19.0", edition: "community", database_name: "shop", database, files },
  "2026-11-21T12:00:00.000Z",
);
/** The files of a backup, by their paths. */
export const BACKUP: Readonly<Record<string, Buffer>> = Object.fromEntries(
  Object.entries(unzipSync(archive)).map(([path, data]) => [path, Buffer.from(data)]),
);
const PATHS = Object.keys(BACKUP);
export const dataOf = (path: string): Buffer => BACKUP[path] ?? Buffer.alloc(0);
export const STORED = PATHS.find((path) => path.startsWith("filestore/")) ?? "";

/** The backup's files, changed, and others. */
export const entries = (change: (path: string) => Partial<ZipEntry> = () => ({}), ...others: ZipEntry[]): ZipEntry[] => [
  ...PATHS.map((path): ZipEntry => ({ name: path, data: dataOf(path), ...change(path) })),
  ...others,
];
export const zip = (change?: (path: string) => Partial<ZipEntry>, ...others: ZipEntry[]): Buffer =>
  writeZip(entries(change, ...others));
export const only = (target: string, change: Partial<ZipEntry>) => (path: string) => (path === target ? change : {});
export const without = (...prefixes: string[]): Buffer =>
  writeZip(entries().filter(({ name }) => !prefixes.some((each) => String(name).startsWith(each))));
export const renamed = (rename: (path: string) => string | Buffer): Buffer => zip((path) => ({ name: rename(path) }));
export const named = (...names: string[]): Buffer => writeZip(names.map((name) => ({ name, data: "x" })));
export const withManifest = (manifest: Buffer | string): Buffer => zip(only("manifest.json", { data: manifest }));
export const withDump = (dump: Buffer | string): Buffer => zip(only("dump.sql", { data: dump }));
export const added = (...names: string[]): Buffer => zip(undefined, ...names.map((name) => ({ name, data: "added" })));
export const ending = (options: ZipOptions): Buffer => writeZip(entries(), options);
export const manifestOf = (change: object): string =>
  JSON.stringify({ ...JSON.parse(String(BACKUP["manifest.json"])), ...change });

/** What a program makes of a folder that has the backup's files in `shop`. */
export function packed(command: string, ...args: string[]): () => Buffer {
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "archive-"));
    try {
      for (const [path, data] of Object.entries(BACKUP)) {
        const file = join(folder, "shop", path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, data);
      }
      const inside = args.includes("shop") || args.some((each) => each.includes("'shop'"));
      const out = execFileSync(
        command,
        args.map((each) => each.replace("OUT", join(folder, "out.zip"))),
        {
          cwd: inside ? folder : join(folder, "shop"),
          stdio: ["ignore", "pipe", "ignore"],
          maxBuffer: 1024 ** 3,
        },
      );
      return args.some((each) => each.includes("OUT")) ? readFileSync(join(folder, "out.zip")) : out;
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

export type Case = [what: string, bytes: () => Buffer];
