// Archives that must not be taken, and what is said about each: by a machine and by the sandbox alike.
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type ZipEntry, writeZip } from "../harness/zip.ts";
import {
  type Case,
  archive,
  dataOf,
  STORED,
  entries,
  zip,
  only,
  without,
  renamed,
  named,
  withManifest,
  withDump,
  added,
  ending,
  manifestOf,
} from "./made-archives.ts";
import { inFolders } from "./taken-archives.ts";

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
const tarOfVersion7 = (name: string): Buffer => {
  const head = Buffer.alloc(1024);
  head.write(name);
  const numbers = ["000644 ", "000765 ", "000024 ", "00000000144 14746321000 010215"];
  head.write(`${numbers.join("\0")}\0 0`, 100, "latin1");
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
  ["random bytes", () => Buffer.from(brotliCompressSync(archive)), `it is not a zip file: ${EXPORT}`],
  ["7z", starts("7z\xbc\xaf'\x1c"), no("a 7z archive", REPACK)],
  ["RAR", starts("Rar!\x1a\x07\x01\0"), no("a RAR archive", REPACK)],
  ["tar", () => tar("dump.sql"), no("a tar archive", REPACK)],
  ["tar.gz", () => gzipSync(tar("dump.sql")), `it is a tar archive, compressed with gzip: ${REPACK}`],
  ["tar.xz", starts("\xfd7zXZ\0"), no("an xz file", REPACK)],
  ["tar.zst", starts("\x28\xb5\x2f\xfd"), no("a Zstandard file", REPACK)],
  ["bzip2", starts("BZh91AY"), no("a bzip2 file", REPACK)],
  ["a zip in gzip", () => gzipSync(archive), `it is a zip file, compressed with gzip: ${REPACK}`],
  ["SQL", () => Buffer.from(SQL), no("a plain SQL dump, without the ERP's files", EXPORT)],
  ["SQL in gzip", () => gzipSync(SQL), `it is a plain SQL dump, without the ERP's files, compressed with gzip: ${EXPORT}`],
  ...[
    "DROP TABLE IF EXISTS public.t;\n",
    "ALTER TABLE public.t ADD a text;\n",
    "COPY public.t (a) FROM stdin;\n",
    "INSERT INTO public.t VALUES (1);\n",
    "\\connect shop\n",
    "/* of the shop */\nSELECT 1;\n",
    "START TRANSACTION;\n",
  ].map((sql): [string, () => Buffer, string] => [
    `SQL that begins with ${sql.slice(0, 10)}`,
    () => Buffer.from(sql),
    no("a plain SQL dump, without the ERP's files", EXPORT),
  ]),
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
  ["tar of version 7", () => tarOfVersion7("dump.sql"), no("a tar archive", REPACK)],
  ...["hsqs", "MSWIM\0\0\0", "!<arch>\ndebian-binary   ", "\xed\xab\xee\xdb\x03\0"].map(
    (mark): [string, () => Buffer, string] => [
      `another archive: ${mark.slice(0, 4)}`,
      starts(mark),
      no("an archive of another kind", REPACK),
    ],
  ),
  ...[510, 1080].map((place): [string, () => Buffer, string] => [
    `a disk's image with its mark at ${place}`,
    () => Buffer.concat([Buffer.alloc(place), Buffer.from(place === 510 ? "55aa" : "53ef0100", "hex"), Buffer.alloc(5000)]),
    no("an image of a disk", EXPORT),
  ]),
  ...[
    "-----BEGIN AGE ENCRYPTED FILE-----\n",
    "U2FsdGVkX1+abcd",
    "LUKS\xba\xbe\0\x02",
    "\xc1\xc0\x4c\x03abc",
    "\xc1\x5e\x03abc",
    "\xc3\x0d\x04\x09\x03\x02",
    "\x8c\x0d\x04\x09\x03\x02",
  ].map((mark): [string, () => Buffer, string] => [
    `an encrypted file: ${JSON.stringify(mark)}`,
    starts(mark),
    no("an encrypted file", "decrypt it, and upload what is inside"),
  ]),
  ["an encrypted file", starts("Salted__"), no("an encrypted file", "decrypt it, and upload what is inside")],
  [
    "Base64",
    () => Buffer.from(Buffer.from(archive).toString("base64")),
    no("a zip file in Base64", "decode it (base64 -d), and upload that"),
  ],
  [
    "a form with the zip in it",
    () =>
      Buffer.concat([
        Buffer.from(
          `------------------------3f1c7e0f7d3a\r\nContent-Disposition: form-data; name="file"; filename="shop.zip"\r\nContent-Type: application/zip\r\n\r\n`,
        ),
        archive,
        Buffer.from("\r\n------------------------3f1c7e0f7d3a--\r\n"),
      ]),
    no(
      "a form as browsers and curl -F send it, with the file inside",
      "upload the file itself and not as a form (curl -T, not -F)",
    ),
  ],
  ["a uuencoded zip", starts("begin 644 shop.zip\nM4$L#"), no("a uuencoded file", "decode it (uudecode), and upload that")],
  ["a certificate", starts("-----BEGIN CERTIFICATE-----\n"), `it is not a zip file: ${EXPORT}`],
  [
    "a zip that went through a text editor",
    () => Buffer.from(Buffer.from(archive).toString("utf8")),
    no("a zip file that was changed as if it were text", DOWNLOAD),
  ],
  ["a program", starts("MZ\x90\0"), no("a program", REPACK)],
  // Zips that are not whole, or not only that
  [
    "a zip without its end",
    () => Buffer.from(archive.subarray(0, archive.length - 100)),
    "it is incomplete: a zip file ends with a listing of its files, and this one does not. Upload the whole file; join it first if it is one of several volumes",
  ],
  [
    "a zip's last volume",
    () => Buffer.concat([Buffer.from("PK\u0003\u0004"), archive.subarray(800)]),
    "its beginning is missing: upload the whole file; join it first if it is one of several volumes",
  ],
  [
    "a split zip's first part",
    () => Buffer.concat([Buffer.from("PK\u0007\b"), archive]),
    no("one part of a split zip file", "join its parts (zip -s 0), and upload the whole"),
  ],
  [
    "a split zip's last part",
    () => ending({ end: { disk: 2 } }),
    "it is one part of a split zip file: join its parts (zip -s 0), and upload the whole",
  ],
  [
    "a zip behind a response's headers",
    () => Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), archive]),
    no("a response with its headers", DOWNLOAD),
  ],
  [
    "a zip behind another",
    () => Buffer.concat([writeZip([{ name: "x" }]).subarray(0, 31), archive]),
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
  // Parts of a backup under another name, or packed by themselves: whoever removes them loses the ERP's files
  ...[
    "filestore.tar.gz",
    "filestore.tar",
    "filestore.zip",
    "shop_filestore.tgz",
    "backup/files.7z",
    "filestore.tar.gz.aa",
  ].flatMap((name): [string, () => Buffer, string][] =>
    [[], ["manifest.json"]].map((missing) => [
      `files in ${name} without ${missing.join() || "filestore"}`,
      () =>
        writeZip([
          ...entries().filter((each) => !String(each.name).startsWith("filestore") && !missing.includes(String(each.name))),
          { name: "readme.txt" },
          { name },
        ]),
      `its files are packed by themselves (${name}): unpack them to filestore/, and zip that again with dump.sql and manifest.json`,
    ]),
  ),
  ["an archive beside the files", () => added("addons.tar.gz"), strange("addons.tar.gz")],
  ...["shop", "data/filestores/shop"].map((folder): [string, () => Buffer, string] => [
    `the files in ${folder}/`,
    () => renamed((path) => path.replace(/^filestore/, folder)),
    `its files are not in filestore/, such as ${STORED.replace("filestore", folder)}: move their folders there, and zip that again with dump.sql and manifest.json`,
  ]),
  ...["manifest (1).json", "Manifest.json.txt"].map((name): [string, () => Buffer, string] => [
    `a manifest called ${name}`,
    () => renamed((path) => (path === "manifest.json" ? name : path)),
    `its manifest.json is called ${name}: rename it, and zip it again with dump.sql and filestore`,
  ]),
  ...["dump.sql.sql", "dump (1).sql", "dump.sql.txt"].map((name): [string, () => Buffer, string] => [
    `a dump called ${name}`,
    () => renamed((path) => (path === "dump.sql" ? name : path)),
    `its dump.sql is called ${name}: rename it, and zip it again with manifest.json and filestore`,
  ]),
  [
    "an encrypted dump",
    () => renamed((path) => (path === "dump.sql" ? "dump.sql.enc" : path)),
    "its dump is encrypted (dump.sql.enc): decrypt it to dump.sql, and zip that again",
  ],
  [
    "paths with a slash in front",
    () => renamed((path) => `/${path}`),
    "its paths begin with a slash, such as /dump.sql: zip its files from within their folder",
  ],
  ...["#recycle/shop", ".snapshot/hourly.0", "shop/.git"].map((folder): [string, () => Buffer, string] => [
    `all files in ${folder}/`,
    () => renamed((path) => `${folder}/${path}`),
    `its dump.sql is in the folder ${folder.split("/").find((part) => /^[#.]/.test(part))}, which is skipped because systems and programs add such folders: rename it, and zip it again`,
  ]),
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
  [
    "a version that is too large a number",
    () => withManifest(manifestOf({ major_version: 1e9 })),
    "its manifest.json does not name the ERP's version (major_version): create the backup again",
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
  [
    "the files of several databases, of which the manifest names none",
    () => inFolders("prod"),
    "its filestore has the folders of several databases (prod, test), and its manifest.json names none of them (db_name): remove all but that of the ERP's database, and upload it again",
  ],
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
