// One table of archives: a machine's program and the sandbox say the same of each.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { missingFiles, unpackArchive } from "../../shared/hosts/sandbox/archive.ts";
import { BACKUP, manifestOf, renamed, STORED, zip } from "./made-archives.ts";
import { REJECTED } from "./rejected-archives.ts";
import { inFolders, OF_PROGRAMS, TAKEN } from "./taken-archives.ts";
import { drivenProgram } from "./files-program.ts";

const isHere = (program: string): boolean => spawnSync("which", [program]).status === 0;

/** The program as a machine runs it for an import, with other places for the archive and the files. */
const DRIVER = `
import io
links.STORE = os.fsencode(sys.argv[1])
os.makedirs(links.STORE)
def listed_in(whole):
    """In growing parts, as the script fetches them."""
    start = len(whole) - 100
    while True:
        start = start if start > HEAD_BYTES else 0
        ends = (whole[:HEAD_BYTES] if start else b"") + whole[start:]
        commands.incoming_archive = lambda: io.BytesIO(ends)
        listed = list_archive(str(len(whole)), str(start), "1500000")
        if "from" not in listed:
            return listed
        assert listed["from"] < start, listed
        start = listed["from"]
def verdict(path):
    with open(path, "rb") as file:
        whole = file.read()
    try:
        listed = listed_in(whole)
        commands.incoming_archive = lambda: io.BytesIO(whole)
        unpack("drill", allowed=listed["dump_bytes"] + listed["file_bytes"], entries_max=listed["entries"])
    except Unusable as error:
        return str(error)
print(json.dumps([verdict(path) for path in json.load(sys.stdin)]))
`;
const PROGRAM = drivenProgram(DRIVER);

function machineSays(archives: readonly Buffer[]): (string | null)[] {
  const folder = mkdtempSync(join(tmpdir(), "archives-"));
  try {
    const paths = archives.map((bytes, index) => {
      const path = join(folder, `${index}`);
      writeFileSync(path, bytes);
      return path;
    });
    const args = ["-I", "-c", PROGRAM, join(folder, "filestore")];
    const { stdout, stderr } = spawnSync("python3", args, { input: JSON.stringify(paths), encoding: "utf8" });
    expect(stderr).toBe("");
    return z.array(z.string().nullable()).parse(JSON.parse(stdout));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sandboxSays(bytes: Uint8Array): string | null {
  try {
    unpackArchive(bytes);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const both = (cases: readonly (readonly [what: string, bytes: () => Buffer, why?: string])[]) => {
  const archives = cases.map(([, bytes]) => bytes());
  const machine = machineSays(archives);
  return cases.map(([what], index) => ({
    what,
    machine: machine[index],
    sandbox: sandboxSays(archives[index] ?? Buffer.alloc(0)),
  }));
};

describe("a machine and the sandbox", () => {
  test("take an archive that was unpacked and packed again, whatever that added or changed", () => {
    expect(both(TAKEN)).toEqual(TAKEN.map(([what]) => ({ what, machine: null, sandbox: null })));
  });

  test("take an archive of each program that is here", () => {
    const here = OF_PROGRAMS.filter(([program]) => isHere(program)).map(([, ...each]) => each);
    expect(here.length).toBeGreaterThan(1);
    expect(both(here)).toEqual(here.map(([what]) => ({ what, machine: null, sandbox: null })));
  });

  /** What the machine's program prints after this code, which may use its classes. */
  const driven = (driver: string): unknown => {
    const { stdout, stderr } = spawnSync("python3", ["-I", "-c", drivenProgram(driver)], { encoding: "utf8" });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  };

  test("take an archive of more files than a listing counts in 16 bits, as macOS writes them", () => {
    const driver = `
import io
names = [b"__MACOSX/._%06d" % index for index in range(66_000)]
files = b"".join(struct.pack("<4sHHHHHLLLHH", LOCAL, 20, 0, 0, 0, 33, 0, 0, 0, 17, 0) + name for name in names)
head = lambda place: struct.pack("<4sHHHHHHLLLHHHHHLL", CENTRAL, 20, 20, 0, 0, 0, 33, 0, 0, 0, 17, 0, 0, 0, 0, 0, place)
listing = b"".join(head(47 * index) + name for index, name in enumerate(names))
whole = files + listing + struct.pack("<4sHHHHLLH", END, 0, 0, 66_000 & MAX16, 66_000 & MAX16, len(listing), len(files), 0)
print(json.dumps([len(list(Ends(io.BytesIO(whole), len(whole), 0).listing())), len(list(Reader(io.BytesIO(whole)).entries()))]))
`;
    expect(driven(driver)).toEqual([66_000, 0]);
  });

  test("find files that were packed with their database's folder, as long as all of them were", () => {
    const into = (folder: string) => (path: string) => path.replace(/^filestore\//, `filestore/${folder}/`);
    const nested = renamed(into("my shop"));
    const mixed = zip((path) => (path === STORED ? {} : { name: into("other")(path) }));
    const names = Object.keys(BACKUP).flatMap((path) => (path.startsWith("filestore/") ? [path.slice(10)] : []));
    expect(names.length).toBeGreaterThan(1);
    expect(Object.keys(unpackArchive(nested).files).toSorted()).toEqual(names.toSorted());
    expect(Object.keys(unpackArchive(mixed).files)).toContain(STORED.slice(10));
    expect(missingFiles(unpackArchive(mixed))).toHaveLength(names.length - 1);

    const driver = (bytes: Buffer): string => `
import base64, io, tempfile
links.STORE = os.fsencode(tempfile.mkdtemp())
commands.incoming_archive = lambda: io.BytesIO(base64.b64decode("${bytes.toString("base64")}"))
report = unpack("drill")
there = {name.decode() for name in walk(folder("drill"))}
print(json.dumps([report["missing_files"], sum(name in there for name in json.loads(${JSON.stringify(JSON.stringify(names))}))]))
`;
    const archiveNamed = (database: string, folder: string): Buffer =>
      zip(
        (path) =>
          path === "manifest.json" ? { data: manifestOf({ db_name: database }) } : { name: path.replace(/^filestore/, folder) },
        { name: `filestore/test/ab/${"ab".repeat(20)}`, data: "x" },
      );
    const all = [
      nested,
      renamed((path) => into("cvs")(path)),
      renamed((path) => into("RECYCLER")(path)),
      renamed((path) => into("SHOP")(path).toUpperCase()),
      inFolders("shop"),
      inFolders("Shop"),
      archiveNamed("büro".normalize("NFC"), `filestore/${"büro".normalize("NFD")}`),
    ];
    for (const each of all) {
      expect(missingFiles(unpackArchive(each))).toEqual([]);
      expect(driven(driver(each))).toEqual([0, names.length]);
    }
    expect(driven(driver(mixed))).toEqual([names.length - 1, 1]);
  });

  test("reject an archive of more files than a backup takes", () => {
    const driver = (archive: Uint8Array, max: number): string => `
import base64, io
whole = base64.b64decode("${Buffer.from(archive).toString("base64")}")
commands.incoming_archive = lambda: io.BytesIO(whole)
try:
    print(json.dumps(list_archive(str(len(whole)), "0", "${max}")["entries"]))
except Unusable as error:
    print(json.dumps(str(error)))
`;
    // The files count without the dump, the manifest, and what systems add.
    const count = Object.keys(BACKUP).filter((name) => name.startsWith("filestore/")).length;
    const all = Object.keys(BACKUP).length;
    const within = (extra: number) =>
      zip(undefined, ...Array.from({ length: extra }, (_, i) => ({ name: `__MACOSX/._${i}`, data: "" })));
    const largestArchive = within(4 * count - all);
    expect(driven(driver(largestArchive, count))).toBe(4 * count);
    expect(driven(driver(largestArchive, count - 1))).toBe(`it has ${count} files, but a backup takes ${count - 1} at most`);
    const many = driven(driver(within(4 * count - all + 1), count));
    expect(many).toBe(`it has ${4 * count + 1} files, but a backup takes ${4 * count} at most`);
  });

  test("name the program that wrote a wrong listing of more than 4 GB", () => {
    const driver = `
import io
head, end = LOCAL.ljust(HEAD_BYTES, b"\\0"), END + struct.pack("<HHHHLLH", 0, 0, 1, 1, 46, (1 << 20) - 46, 0)
size = 4097 << 20
try:
    list(Ends(io.BytesIO(head + bytes(RECORDS_MAX) + end), size + len(end), size - RECORDS_MAX).listing())
except Unusable as error:
    print(json.dumps(str(error)))
`;
    expect(driven(driver)).toContain("as macOS's Compress makes it of files over 4 GB");
  });

  test("say of everything else what it is and what to do, in printable characters", () => {
    expect(both(REJECTED)).toEqual(REJECTED.map(([what, , reason]) => ({ what, machine: reason, sandbox: reason })));
    for (const [, , reason] of REJECTED) {
      expect(reason).not.toMatch(/[^\P{C}]/u);
      expect(reason.length).toBeLessThan(330);
    }
  });
});
