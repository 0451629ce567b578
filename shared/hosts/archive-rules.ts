// What archives from outside contain: the ERP's own files, what systems and programs add to them, and what people send instead.
// The program on a machine (script/files/layout.py) and the sandbox (sandbox/layout.ts) read these tables, so that they judge
// alike.
//
// Patterns ignore case, have only ASCII characters, and mean the same in Python and JavaScript.
import { compose, inEnglish, type Reason, type ReasonCode } from "../domain/reasons.ts";

/** A code of the catalog, with that of its advice if it is always the same. */
type Sentence = readonly [code: ReasonCode, advice?: ReasonCode];

/** Names of files and folders that others add when an archive is unpacked, kept on a disk, and packed again. */
const ADDED: Record<string, string[]> = {
  macos: [
    String.raw`__MACOSX|\._.*|\.DS_Store|\.localized|\.LSOverride|\.VolumeIcon\.icns|Icon\r|\.apdisk|\.com\.apple\..*`,
    String.raw`\.AppleD(?:ouble|B|esktop)|\.Spotlight-V100|\.Trashes|\.fseventsd|\.TemporaryItems|\.DocumentRevisions-V100`,
    String.raw`\.metadata_never_index.*|Network Trash Folder|Temporary Items`,
  ],
  windows: [
    String.raw`(?:eh)?thumbs(?:_vista)?\.db(?::encryptable)?|desktop\.ini|\$RECYCLE\.BIN|System Volume Information`,
    String.raw`.*:Zone\.Identifier(?::\$DATA)?|~\$.*|\.?picasa\.ini`,
  ],
  linux: [
    String.raw`\.directory|\.hidden|\.thumbnails|\.Trash(?:-\d+)?|\.xdg-volume-info|\.goutputstream-.*|lost\+found`,
    String.raw`\.nfs[0-9a-f]+|\.fuse_hidden[0-9a-f]+|\.~lock\..*#|\..*\.sw[a-p]`,
    String.raw`\.nomedia|\.(?:git)?keep|\..*\.kate-swp|\.trashed-.*|\.streams`,
  ],
  storage: [
    String.raw`@eaDir|.*@Syno(?:EAStream|Resource)|\.SynologyWorkingDirectory|#recycle|#snapshot|@Recycle|@Recently-Snapshot`,
    String.raw`@tmp|@sharebin|\.@__thumb|\.@upload_cache|\.recycle|\.snapshot|~snapshot|\.smbdelete.*|\.ftpquota`,
  ],
  synchronized: [
    String.raw`\.dropbox(?:\.(?:attr|cache|device))?|\.st(?:folder|ignore|versions)|\.syncthing\..*\.tmp|\.tmp\.drive(?:down|up)load|\..*\.icloud`,
    String.raw`\.849C9593-D756-4E56-8D6E-42412F2A707B|\.megaignore|\.~tmp~`, // of OneDrive, MEGA and rsync
    String.raw`\.(?:sync|owncloud)_.*\.db(?:-shm|-wal)?|\.(?:owncloud|nextcloud)sync\.log.*`,
    String.raw`\.sync|.*\.!sync|~syncthing~.*\.tmp|\.unison.*|\.tresorit|\.insync-trash`, // .sync is Resilio's
  ],
  projects: [String.raw`\.git(?:ignore|attributes|modules)?|\.svn|\.hg|\.bzr|\.idea|\.vscode`],
};

/** The same, unless the ERP's files are in a folder of that name: people and databases are called so, too. */
const ADDED_OR_FOLDER = String.raw`\.?#.*|.*~|RECYCLER|CVS`;

interface Kind {
  /** Matched against the file's first 4,096 bytes, one character per byte. */
  pattern: string;
  is: ReasonCode;
  advice: ReasonCode;
  /** A dump.sql may be that. */
  dump?: true;
  /** It begins as a zip does. */
  spoiled?: true;
}

/** What people send instead of a zip, or put into it as dump.sql. The first row that matches decides. */
const KINDS: Kind[] = [
  {
    // The pattern looks only into the numbers of the first file's head. Its name may have that character.
    pattern: String.raw`^PK\x03\x04[\s\S]{0,23}\xef\xbf\xbd`,
    is: "is_changed_zip",
    advice: "advice_download",
    spoiled: true,
  },
  {
    pattern: String.raw`^(?:PK\x07\x08|PK00)PK\x03\x04|^PK\x07\x08`,
    is: "is_part_of_zip",
    advice: "advice_join",
  },
  { pattern: String.raw`^PK\x03\x04`, is: "is_zip", advice: "advice_repack" },
  { pattern: String.raw`^PGDMP`, is: "is_custom_dump", advice: "advice_export" },
  {
    pattern: String.raw`^toc\.dat\x00[\s\S]{249}ustar`,
    is: "is_tar_dump",
    advice: "advice_export",
  },
  { pattern: String.raw`^[\s\S]{257}ustar`, is: "is_tar", advice: "advice_repack" },
  {
    // Archives from before POSIX have numbers in octal, behind a name that is filled with zeros.
    pattern: String.raw`^[^\x00][\s\S]{98}\x00(?:[ 0-7]{7}[ \x00]){3}(?:[ 0-7]{11}[ \x00]){2}[ 0-7]{6}[ 0-7\x00][ \x00]`,
    is: "is_tar",
    advice: "advice_repack",
  },
  { pattern: String.raw`^7z\xbc\xaf\x27\x1c`, is: "is_7z", advice: "advice_repack" },
  { pattern: String.raw`^Rar!\x1a\x07`, is: "is_rar", advice: "advice_repack" },
  { pattern: String.raw`^\x1f\x8b`, is: "is_gzip", advice: "advice_repack" },
  { pattern: String.raw`^BZh[1-9]`, is: "is_bzip2", advice: "advice_repack" },
  { pattern: String.raw`^\xfd7zXZ\x00`, is: "is_xz", advice: "advice_repack" },
  { pattern: String.raw`^\x28\xb5\x2f\xfd`, is: "is_zstandard", advice: "advice_repack" },
  { pattern: String.raw`^\x04\x22\x4d\x18`, is: "is_lz4", advice: "advice_repack" },
  { pattern: String.raw`^LZIP|^\x5d\x00\x00[\x00-\xff]{2}\xff\xff\xff\xff`, is: "is_lzma", advice: "advice_repack" },
  { pattern: String.raw`^\x1f[\x9d\xa0]`, is: "is_compress", advice: "advice_repack" },
  {
    pattern: String.raw`^MSCF|^xar!|^.{2}-lh\d-|^0707\d{2}|^\x60\xea|^hsqs|^sqsh|^MSWIM\x00|^!<arch>\n|^\xed\xab\xee\xdb`,
    is: "is_other_archive",
    advice: "advice_repack",
  },
  { pattern: String.raw`^(?:QFI\xfb|KDMV|conectix|vhdxfile|<<< )`, is: "is_disk_image", advice: "advice_export" },
  {
    pattern: [
      String.raw`^Salted__|^U2FsdGVk|^-----BEGIN (?:PGP|AGE ENCRYPTED FILE)|^age-encryption\.org|^AES\x02|^LUKS\xba\xbe`,
      // Packets of OpenPGP with a session key, in the old format and in the new one.
      String.raw`^\x8c[\x04-\x60][\x04-\x06]|^\x85[\x01-\x04][\s\S][\x03\x06]|^\x84[\s\S][\x03\x06]`,
      String.raw`^\xc1(?:[\x20-\xbf]|[\xc0-\xdf][\s\S])[\x03\x06]|^\xc3[\x04-\x60][\x04-\x06]`,
    ].join("|"),
    is: "is_encrypted",
    advice: "advice_decrypt",
  },
  { pattern: String.raw`^MZ|^\x7fELF`, is: "is_program", advice: "advice_repack" },
  { pattern: String.raw`^%PDF|^\x89PNG|^\xff\xd8\xff|^GIF8|^\xd0\xcf\x11\xe0`, is: "is_document", advice: "advice_download" },
  { pattern: String.raw`^SQLite format 3`, is: "is_sqlite", advice: "advice_export" },
  { pattern: String.raw`^TAPE\x00`, is: "is_mssql", advice: "advice_export" },
  {
    pattern: String.raw`^(?:\xff\xfe|\xfe\xff)`,
    is: "is_utf16",
    advice: "advice_no_powershell",
  },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?\s*(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|script)`,
    is: "is_web_page",
    advice: "advice_download",
  },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?\s*(?:<\?xml|<Error>)`,
    is: "is_xml",
    advice: "advice_download",
  },
  { pattern: String.raw`^(?:\xef\xbb\xbf)?\s*\{\s*(?:"|\})`, is: "is_json", advice: "advice_download" },
  { pattern: String.raw`^HTTP/\d`, is: "is_response", advice: "advice_download" },
  {
    pattern: String.raw`^--\S{1,70}\r?\nContent-[A-Za-z-]+:`,
    is: "is_form",
    advice: "advice_no_form",
  },
  { pattern: String.raw`^begin(?:-base64)? [0-7]{3,4} `, is: "is_uuencoded", advice: "advice_uudecode" },
  { pattern: String.raw`^UEsDB`, is: "is_base64", advice: "advice_decode" },
  { pattern: String.raw`^version https://git-lfs`, is: "is_lfs_pointer", advice: "advice_download" },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?[\s\S]{0,200}?-- (?:MySQL|MariaDB|phpMyAdmin)|^\s*/\*M?!\d+`,
    is: "is_mysql",
    advice: "advice_export",
  },
  {
    pattern: String.raw`^(?:\xef\xbb\xbf)?\s*--\s+-- PostgreSQL database cluster dump`,
    is: "is_pg_dumpall",
    advice: "advice_export",
  },
  {
    pattern: [
      String.raw`^(?:\xef\xbb\xbf)?\s*(?:--(?:\s|$)|/\*|(?:BEGIN|START TRANSACTION)(?:[;\s]|$)|\\(?:restrict|c|connect|set|encoding)\s`,
      String.raw`(?:SET|CREATE|DROP|ALTER|TRUNCATE|COPY|INSERT INTO|DELETE FROM|UPDATE|SELECT|GRANT|REVOKE|COMMENT ON|DO)\s)`,
    ].join("|"),
    is: "is_plain_dump",
    advice: "advice_export",
    dump: true,
  },
  {
    // A disk image has a boot record, or begins as NTFS, XFS or ext4 do.
    pattern: String.raw`^[\s\S]{510}\x55\xaa|^.{3}NTFS|^XFSB|^[\s\S]{1080}\x53\xef[\x00-\x04]\x00`,
    is: "is_disk_image",
    advice: "advice_export",
  },
  { pattern: String.raw`^\x00{512}`, is: "is_zeros", advice: "advice_download" },
];

/** What is in a zip file that has no dump.sql, by the path of one of its first files. The first row that matches decides. */
const INSIDE: readonly { pattern: string; says: Sentence }[] = [
  {
    pattern: String.raw`(?:^|/)toc\.dat$`,
    says: ["archive_directory_dump", "advice_export"],
  },
  { pattern: String.raw`^[/\\]`, says: ["archive_absolute"] },
  { pattern: String.raw`(?:^|/)dump\.sql\.(?:enc|gpg|pgp|asc|age|aes|crypt|openssl)$`, says: ["archive_dump_encrypted"] },
  { pattern: String.raw`(?:^|/)dump[^/]*\.(?:sql|txt)$`, says: ["archive_dump_misnamed"] },
  {
    pattern: String.raw`(?:^|/)dump\.sql\.\w+$`,
    says: ["archive_dump_compressed"],
  },
  {
    pattern: String.raw`\.(?:dump|backup|pgdump|bak)$`,
    says: ["archive_dump_elsewhere_other", "advice_export"],
  },
  { pattern: String.raw`\.sql(?:\.\w+)?$`, says: ["archive_dump_elsewhere", "advice_export"] },
  { pattern: String.raw`\.zip$`, says: ["archive_in_archive"] },
  {
    pattern: String.raw`\.(?:7z|rar|tar|t[gbx]z\d?|gz|bz2|xz|zst|lz4)$`,
    says: ["archive_with_archive"],
  },
  { pattern: String.raw`(?:^|/)\[content_types\]\.xml$|^mimetype$`, says: ["archive_office", "advice_export"] },
  {
    pattern: String.raw`(?:^|/)__(?:manifest|openerp|terp)__\.py$`,
    says: ["archive_modules", "advice_export"],
  },
  {
    pattern: String.raw`(?:^|/)(?:base|pg_wal|pg_xlog)/`,
    says: ["archive_data_directory", "advice_export"],
  },
];

/**
 * Names beside a dump.sql that are not the ERP's, but are all that there is of what the archive lacks: whoever removes them, as
 * the error about such a name says, has lost it.
 */
const ASTRAY: readonly { lacks: "filestore" | "manifest"; pattern: string; says: Sentence }[] = [
  {
    lacks: "filestore",
    pattern: String.raw`^(?!(?:.*/)?dump\.sql\.).*\.(?:zip|7z|rar|tar|t[gbx]z\d?|tzst|gz|bz2|xz|zst|lz4|lzma)(?:\.(?:\d+|a[a-z]))?$`,
    says: ["archive_filestore_packed"],
  },
  { lacks: "filestore", pattern: String.raw`(?:^|[/\\])[0-9a-f]{2}[/\\][0-9a-f]{40}$`, says: ["archive_filestore_elsewhere"] },
  { lacks: "manifest", pattern: String.raw`(?:^|/)manifest[^/]*\.(?:json|txt)$`, says: ["archive_manifest_misnamed"] },
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
  kind: ["archive_is_other"],
  inGzip: ["archive_in_gzip"],
  dump: ["archive_dump_is_other"],
  emptyDump: ["archive_dump_empty", "advice_export"],
  incompleteDump: ["archive_dump_incomplete"],
  noZip: ["archive_no_zip", "advice_export"],
  empty: ["archive_empty", "advice_export"],
  skipped: ["archive_skipped"],
  incomplete: ["archive_incomplete"],
  beginning: ["archive_beginning_missing"],
  before: ["archive_something_before"],
  split: ["archive_split"],
  hugeWithoutZip64: ["archive_huge"],
  damaged: ["archive_damaged"],
  listing: ["archive_listing_wrong"],
  listingTooLong: ["archive_listing_long"],
  encrypted: ["archive_encrypted"],
  method: ["archive_method"],
  links: ["archive_links"],
  devices: ["archive_devices"],
  strange: ["archive_strange"],
  several: ["archive_several"],
  apart: ["archive_apart"],
  twice: ["archive_twice"],
  folder: ["archive_folder"],
  filestores: ["archive_filestores"],
  noDump: ["archive_no_dump", "advice_export"],
  noManifest: ["archive_no_manifest", "advice_export"],
  manifestTooLong: ["archive_manifest_long"],
  manifestNotJson: ["archive_manifest_no_json"],
  manifestWithoutVersion: ["archive_manifest_no_version"],
  intermediate: ["archive_intermediate"],
  version: ["archive_version_unknown"],
  moreFiles: ["archive_more_files"],
  moreBytes: ["archive_more_bytes"],
  tooMuch: ["archive_too_much"],
  tooManyFiles: ["archive_too_many_files"],
} as const satisfies Readonly<Record<string, Sentence>>;
export type ArchiveSentence = keyof typeof SENTENCES;

export const ARCHIVE_RULES = {
  added: Object.values(ADDED).flat().join("|"),
  added_or_folder: ADDED_OR_FOLDER,
  kinds: KINDS,
  inside: INSIDE,
  astray: ASTRAY,
  methods: METHODS,
  sentences: SENTENCES,
  /** Paths are at most as deep and as long as a backup can contain. */
  depth_max: 52,
  name_bytes_max: 1040,
} as const;

export const buildReason = ([code, advice]: Sentence, values: Readonly<Record<string, string | Reason>> = {}): Reason =>
  compose(code, { ...values, ...(advice !== undefined && { advice: compose(advice, {}) }) });

export const unknownMethod = (number: string): string => `method ${number}`;

/** Returns the rules with English sentences for codes, as the program on a machine reads them. */
export function archiveRulesInEnglish() {
  const english = (sentence: Sentence): string => inEnglish(buildReason(sentence));
  return {
    ...ARCHIVE_RULES,
    kinds: KINDS.map(({ is, advice, ...kind }) => ({ ...kind, is: english([is]), advice: english([advice]) })),
    inside: INSIDE.map(({ says, ...row }) => ({ ...row, says: english(says) })),
    astray: ASTRAY.map(({ says, ...row }) => ({ ...row, says: english(says) })),
    sentences: {
      ...Object.fromEntries(Object.entries(SENTENCES).map(([name, sentence]) => [name, english(sentence)])),
      unknownMethod: unknownMethod("{number}"),
    },
  };
}
