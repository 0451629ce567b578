// What archives from outside contain: the ERP's own files, what systems and programs add to them, and what people send instead. The program
// on a machine (script/files/layout.py) and the sandbox (sandbox-layout.ts) read these tables, so that they judge alike.
//
// Patterns ignore case, have only ASCII characters, and mean the same in Python and JavaScript. `{name}` is replaced.

/** Names of files and folders that others add when an archive is unpacked, kept on a disk, and packed again. */
const ADDED: Record<string, string[]> = {
  macos: [
    String.raw`__MACOSX|\._.*|\.DS_Store|\.localized|\.LSOverride|\.VolumeIcon\.icns|Icon\r|\.apdisk|\.com\.apple\..*`,
    String.raw`\.AppleD(?:ouble|B|esktop)|\.Spotlight-V100|\.Trashes|\.fseventsd|\.TemporaryItems|\.DocumentRevisions-V100`,
    String.raw`\.metadata_never_index.*|Network Trash Folder|Temporary Items`,
  ],
  windows: [
    String.raw`(?:eh)?thumbs(?:_vista)?\.db(?::encryptable)?|desktop\.ini|\$RECYCLE\.BIN|RECYCLER|System Volume Information`,
    String.raw`.*:Zone\.Identifier(?::\$DATA)?`,
  ],
  linux: [
    String.raw`\.directory|\.hidden|\.thumbnails|\.Trash(?:-\d+)?|\.xdg-volume-info|\.goutputstream-.*|lost\+found`,
    String.raw`\.nfs[0-9a-f]+|\.fuse_hidden[0-9a-f]+|\.~lock\..*#|.*~|\..*\.sw[a-p]`,
  ],
  storage: [
    String.raw`@eaDir|.*@Syno(?:EAStream|Resource)|\.SynologyWorkingDirectory|#recycle|#snapshot|@Recycle|@Recently-Snapshot`,
    String.raw`@tmp|@sharebin|\.@__thumb|\.@upload_cache|\.recycle|\.snapshot|~snapshot`,
  ],
  synchronized: [
    String.raw`\.dropbox(?:\.(?:attr|cache|device))?|\.st(?:folder|ignore|versions)|\.syncthing\..*\.tmp|\.tmp\.drive(?:down|up)load`,
    String.raw`\.(?:sync|owncloud)_.*\.db(?:-shm|-wal)?|\.(?:owncloud|nextcloud)sync\.log.*`,
  ],
};

const EXPORT = "create the backup in the ERP's database manager, in the format zip, which includes the filestore";
const REPACK = "unpack it, zip its dump.sql, manifest.json and filestore, and upload that";
const DOWNLOAD = "download the backup again, and look at the file before you upload it";
const DECRYPT = "decrypt it, and upload what is inside";

interface Kind {
  /** Of the file's first 4,096 bytes, one character a byte. */
  pattern: string;
  is: string;
  advice: string;
  /** A dump.sql may be that. */
  dump?: true;
  /** It begins as a zip does. */
  spoiled?: true;
}

/** What people send instead of a zip, or put into it as dump.sql. The first row that matches decides. */
const KINDS: Kind[] = [
  {
    pattern: String.raw`^PK\x03\x04[\s\S]{0,60}\xef\xbf\xbd`,
    is: "a zip file that was changed as if it were text",
    advice: DOWNLOAD,
    spoiled: true,
  },
  {
    pattern: String.raw`^(?:PK\x07\x08|PK00)PK\x03\x04|^PK\x07\x08`,
    is: "one part of a split zip file",
    advice: "join its parts (zip -s 0), and upload the whole",
  },
  { pattern: String.raw`^PK\x03\x04`, is: "a zip file", advice: REPACK },
  { pattern: String.raw`^PGDMP`, is: "a dump in pg_dump's custom format, without the ERP's files", advice: EXPORT },
  {
    pattern: String.raw`^toc\.dat\x00[\s\S]{249}ustar`,
    is: "a dump in pg_dump's tar format, without the ERP's files",
    advice: EXPORT,
  },
  { pattern: String.raw`^[\s\S]{257}ustar`, is: "a tar archive", advice: REPACK },
  { pattern: String.raw`^7z\xbc\xaf\x27\x1c`, is: "a 7z archive", advice: REPACK },
  { pattern: String.raw`^Rar!\x1a\x07`, is: "a RAR archive", advice: REPACK },
  { pattern: String.raw`^\x1f\x8b`, is: "a gzip file", advice: REPACK },
  { pattern: String.raw`^BZh[1-9]`, is: "a bzip2 file", advice: REPACK },
  { pattern: String.raw`^\xfd7zXZ\x00`, is: "an xz file", advice: REPACK },
  { pattern: String.raw`^\x28\xb5\x2f\xfd`, is: "a Zstandard file", advice: REPACK },
  { pattern: String.raw`^\x04\x22\x4d\x18`, is: "an LZ4 file", advice: REPACK },
  { pattern: String.raw`^LZIP|^\x5d\x00\x00[\x00-\xff]{2}\xff\xff\xff\xff`, is: "an LZMA file", advice: REPACK },
  { pattern: String.raw`^\x1f[\x9d\xa0]`, is: "a file of compress", advice: REPACK },
  { pattern: String.raw`^MSCF|^xar!|^.{2}-lh\d-|^0707\d{2}|^\x60\xea`, is: "an archive of another kind", advice: REPACK },
  { pattern: String.raw`^(?:QFI\xfb|KDMV|conectix|vhdxfile|<<< )`, is: "an image of a disk", advice: EXPORT },
  {
    pattern: String.raw`^Salted__|^-----BEGIN PGP|^age-encryption\.org|^\x8c\x0d\x04|^\x85[\x01-\x04][\s\S]\x03|^\x84[\s\S]\x03|^AES\x02`,
    is: "an encrypted file",
    advice: DECRYPT,
  },
  { pattern: String.raw`^MZ|^\x7fELF`, is: "a program", advice: REPACK },
  { pattern: String.raw`^%PDF|^\x89PNG|^\xff\xd8\xff|^GIF8|^\xd0\xcf\x11\xe0`, is: "a document or an image", advice: DOWNLOAD },
  { pattern: String.raw`^SQLite format 3`, is: "a database of SQLite", advice: EXPORT },
  { pattern: String.raw`^TAPE\x00`, is: "a backup of Microsoft SQL Server", advice: EXPORT },
  {
    pattern: String.raw`^(?:\xff\xfe|\xfe\xff)`,
    is: "text in UTF-16, as PowerShell writes with >",
    advice: "create it again without PowerShell's >",
  },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?\s*(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|script)`,
    is: "a web page, such as a sign-in page or an error",
    advice: DOWNLOAD,
  },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?\s*(?:<\?xml|<Error>)`,
    is: "an XML file, such as a storage's error",
    advice: DOWNLOAD,
  },
  { pattern: String.raw`^(?:\xef\xbb\xbf)?\s*\{\s*(?:"|\})`, is: "a JSON file, such as an API's error", advice: DOWNLOAD },
  { pattern: String.raw`^HTTP/\d`, is: "a response with its headers", advice: DOWNLOAD },
  { pattern: String.raw`^UEsDB`, is: "a zip file in Base64", advice: "decode it (base64 -d), and upload that" },
  { pattern: String.raw`^version https://git-lfs`, is: "a pointer of Git LFS", advice: DOWNLOAD },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?[\s\S]{0,200}?-- (?:MySQL|MariaDB|phpMyAdmin)|^\s*/\*M?!\d+`,
    is: "a dump of MySQL",
    advice: EXPORT,
  },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?\s*--\s+-- PostgreSQL database cluster dump`,
    is: "a dump of a whole PostgreSQL server (pg_dumpall)",
    advice: EXPORT,
  },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?\s*(?:--|SET |CREATE |BEGIN|\\restrict )`,
    is: "a plain SQL dump, without the ERP's files",
    advice: EXPORT,
    dump: true,
  },
  { pattern: String.raw`^\x00{512}`, is: "filled with zeros", advice: DOWNLOAD },
];

/** What is in a zip file that has no dump.sql, by the path of one of its first files. The first row that matches decides. */
const INSIDE = [
  {
    pattern: String.raw`(?:^|/)toc\.dat$`,
    says: `it is a dump in pg_dump's directory format, without the ERP's files: ${EXPORT}`,
  },
  {
    pattern: String.raw`(?:^|/)dump\.sql\.\w+$`,
    says: "its dump is compressed by itself ({name}): unpack it to dump.sql, and zip that again",
  },
  {
    pattern: String.raw`\.(?:dump|backup|pgdump|bak)$`,
    says: `its database is in {name}, which is not a plain SQL dump (dump.sql): ${EXPORT}`,
  },
  { pattern: String.raw`\.sql(?:\.\w+)?$`, says: `its database is in {name} and not in dump.sql: ${EXPORT}` },
  { pattern: String.raw`\.zip$`, says: "it contains another archive: unpack it, and upload {name} itself" },
  {
    pattern: String.raw`\.(?:7z|rar|tar|t[gbx]z\d?|gz|bz2|xz|zst|lz4)$`,
    says: "it contains another archive, {name}: unpack both, zip dump.sql, manifest.json and filestore, and upload that",
  },
  { pattern: String.raw`(?:^|/)\[content_types\]\.xml$|^mimetype$`, says: `it is an office document: ${EXPORT}` },
  {
    pattern: String.raw`(?:^|/)__(?:manifest|openerp|terp)__\.py$`,
    says: `it contains modules of the ERP, not a backup: ${EXPORT}`,
  },
  {
    pattern: String.raw`(?:^|/)(?:base|pg_wal|pg_xlog)/`,
    says: `it contains the files of a PostgreSQL server, not a dump: ${EXPORT}`,
  },
];

const METHODS: Record<string, string> = {
  "1": "Shrink",
  "6": "Implode",
  "9": "Deflate64, as Windows Explorer does with large files",
  "12": "bzip2",
  "14": "LZMA",
  "20": "Zstandard",
  "93": "Zstandard",
  "95": "xz",
  "98": "PPMd",
};

const SENTENCES = {
  kind: "it is {is}, not the ERP's zip file: {advice}",
  inGzip: "it is {is}, compressed with gzip: {advice}",
  dump: "its dump.sql is {is}, not a plain SQL dump: {advice}",
  emptyDump: `its dump.sql is empty: ${EXPORT}`,
  incompleteDump:
    "its dump.sql is incomplete: pg_dump did not finish it, perhaps because a disk was full. Create the backup again",
  noZip: `it is not a zip file: ${EXPORT}`,
  empty: `it contains no files: ${EXPORT}`,
  incomplete:
    "it is incomplete: a zip file ends with a listing of its files, and this one does not. Upload the whole file; join it first if it is one of several volumes",
  beginning: "its beginning is missing: upload the whole file; join it first if it is one of several volumes",
  before: "it begins with something else than a zip file: upload the zip file alone",
  split: "it is one part of a split zip file: join its parts (zip -s 0), and upload the whole",
  hugeWithoutZip64:
    "its listing is wrong, as macOS's Compress makes it of files over 4 GB: zip the files with another program, such as zip or 7-Zip",
  damaged: "it is damaged",
  listing: "its listing does not match its files",
  listingTooLong: "its listing is too long",
  encrypted: "it is protected by a password: create it again without one",
  method: "its file {name} is compressed with {method}: zip it again with the method Deflate",
  unknownMethod: "method {number}",
  links: "it contains links",
  devices: "it contains devices, pipes or sockets",
  strange: "it contains {name}, which is not part of an ERP's backup: remove it, and upload the archive again",
  several: "it contains more than one backup ({name}, {other}): upload each by itself",
  apart: "its files are in different folders ({name}, {other}): put dump.sql, manifest.json and filestore into one, and zip that",
  twice: "it contains {name} twice",
  folder: "one of its files has the name of a folder: {name}",
  noDump: `it has no dump.sql, but {name}: ${EXPORT}`,
  noManifest: `it has no manifest.json, which says what version it is of: ${EXPORT}`,
  manifestTooLong: "its manifest.json is too long",
  manifestNotJson: "its manifest.json cannot be read as JSON: create the backup again",
  manifestWithoutVersion: "its manifest.json does not name the ERP's version (major_version): create the backup again",
  intermediate:
    "it is of version {version}, an intermediate version that only the ERP's own hosted platform has: upgrade it there to the next full version, and download it again",
  version: "it is of version {version}, which the catalog does not have",
  moreFiles: "it has more files than its listing says",
  moreBytes: "it unpacks to more than its listing says",
  tooMuch: "it unpacks to too much",
} as const;
export type ArchiveSentence = keyof typeof SENTENCES;

export const ARCHIVE_RULES = {
  added: Object.values(ADDED).flat().join("|"),
  kinds: KINDS,
  inside: INSIDE,
  methods: METHODS,
  sentences: SENTENCES,
  /** Paths are at most as deep and as long as a backup can contain. */
  depth_max: 52,
  name_bytes_max: 1040,
} as const;
