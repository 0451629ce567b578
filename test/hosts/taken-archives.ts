// Archives as people send them that must be taken: by a machine and by the sandbox alike.
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { type ZipEntry, writeZip } from "../harness/zip.ts";
import {
  type Case,
  archive,
  BACKUP,
  dataOf,
  STORED,
  entries,
  zip,
  only,
  renamed,
  withManifest,
  added,
  ending,
  manifestOf,
  packed,
} from "./made-archives.ts";

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

/** Its files are in a folder in filestore/, beside that of another database. */
export const inFolders = (folder: string): Buffer =>
  zip((path) => ({ name: path.replace(/^filestore\//, `filestore/${folder}/`) }), {
    name: `filestore/test/ab/${"ab".repeat(20)}`,
    data: "x",
  });

/** What unpacking and packing again adds and changes. */
export const TAKEN: Case[] = [
  ["as the service makes it", () => Buffer.from(archive)],
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
  ["in a folder whose name has lost a letter", () => renamed((path) => `B\uFFFDro/${path}`)],
  [
    "with files of Resilio, Syncthing, Unison, Kate, Android, Samba and of whoever develops",
    () =>
      added(
        ".sync/ID",
        "dump.sql.!sync",
        "~syncthing~dump.sql.tmp",
        ".unison.dump.sql.1a2b.unison.tmp",
        ".dump.sql.kate-swp",
        ".trashed-1699999999-dump.sql",
        ".streams/x",
        ".idea/workspace.xml",
        ".vscode/settings.json",
        ".git/HEAD",
        ".svn/entries",
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
  ["in the folder of its database, beside another database's", () => inFolders("shop")],
  ...["#4711 Umzug Shop", "backup~", "RECYCLER", "cvs", ".#shop"].map((folder): Case => [
    `in the folder ${folder}`,
    () => renamed((path) => `${folder}/${path}`),
  ]),
  [
    "with files of CVS, of a recycle bin and of an editor",
    () => added("CVS/Root", "RECYCLER/S-1-5/Dc1.sql", "#old/notes.txt", "x/y~"),
  ],
  [
    "with a version that is a number",
    () => withManifest(manifestOf({}).replace('"major_version":"19.0"', '"major_version":19.0')),
  ],
  ["with files that the ERP does not know", () => added("filestore/checklist/ab/abc", "filestore/readme")],
];
