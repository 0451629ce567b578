// Archives as people send them, and what is said about each: by a machine and by the sandbox alike.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliCompressSync, crc32, gzipSync } from "node:zlib";
import { unzipSync } from "fflate";
import { buildAttachments } from "../../shared/providers/sandbox/machines.ts";
import { packArchive } from "../../shared/hosts/sandbox/archive.ts";
import { type ZipEntry, type ZipOptions, writeZip } from "../harness/zip.ts";

const { attachments, files } = buildAttachments({ orders: 3 });
const database = {
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
};
const made = packArchive(
  { erp_version: "19.0", edition: "community", database_name: "shop", database, files },
  "2026-11-21T12:00:00.000Z",
);
/** The files of a backup, by their paths. */
const BACKUP: Readonly<Record<string, Buffer>> = Object.fromEntries(
  Object.entries(unzipSync(made)).map(([path, data]) => [path, Buffer.from(data)]),
);
const PATHS = Object.keys(BACKUP);
const dataOf = (path: string): Buffer => BACKUP[path] ?? Buffer.alloc(0);
const STORED = PATHS.find((path) => path.startsWith("filestore/")) ?? "";

/** The backup's files, changed, and others. */
const entries = (change: (path: string) => Partial<ZipEntry> = () => ({}), ...others: ZipEntry[]): ZipEntry[] => [
  ...PATHS.map((path): ZipEntry => ({ name: path, data: dataOf(path), ...change(path) })),
  ...others,
];
const zip = (change?: (path: string) => Partial<ZipEntry>, ...others: ZipEntry[]): Buffer => writeZip(entries(change, ...others));
const only = (wanted: string, change: Partial<ZipEntry>) => (path: string) => (path === wanted ? change : {});
const without = (...left: string[]): Buffer =>
  writeZip(entries().filter(({ name }) => !left.some((each) => String(name).startsWith(each))));
const renamed = (rename: (path: string) => string | Buffer): Buffer => zip((path) => ({ name: rename(path) }));
const named = (...names: string[]): Buffer => writeZip(names.map((name) => ({ name, data: "x" })));
const withManifest = (manifest: Buffer | string): Buffer => zip(only("manifest.json", { data: manifest }));
const withDump = (dump: Buffer | string): Buffer => zip(only("dump.sql", { data: dump }));
const added = (...names: string[]): Buffer => zip(undefined, ...names.map((name) => ({ name, data: "added" })));
const ending = (options: ZipOptions): Buffer => writeZip(entries(), options);
const manifestOf = (change: object): string => JSON.stringify({ ...JSON.parse(String(BACKUP["manifest.json"])), ...change });

/** What a program makes of a folder that has the backup's files in `shop`. */
function packed(command: string, ...args: string[]): () => Buffer {
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

type Case = [what: string, bytes: () => Buffer];

/** What programs made, by the program that must be here for it. */
export const OF_PROGRAMS: [program: string, ...Case][] = [
  ["zip", "zip -r", packed("zip", "-r", "OUT", ".")],
  ["zip", "zip -r of a folder", packed("zip", "-r", "OUT", "shop")],
  ["zip", "zip -r to a pipe", packed("zip", "-r", "-", "shop")],
  ["zip", "zip with sizes of 64 bits", packed("zip", "-r", "-fz", "OUT", ".")],
  ["zip", "zip without compression, without folders", packed("zip", "-r0D", "OUT", ".")],
  ["7z", "7-Zip", packed("7z", "a", "-tzip", "OUT", ".")],
  ["7z", "7-Zip of a folder, without compression", packed("7z", "a", "-tzip", "-mx=0", "OUT", "shop")],
  ["7z", "7-Zip with names in UTF-8", packed("7z", "a", "-tzip", "-mcu=on", "OUT", "shop")],
  [
    "python3",
    "Python's shutil",
    packed("python3", "-c", "import shutil; shutil.make_archive('OUT'[:-4], 'zip', '.', 'shop') # 'shop'"),
  ],
  [
    "python3",
    "Python's zipfile to a pipe, without compression",
    packed(
      "python3",
      "-c",
      "import sys, zipfile\nfrom pathlib import Path\nclass Pipe:\n  write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush\nz = zipfile.ZipFile(Pipe(), 'w')\nfor each in sorted(Path('shop').rglob('*')): z.write(each)\nz.close()",
    ),
  ],
  ["jar", "Java's jar", packed("jar", "cMf", "OUT", ".")],
  ["bsdtar", "libarchive, which Windows' Explorer uses", packed("bsdtar", "-a", "-cf", "OUT", "shop")],
  ["bsdtar", "libarchive to a pipe", packed("bsdtar", "--format", "zip", "-cf", "-", "shop")],
];

/** What unpacking and packing again adds and changes. */
export const TAKEN: Case[] = [
  ["as the service makes it", () => Buffer.from(made)],
  [
    "with folders",
    () => zip(undefined, { name: "filestore/" }, { name: `${dirname(STORED)}/`, method: 0 }, { name: "filestore/" }),
  ],
  [
    "with folders that are compressed, and empty ones of others",
    () => zip(undefined, { name: "filestore/" }, { name: "other/" }),
  ],
  ["in a folder", () => renamed((path) => `shop backup/${path}`)],
  ["in folders", () => renamed((path) => `home/odoo/backups/2026-11-21/${path}`)],
  ["in a folder with another script's name", () => renamed((path) => `резервная копия/${path}`)],
  [
    "in a folder whose name is of MS-DOS",
    () => zip((path) => ({ name: Buffer.concat([Buffer.from([66, 0x81, 114, 111]), Buffer.from(`/${path}`)]), flags: 0 })),
  ],
  [
    "in a folder with its name in an extra field",
    () =>
      zip((path) => {
        const name = Buffer.concat([Buffer.from([66, 0xfc, 114, 111]), Buffer.from(`/${path}`)]);
        const body = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from(`Büro/${path}`)]);
        body.writeUInt32LE(crc32(name), 1);
        const extra = Buffer.concat([Buffer.from([0x75, 0x70, body.length, 0]), body]);
        return { name, flags: 0, extra };
      }),
  ],
  ["in ./", () => renamed((path) => `./${path}`)],
  ["with backslashes", () => renamed((path) => path.replaceAll("/", "\\"))],
  ["with backslashes, in a folder", () => renamed((path) => `shop\\${path.replaceAll("/", "\\")}`)],
  [
    "with backslashes, and folders",
    () => writeZip([...entries((path) => ({ name: path.replaceAll("/", "\\") })), { name: "filestore\\" }]),
  ],
  ["in capitals", () => renamed((path) => path.toUpperCase())],
  ["with sizes behind the files", () => zip(() => ({ streamed: 4 }))],
  ["with sizes of 64 bits behind the files", () => zip(() => ({ streamed: 8 }))],
  ["with sizes behind the files, without their mark", () => zip(() => ({ streamed: "without mark" }))],
  ["without compression, with sizes behind the files", () => zip(() => ({ streamed: 4, method: 0 }))],
  ["without compression, with sizes of 64 bits behind the files", () => zip(() => ({ streamed: 8, method: 0 }))],
  [
    "with a file that looks like what follows a file",
    () => zip(only(STORED, { streamed: 4, method: 0, data: "PK\u0007\b".repeat(20) })),
  ],
  [
    "with extra fields of 64 bits that nobody needs",
    () => zip(() => ({ extra: Buffer.from([1, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]) })),
  ],
  ["made on MS-DOS", () => zip(() => ({ system: 0, mode: 0 }))],
  ["made on macOS", () => zip(() => ({ system: 19 }))],
  ["with its listing in another order", () => ending({ reversed: true })],
  ["with a comment", () => ending({ comment: "of shop.example.com" })],
  ["with a comment that looks like an end", () => ending({ comment: `PK\u0005\u0006${"\0".repeat(40)}` })],
  ["with a line behind it", () => ending({ after: Buffer.from("\r\n") })],
  [
    "of macOS's Finder",
    () =>
      writeZip(
        [
          ...entries((path) => ({ name: `shop/${path}` })),
          { name: "shop/.DS_Store" },
          { name: "__MACOSX/shop/._dump.sql", data: "x" },
          { name: `__MACOSX/shop/${dirname(STORED)}/._x`, data: "x" },
          { name: "__MACOSX/", method: 0 },
        ].map((entry): ZipEntry => ({ streamed: 4, flags: 0, ...entry })),
      ),
  ],
  [
    "with files of macOS",
    () =>
      added(
        ".DS_Store",
        "filestore/.DS_Store",
        "._dump.sql",
        ".Spotlight-V100/Store-V2/x",
        ".fseventsd/0000",
        ".Trashes/501/dump.sql",
        "Icon\r",
        ".AppleDouble/dump.sql",
        ".localized",
        ".VolumeIcon.icns",
      ),
  ],
  [
    "with files of Windows",
    () =>
      added(
        "Thumbs.db",
        "filestore/desktop.ini",
        "THUMBS.DB",
        "$RECYCLE.BIN/S-1-5/x.sql",
        "System Volume Information/WPSettings.dat",
        "dump.sql:Zone.Identifier",
        "ehthumbs_vista.db",
        "~$dump.sql",
        "Picasa.ini",
      ),
  ],
  [
    "with files of Linux desktops",
    () =>
      added(
        ".directory",
        "filestore/.directory",
        ".Trash-1000/files/dump.sql",
        "lost+found/x",
        ".hidden",
        ".nfs000000000a1b",
        "manifest.json~",
        ".manifest.json.swp",
        ".~lock.manifest.json#",
        "#dump.sql#",
        ".#dump.sql",
        ".nomedia",
        "filestore/.gitkeep",
      ),
  ],
  [
    "with files of network storage",
    () =>
      added(
        "@eaDir/dump.sql@SynoEAStream",
        "filestore/@eaDir/x",
        "#recycle/dump.sql",
        "@Recycle/x",
        ".@__thumb/x",
        ".smbdeleteAAA0001",
        ".ftpquota",
      ),
  ],
  [
    "with files of file synchronization",
    () =>
      added(
        ".dropbox",
        ".dropbox.cache/x",
        ".stfolder/x",
        ".stversions/dump.sql",
        ".sync_a1b2.db-wal",
        ".owncloudsync.log",
        ".849C9593-D756-4E56-8D6E-42412F2A707B",
        ".dump.sql.icloud",
        ".~tmp~/dump.sql",
      ),
  ],
  [
    "with a manifest behind a byte order mark",
    () => withManifest(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), dataOf("manifest.json")])),
  ],
  ["with a manifest in UTF-16", () => withManifest(Buffer.from(`\uFEFF${String(BACKUP["manifest.json"])}`, "utf16le"))],
  ["with a manifest that says nothing but its version", () => withManifest('{"major_version":"19.0"}')],
  [
    "with a manifest whose numbers are lies",
    () => withManifest(manifestOf({ missing_files: -5, rows: 3, modules: ["web_enterprise"], db_name: 7 })),
  ],
  [
    "with a manifest that knows of no missing file, without a file",
    () => writeZip(entries().filter(({ name }) => name !== STORED)),
  ],
  ["with files that the ERP does not know", () => added("filestore/checklist/ab/abc", "filestore/readme")],
];

const EXPORT = "create the backup in the ERP's database manager, in the format zip, which includes the filestore";
const REPACK = "unpack it, zip its dump.sql, manifest.json and filestore, and upload that";
const DOWNLOAD = "download the backup again, and look at the file before you upload it";
const starts =
  (text: string): (() => Buffer) =>
  () =>
    Buffer.concat([Buffer.from(text, "latin1"), Buffer.alloc(2000, 1)]);
const tar = (name: string): Buffer => {
  const head = Buffer.alloc(1024);
  head.write(name);
  head.write("ustar", 257);
  return head;
};
const strange = (name: string): string =>
  `it contains ${name}, which is not part of an ERP's backup: remove it, and upload the archive again`;
const no = (is: string, advice: string): string => `it is ${is}, not the ERP's zip file: ${advice}`;
const SQL = "--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 16.4\n\nSET statement_timeout = 0;\n";

/** What must not be taken, and why. */
export const REJECTED: [...Case, why: string][] = [
  // What is no zip
  ["nothing", () => Buffer.alloc(0), `it is not a zip file: ${EXPORT}`],
  ["random bytes", () => Buffer.from(brotliCompressSync(made)), `it is not a zip file: ${EXPORT}`],
  ["7z", starts("7z\xbc\xaf'\x1c"), no("a 7z archive", REPACK)],
  ["RAR", starts("Rar!\x1a\x07\x01\0"), no("a RAR archive", REPACK)],
  ["tar", () => tar("dump.sql"), no("a tar archive", REPACK)],
  ["tar.gz", () => gzipSync(tar("dump.sql")), `it is a tar archive, compressed with gzip: ${REPACK}`],
  ["tar.xz", starts("\xfd7zXZ\0"), no("an xz file", REPACK)],
  ["tar.zst", starts("\x28\xb5\x2f\xfd"), no("a Zstandard file", REPACK)],
  ["bzip2", starts("BZh91AY"), no("a bzip2 file", REPACK)],
  ["a zip in gzip", () => gzipSync(made), `it is a zip file, compressed with gzip: ${REPACK}`],
  ["SQL", () => Buffer.from(SQL), no("a plain SQL dump, without the ERP's files", EXPORT)],
  ["SQL in gzip", () => gzipSync(SQL), `it is a plain SQL dump, without the ERP's files, compressed with gzip: ${EXPORT}`],
  [
    "SQL of a server",
    () => Buffer.from("--\n-- PostgreSQL database cluster dump\n--\n"),
    no("a dump of a whole PostgreSQL server (pg_dumpall)", EXPORT),
  ],
  [
    "SQL of PowerShell",
    () => Buffer.from(`\uFEFF${SQL}`, "utf16le"),
    no("text in UTF-16, as PowerShell writes with >", "create it again without PowerShell's >"),
  ],
  ["pg_dump -Fc", starts("PGDMP\x01\x0f\0"), no("a dump in pg_dump's custom format, without the ERP's files", EXPORT)],
  [
    "pg_dump -Fc in gzip",
    () => gzipSync("PGDMP\x01\x0f"),
    `it is a dump in pg_dump's custom format, without the ERP's files, compressed with gzip: ${EXPORT}`,
  ],
  ["pg_dump -Ft", () => tar("toc.dat"), no("a dump in pg_dump's tar format, without the ERP's files", EXPORT)],
  ["MySQL", starts("-- MySQL dump 10.13  Distrib 8.0.36\n--\n"), no("a dump of MySQL", EXPORT)],
  ["MariaDB", starts("/*M!999999\\- enable the sandbox mode */ \n"), no("a dump of MySQL", EXPORT)],
  ["SQLite", starts("SQLite format 3\0"), no("a database of SQLite", EXPORT)],
  [
    "a web page",
    starts("\n<!DOCTYPE html>\n<html><head><title>Odoo</title>"),
    no("a web page, such as a sign-in page or an error", DOWNLOAD),
  ],
  [
    "a storage's error",
    starts('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'),
    no("an XML file, such as a storage's error", DOWNLOAD),
  ],
  ["an API's error", starts('{"jsonrpc": "2.0", "error": {}}'), no("a JSON file, such as an API's error", DOWNLOAD)],
  ["zeros", () => Buffer.alloc(5000), no("filled with zeros", DOWNLOAD)],
  ["an encrypted file", starts("Salted__"), no("an encrypted file", "decrypt it, and upload what is inside")],
  [
    "Base64",
    () => Buffer.from(Buffer.from(made).toString("base64")),
    no("a zip file in Base64", "decode it (base64 -d), and upload that"),
  ],
  [
    "a zip that went through a text editor",
    () => Buffer.from(Buffer.from(made).toString("utf8")),
    no("a zip file that was changed as if it were text", DOWNLOAD),
  ],
  ["a program", starts("MZ\x90\0"), no("a program", REPACK)],
  // Zips that are not whole, or not only that
  [
    "a zip without its end",
    () => Buffer.from(made.subarray(0, made.length - 100)),
    "it is incomplete: a zip file ends with a listing of its files, and this one does not. Upload the whole file; join it first if it is one of several volumes",
  ],
  [
    "a zip's last volume",
    () => Buffer.concat([Buffer.from("PK\u0003\u0004"), made.subarray(800)]),
    "its beginning is missing: upload the whole file; join it first if it is one of several volumes",
  ],
  [
    "a split zip's first part",
    () => Buffer.concat([Buffer.from("PK\u0007\b"), made]),
    no("one part of a split zip file", "join its parts (zip -s 0), and upload the whole"),
  ],
  [
    "a split zip's last part",
    () => ending({ end: { disk: 2 } }),
    "it is one part of a split zip file: join its parts (zip -s 0), and upload the whole",
  ],
  [
    "a zip behind a response's headers",
    () => Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), made]),
    no("a response with its headers", DOWNLOAD),
  ],
  [
    "a zip behind another",
    () => Buffer.concat([writeZip([{ name: "x" }]).subarray(0, 31), made]),
    "it begins with something else than a zip file: upload the zip file alone",
  ],
  // What a zip may be packed with
  ...Object.entries({
    9: "Deflate64, as Windows Explorer does with large files",
    12: "bzip2",
    14: "LZMA",
    93: "Zstandard",
    95: "xz",
    98: "PPMd",
    77: "method 77",
  }).map(([method, name]): [string, () => Buffer, string] => [
    `a zip with method ${method}`,
    () => zip(only("dump.sql", { method: Number(method) })),
    `its file dump.sql is compressed with ${name}: zip it again with the method Deflate`,
  ]),
  ["a zip with a password", () => zip(() => ({ flags: 0x0801 })), "it is protected by a password: create it again without one"],
  [
    "a zip with AES",
    () => zip(() => ({ flags: 0x0801, method: 99 })),
    "it is protected by a password: create it again without one",
  ],
  // Zips of something else
  ["an empty zip", () => writeZip([]), `it contains no files: ${EXPORT}`],
  [
    "a zip of folders and of what macOS adds",
    () => named("shop/", "__MACOSX/._shop", ".DS_Store"),
    `it contains no files: ${EXPORT}`,
  ],
  ["a zip in a zip", () => named("shop.zip"), "it contains another archive: unpack it, and upload shop.zip itself"],
  [
    "a tar in a zip",
    () => named("backups/shop.tar.gz"),
    "it contains another archive, backups/shop.tar.gz: unpack both, zip dump.sql, manifest.json and filestore, and upload that",
  ],
  [
    "a dump in pg_dump's directory format",
    () => named("shop/toc.dat", "shop/3456.dat.gz"),
    `it is a dump in pg_dump's directory format, without the ERP's files: ${EXPORT}`,
  ],
  [
    "the hosted platform's compressed dump",
    () => named("dump.sql.gz", "manifest.json", STORED),
    "its dump is compressed by itself (dump.sql.gz): unpack it to dump.sql, and zip that again",
  ],
  [
    "another program's dump",
    () => named("manifest.json", "shop.dump", STORED),
    `its database is in shop.dump, which is not a plain SQL dump (dump.sql): ${EXPORT}`,
  ],
  [
    "SQL with another name",
    () => named("shop_2026.sql", STORED),
    `its database is in shop_2026.sql and not in dump.sql: ${EXPORT}`,
  ],
  ["modules", () => named("sale/__init__.py", "sale/__manifest__.py"), `it contains modules of the ERP, not a backup: ${EXPORT}`],
  ["an office document", () => named("[Content_Types].xml", "word/document.xml"), `it is an office document: ${EXPORT}`],
  [
    "a server's files",
    () => named("data/PG_VERSION", "data/base/1/112"),
    `it contains the files of a PostgreSQL server, not a dump: ${EXPORT}`,
  ],
  ["files alone", () => without("dump.sql", "manifest.json"), `it has no dump.sql, but ${STORED}: ${EXPORT}`],
  ["a photo", () => named("photo.jpg"), `it has no dump.sql, but photo.jpg: ${EXPORT}`],
  ["a name that is no text", () => named("a\u001b[31m\u0007.jpg"), `it has no dump.sql, but a\uFFFD[31m\uFFFD.jpg: ${EXPORT}`],
  [
    "a backup without a manifest",
    () => without("manifest.json"),
    `it has no manifest.json, which says what version it is of: ${EXPORT}`,
  ],
  [
    "two backups",
    () => writeZip([...entries((path) => ({ name: `a/${path}` })), ...entries((path) => ({ name: `b/${path}` }))]),
    "it contains more than one backup (a/dump.sql, b/dump.sql): upload each by itself",
  ],
  [
    "a manifest elsewhere",
    () => renamed((path) => (path === "manifest.json" ? path : `shop/${path}`)),
    "its files are in different folders (shop/dump.sql, manifest.json): put dump.sql, manifest.json and filestore into one, and zip that",
  ],
  // Manifests and dumps
  [
    "a manifest that is no JSON",
    () => withManifest("{'major_version': '19.0'}"),
    "its manifest.json cannot be read as JSON: create the backup again",
  ],
  [
    "a manifest of lists in lists",
    () => withManifest("[".repeat(100_000)),
    "its manifest.json cannot be read as JSON: create the backup again",
  ],
  [
    "a manifest without a version",
    () => withManifest("{}"),
    "its manifest.json does not name the ERP's version (major_version): create the backup again",
  ],
  [
    "a manifest that is a list",
    () => withManifest("[]"),
    "its manifest.json does not name the ERP's version (major_version): create the backup again",
  ],
  ...["saas~18.2", "saas-17.4"].map((version): [string, () => Buffer, string] => [
    `version ${version}`,
    () => withManifest(manifestOf({ major_version: version })),
    `it is of version ${version}, an intermediate version that only the ERP's own hosted platform has: upgrade it there to the next full version, and download it again`,
  ]),
  [
    "a version of letters",
    () => withManifest(manifestOf({ major_version: "master" })),
    "it is of version master, which the catalog does not have",
  ],
  [
    "a dump in another format",
    () => withDump("PGDMP\u0001"),
    `its dump.sql is a dump in pg_dump's custom format, without the ERP's files, not a plain SQL dump: ${EXPORT}`,
  ],
  [
    "a dump of MySQL",
    () => withDump("-- MySQL dump 10.13\n"),
    `its dump.sql is a dump of MySQL, not a plain SQL dump: ${EXPORT}`,
  ],
  ["a dump in gzip", () => withDump(gzipSync(SQL)), `its dump.sql is a gzip file, not a plain SQL dump: ${REPACK}`],
  ["an empty dump", () => withDump(""), `its dump.sql is empty: ${EXPORT}`],
  [
    "a dump that was cut off",
    () => withDump(dataOf("dump.sql").subarray(0, -60)),
    "its dump.sql is incomplete: pg_dump did not finish it, perhaps because a disk was full. Create the backup again",
  ],
  // Other files
  ...[
    "../x",
    "/etc/x",
    "filestore/../../x",
    "filestore/a/./b",
    "filestore//x",
    "x",
    "C:\\x",
    "readme.txt",
    "Скрипт.sh",
    `filestore/${"x".repeat(300)}`,
    `filestore/${"abcdefghi/".repeat(60)}x`,
  ].map((name): [string, () => Buffer, string] => [
    `a file ${name.slice(0, 30)}`,
    () => added(name),
    strange(name.slice(0, 120)),
  ]),
  ["a link", () => zip(undefined, { name: "filestore/ab/link", data: "/etc/passwd", mode: 0o120777 }), "it contains links"],
  [
    "a link among what macOS adds",
    () => zip(undefined, { name: "__MACOSX/link", data: "/etc/passwd", mode: 0o120777, system: 19 }),
    "it contains links",
  ],
  ["a device", () => zip(undefined, { name: "filestore/ab/null", mode: 0o020666 }), "it contains devices, pipes or sockets"],
  ["a named pipe", () => zip(undefined, { name: "filestore/ab/pipe", mode: 0o010666 }), "it contains devices, pipes or sockets"],
  ["a file twice", () => zip(undefined, { name: STORED, data: dataOf(STORED) }), `it contains ${STORED} twice`],
  [
    "a file twice, once in capitals",
    () => zip(undefined, { name: "DUMP.SQL", data: dataOf("dump.sql") }),
    "it contains DUMP.SQL twice",
  ],
  [
    "a file in the place of a folder",
    () => added("filestore/ab", "filestore/ab/file"),
    "one of its files has the name of a folder: filestore/ab/file",
  ],
  [
    "a folder in the place of a file",
    () => added("filestore/zz/file", "filestore/zz"),
    "one of its files has the name of a folder: filestore/zz",
  ],
  // Lies
  [
    "a file that is not in the listing",
    () => zip(undefined, { name: "filestore/hidden", only: "file" }),
    "it has more files than its listing says",
  ],
  [
    "a listed file that is not there",
    () => zip(undefined, { name: "filestore/absent", only: "listing" }),
    "its listing does not match its files",
  ],
  [
    "another name in the listing",
    () => zip(only(STORED, { listed: { name: "filestore/other" } })),
    "its listing does not match its files",
  ],
  ["another size in the listing", () => zip(only(STORED, { listed: { size: 5000 } })), "its listing does not match its files"],
  [
    "a smaller size in the listing",
    () => zip(only("dump.sql", { listed: { size: 1 } })),
    "it unpacks to more than its listing says",
  ],
  [
    "another packed size in the listing",
    () => zip(only(STORED, { listed: { packed: 5 } })),
    "its listing does not match its files",
  ],
  ["another checksum in the listing", () => zip(only(STORED, { listed: { crc: 5 } })), "its listing does not match its files"],
  ["another method in the listing", () => zip(only(STORED, { listed: { method: 0 } })), "its listing does not match its files"],
  ["another place in the listing", () => zip(only(STORED, { listed: { place: 0 } })), "its listing does not match its files"],
  ["another checksum before a file", () => zip(only(STORED, { head: { crc: 5 } })), "it is damaged"],
  ["another size before a file", () => zip(only(STORED, { head: { size: 5 } })), "it is damaged"],
  [
    "more packed bytes before a file than there are",
    () => zip(only(STORED, { method: 0, head: { packed: 1_000_000_000 } })),
    "it unpacks to more than its listing says",
  ],
  ["another number of files at its end", () => ending({ end: { count: 2 } }), "its listing does not match its files"],
  [
    "many names for one large file",
    () =>
      writeZip(
        Array.from({ length: 24 }, (_, index): ZipEntry => ({
          name: `filestore/${index}`,
          data: Buffer.alloc(1_000_000),
          method: 0,
          listed: { size: 0, packed: 0, place: 0 },
          ...(index > 0 && { only: "listing" as const }),
        })).concat(entries()),
      ),
    "it unpacks to more than its listing says",
  ],
];
