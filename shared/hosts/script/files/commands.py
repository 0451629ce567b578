# Work on an ERP's files and on archives, in a container that has the files' volume and nothing else.
#
# Code inside an ERP's container can create links to anything at any moment; root on the machine itself would follow them.
# In here they lead nowhere. The last line on stderr is a report in JSON; {"error": ...} says why a command failed,
# with the exit code 3 if the archive is the cause.
#
#   snapshot DATABASE              links the files into .snapshot; {"files", "bytes"}
#   keep DATABASE OLD              links the files into OLD
#   pack DATABASE PART-BYTES       stdin: the manifest in JSON; /in: a dump; /out: the archive; then .snapshot is gone.
#                                  {"linking"} once it has begun, then {"files", "missing_files", "skipped_files",
#                                  "skipped_paths", "size_bytes", "sha256", "part_bytes", "parts"}
#   list SIZE FROM [FILES]         /in: the first bytes of an archive of this size, behind them its end from this place on.
#                                  Its listing:
#                                  {"dump_bytes", "file_bytes", "entries"}; or {"from"}, if the end must begin earlier.
#                                  One from outside has at most FILES of the ERP's files
#   unpack NEW|- [BASE]            /in: an archive, whose files go into NEW, with links to BASE's. {"version", "missing_files",
#                                  "known_missing"}: of the files that its dump lists, now and when it was made
#   load NEW|- KNOWN               the same without a base; /out: its dump, without what is not the ERP's by what KNOWN, in JSON,
#                                  says of our own database server; the same with {"left_out"}
#   try NEW KNOWN                  the same, for a drill: keeps the archive's row counts
#   import NEW BYTES ENTRIES KNOWN the same, for one from outside: unpacks to no more of either, with a dump that stays in its
#                                  database; the same with {"edition", "database_name"}. All three say
#                                  {"postgres"}, the version that the dump is of, or 0
#   rows                           stdin: counts of tables, a JSON array a line. {"passed", "detail"}: whether they are
#                                  the archive's
#   verify DATABASE MISSING        stdin: names and SHA-1s of files, likewise. {"passed", "detail"}: whether all but
#                                  MISSING are there
#   measure DATABASE               {"bytes"}
#   missing DATABASE               stdin: names of files, one a line. {"missing_files", "listed_files"}: how many are not
#                                  there, of how many
#   prepare NEW OLD                before a swap, with the ERP stopped: NEW must be there, OLD not
#   swap NEW DATABASE OLD [merge]  DATABASE becomes OLD, NEW becomes DATABASE; merge: with what DATABASE got since NEW was made
#   swap_back OLD DATABASE NEW     takes that back
#   remove NAME...
import concurrent.futures
import hashlib
import importlib
import json
import os
import re
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from io import BufferedIOBase
from typing import BinaryIO, NamedTuple, NoReturn, cast

from archive import CORES, PIECE, Names, Writer
from dump import COMPLETE, Listed, Loading, Scan
from layout import HASHED, HEAD_BYTES, NAMES_REPORTED, Contents, DumpKind, Unusable, extra_folder, shown, unusable
from links import HOME, STORE, Failure, exists, folder, link_into, remove, walk
from reader import Ends, Further, Reader
from statements import Origin, Statements

Report = Mapping[str, object]

# Only a drill has it, in a volume of its own.
COUNTS = HOME + b"/.rows"
SNAPSHOT = b".snapshot"
# A path has at most 4,096 bytes, and in a restore it begins with a longer folder than in a backup.
NAME_MAX = 1024
# Limits for archives from outside. No ERP's data compresses better, unless there is little of it.
RATIO_MAX, RATIO_FREE = 100, 256 << 20
# Systems and programs add folders, and to each file and folder another file.
ENTRIES_PER_FILE = 4
# A sender of an archive starts at once; one that was killed before never will.
ARCHIVE_SECONDS = 60


def snapshot(database: str) -> Report:
    source = folder(database, make=True)
    remove(SNAPSHOT)
    target = folder(SNAPSHOT, make=True)
    known: set[bytes] = set()
    size = link_into(source, target, known)
    return {"files": len(known), "bytes": size}


def keep(database: str, old: str) -> Report:
    """What a folder has, in another: the ERP only adds and removes files, it replaces none."""
    source = folder(database, make=True)
    remove(old)
    link_into(source, folder(old, make=True), set())
    return {}


def pack(database: str, part_bytes: str) -> Report:
    source, target = folder(database, make=True), folder(SNAPSHOT, make=True)
    listed, tail = Listed(), b""

    # A file that came after the snapshot may be in the dump, and be deleted before its turn: the snapshot grows from before the
    # database's own snapshot until the dump, which sees that, has begun. The last pass begins after it. What none finds, the
    # instance had lost before.
    linked = set(walk(target))
    begun = threading.Event()

    def keep_linking() -> None:
        while True:
            last, start = begun.is_set(), time.monotonic()
            link_into(source, target, linked)
            if last:
                return
            begun.wait(max(0.02, time.monotonic() - start))

    linking = threading.Thread(target=keep_linking, daemon=True)
    linking.start()
    print('{"linking": true}', file=sys.stderr, flush=True)

    def dump() -> Iterator[bytes]:
        nonlocal tail
        with open("/in", "rb") as incoming:
            while piece := incoming.read(PIECE):
                listed.feed(piece)
                if listed.begun:
                    begun.set()
                tail = (tail + piece)[-4096:]
                yield piece

    now = time.time()
    out = Writer(open("/out", "r+b"), int(part_bytes))  # not truncated: its room is allocated already
    out.add("dump.sql", dump(), now)
    begun.set()
    linking.join()
    if COMPLETE not in tail:
        raise Failure("The database could not be dumped completely")

    packed = Names()
    skipped: list[str] = []

    def skip(name: bytes) -> None:
        linked.discard(name)
        skipped.append(shown(name) if len(skipped) < NAMES_REPORTED else "")

    def add(top: bytes, name: bytes, skip: Callable[[bytes], object] = lambda _: None) -> None:
        try:
            entry = f"filestore/{name.decode()}"
        except UnicodeDecodeError:
            skip(name)
            return
        if entry in packed.sizes:
            return
        if len(name) > NAME_MAX:
            skip(name)
            return
        try:
            file = os.open(os.path.join(top, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        except OSError:
            skip(name)
            return
        with open(file, "rb", buffering=0) as content:
            status = os.fstat(file)
            # In the snapshot, the ERP's code may have made a file of what is a folder in its files.
            if not stat.S_ISREG(status.st_mode) or packed.clash(entry):
                skip(name)
                return
            out.add(entry, pieces_of(content, status.st_size), status.st_mtime)

    for name in walk(target):
        add(target, name)
    for name in walk(source, skip):  # what could not be linked, and what is new
        add(source, name, skip)
    missing = len(missing_names := listed.missing(packed.sizes))
    if lost := sorted(missing_names & linked):
        raise Failure(
            f"{len(lost)} of the files that the database lists were removed from the backup's own folder while it was packed, "
            f"such as {shown(lost[0])}"
        )
    manifest = json.loads(sys.stdin.buffer.read(1 << 22))
    manifest |= {"version": erp_version(manifest["major_version"]), "missing_files": missing, "skipped_files": len(skipped)}
    out.add("manifest.json", [json.dumps(manifest, indent=4).encode()], now)
    out.close()
    remove(SNAPSHOT)
    report = {
        "files": len(packed.sizes),
        "missing_files": missing,
        "listed_files": len(listed.names),
        "skipped_files": len(skipped),
        "skipped_paths": skipped[:NAMES_REPORTED],
    }
    return report | out.sums()


def pieces_of(content: BinaryIO, size: int) -> Iterator[bytes]:
    """As long as it was when it was opened: a file that grows without end must not become an archive without end."""
    while size > 0 and (piece := content.read(min(PIECE, size))):
        size -= len(piece)
        yield piece


def erp_version(major: str) -> str:
    try:
        return str(importlib.import_module("odoo.release").version)
    except Exception:  # noqa: BLE001 an image without it
        return major


def incoming_archive() -> BufferedIOBase:
    signal.alarm(ARCHIVE_SECONDS)
    incoming = open("/in", "rb")
    signal.alarm(0)
    return incoming


def list_archive(size: str, start: str, files_max: str | None = None) -> Report:
    contents = Contents()
    try:
        for entry in Ends(incoming_archive(), int(size), int(start)).listing():
            contents.add(entry.name, entry.size)
    except Further as further:
        return {"from": further.place}
    contents.require_backup()
    unpacked = contents.dump_bytes + contents.file_bytes
    if files_max is not None:
        most = int(files_max)
        for count, limit in ((contents.files, most), (contents.entries, ENTRIES_PER_FILE * most)):
            if count > limit:
                raise unusable("tooManyFiles", files=str(count), max=str(limit))
    if files_max is not None and unpacked > max(RATIO_FREE, RATIO_MAX * int(size)):
        raise unusable("tooMuch")
    return {"dump_bytes": contents.dump_bytes, "file_bytes": contents.file_bytes, "entries": contents.entries}


def unpack(
    new: str,
    base: str | None = None,
    drill: bool = False,
    allowed: int | None = None,
    entries_max: int | None = None,
    known: str = "{}",
) -> Report:
    reader = Reader(incoming_archive(), allowed, entries_max)
    sql = open("/out", "wb") if os.path.exists("/out") else None
    report: dict[str, object] = {}
    manifest: Manifest | None = None
    listed: Listed | None = None
    target: bytes | None = None
    if new != "-":
        remove(new)
        target = folder(new, make=True)
        if base is not None and exists(base):
            link_into(folder(base), target, set())
    try:
        for name, pieces in reader.entries():
            if name == "dump.sql":
                dump, scan = (pieces, None) if allowed is None else (examined(pieces), Scan())
                listed, found = load(dump, sql, scan, known)
                report |= found
            elif name == "manifest.json":
                manifest = read_manifest(pieces)
                if drill and manifest.rows is not None:
                    with open(COUNTS, "w") as kept:
                        json.dump(manifest.rows, kept)
            else:
                write_file(target, name.removeprefix("filestore/"), pieces)
        if listed is None:
            raise unusable("listing")
        if manifest is None:
            raise unusable("noManifest")
    except Unusable:
        reader.drain()  # its checksum tells more than what was found out here
        raise
    try:
        paths = lifted(reader.names.sizes, target, manifest.stated_name)
    except Unusable:
        if allowed is not None:
            raise
        paths = reader.names.sizes  # one of our own has whatever the ERP's code has put there
    if allowed is not None:
        report |= {"edition": manifest.edition, "database_name": manifest.database_name}
    return report | {
        "version": manifest.version,
        "known_missing": manifest.known_missing,
        "missing_files": len(listed.missing(paths)),
    }


def lifted(paths: Collection[str], target: bytes | None, database: str) -> Collection[str]:
    """The paths of an archive's files once those that share a folder of their own are where the ERP looks for them."""
    extra = extra_folder(paths, database)
    if extra is None:
        return paths
    lifted_paths: set[str] = set()
    for path in paths:
        name = path.removeprefix(f"filestore/{extra}/")
        if not HASHED.fullmatch(name):
            lifted_paths.add(path)
            continue
        lifted_paths.add(f"filestore/{name}")
        if target is not None:
            place = os.path.join(target, name.encode())
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.replace(os.path.join(target, extra.encode(), name.encode()), place)
    return lifted_paths


def load_archive(new: str, known: str) -> Report:
    return unpack(new, known=known)


def try_archive(new: str, known: str) -> Report:
    return unpack(new, drill=True, known=known)


def import_archive(new: str, allowed: str, entries_max: str, known: str = "{}") -> Report:
    return unpack(new, allowed=int(allowed), entries_max=int(entries_max), known=known)


def examined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A dump from outside, as it passes."""
    kind = DumpKind()
    for piece in pieces:
        kind.feed(piece)
        yield piece
    kind.close()


# What pg_dump says in the beginning of the server that it read.
POSTGRES = re.compile(rb"^-- Dumped from database version (\d{1,3})", re.MULTILINE)


def load(pieces: Iterable[bytes], sql: BinaryIO | None, scan: Scan | None, known: str) -> tuple[Listed, Report]:
    head = b""
    loading, listed, origin = Loading(sql, scan), Listed(), Origin(json.loads(known))

    def read() -> Iterator[bytes]:
        nonlocal head
        for piece in pieces:
            head += piece[: max(HEAD_BYTES - len(head), 0)]
            listed.feed(piece)
            yield piece

    Statements(read(), origin, loading.write).run()
    loading.pass_on()
    version = POSTGRES.search(head)
    return listed, {"left_out": origin.report(), "postgres": int(version[1]) if version else 0}


MANIFEST_MAX = 1 << 24
# Stands for the number of missing files if the archive doesn't say it: any number may be missing.
UNKNOWN = 10**12


class Manifest(NamedTuple):
    """What an archive says about itself, as far as it is believed."""

    version: str
    known_missing: int
    rows: dict[str, object] | None
    edition: str
    database_name: str
    stated_name: str


def read_manifest(pieces: Iterable[bytes]) -> Manifest:
    text = b""
    for piece in pieces:
        text += piece
        if len(text) > MANIFEST_MAX:
            raise unusable("manifestTooLong")
    try:
        manifest = fields(json.loads(text)) or {}
    except (ValueError, RecursionError):
        raise unusable("manifestNotJson") from None
    version = manifest.get("major_version")
    if isinstance(version, (int, float)) and 0 < version < 1000:
        version = f"{version:.1f}"
    if not isinstance(version, str) or not version:
        raise unusable("manifestWithoutVersion")
    if not re.fullmatch(r"[0-9]{1,3}\.[0-9]{1,3}", version):
        raise unusable("intermediate" if version.lower().startswith("saas") else "version", version=shown(version))
    missing, rows, modules, name = (manifest.get(each) for each in ("missing_files", "rows", "modules", "db_name"))
    stated_name = name if isinstance(name, str) else ""
    database_name = re.sub(r"[^A-Za-z0-9_.-]", "_", stated_name)[:63] or "imported"
    known = min(missing, UNKNOWN) if type(missing) is int and missing >= 0 else UNKNOWN
    edition = "enterprise" if "web_enterprise" in (fields(modules) or ()) else "community"
    return Manifest(version, known, fields(rows) or None, edition, database_name, stated_name)


def fields(value: object) -> dict[str, object] | None:
    """Of a JSON object; None of anything else."""
    return cast(dict[str, object], value) if isinstance(value, dict) else None


def rows() -> Report:
    counted: dict[str, int] = dict(map(json.loads, sys.stdin.buffer))
    try:
        with open(COUNTS) as kept:
            expected: dict[str, object] = json.load(kept)
    except FileNotFoundError:
        return {"passed": None, "detail": "The archive has no row counts"}
    wrong = sorted(name for name in counted.keys() | expected.keys() if counted.get(name) != expected.get(name))
    if not wrong:
        return {"passed": True, "detail": f"All {len(counted)} tables have as many rows as in the backup"}
    first = wrong[0]
    what = "1 table differs" if len(wrong) == 1 else f"{len(wrong)} tables differ"
    table = f"{what}: {shown(first.encode())}"
    if first not in counted:
        return {"passed": False, "detail": f"{table} is missing"}
    if first not in expected:
        return {"passed": False, "detail": f"{table} is not in the backup"}
    return {"passed": False, "detail": f"{table} has {counted[first]} rows instead of {expected[first]}"}


def sha1_of(content: BinaryIO) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    while piece := content.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


def verify(database: str, known: str) -> Report:
    place = folder(database)
    wanted: dict[str, str | None] = dict(map(json.loads, sys.stdin.buffer))

    def fault(name: str) -> str | None:
        if ".." in name.split("/"):
            return "missing"
        try:
            with open(os.open(os.path.join(place, name.encode()), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as content:
                found = sha1_of(content) if wanted[name] else None
        except OSError:
            return "missing"
        return "wrong" if found != wanted[name] else None

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        faults = list(zip(wanted, pool.map(fault, wanted), strict=True))
    missing, wrong = ([name for name, fault in faults if fault == kind] for kind in ("missing", "wrong"))
    report = [f"{len(wrong)} of {len(wanted)} files have another content, such as {shown(wrong[0].encode())}"] if wrong else []
    if len(missing) > int(known):
        report.append(
            f"{len(missing)} of {len(wanted)} files are missing, such as {shown(missing[0].encode())}; "
            f"{known} were when it was made"
        )
    elif missing:
        report.append(f"{len(missing)} of {len(wanted)} files are missing, as when it was made")
    passed = not wrong and len(missing) <= int(known)
    return {"passed": passed, "detail": "; ".join(report) or f"All {len(wanted)} files have their content"}


def write_file(target: bytes | None, name: str, pieces: Iterable[bytes]) -> None:
    if target is None or name == "" or name.endswith("/"):
        for _ in pieces:
            pass
        return
    path = os.path.join(target, name.encode())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)  # a link to the present file, which must stay as it is
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb", buffering=0) as out:
        out.writelines(pieces)


def measure(database: str) -> Report:
    place = folder(database)
    return {"bytes": sum(allocated(os.path.join(place, name)) for name in walk(place))}


def allocated(path: bytes) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except FileNotFoundError:
        return 0  # the ERP has removed it since


def missing(database: str) -> Report:
    files = set(walk(folder(database)))
    wanted = {line.rstrip(b"\n") for line in sys.stdin.buffer} - {b""}
    return {"missing_files": len(wanted - files), "listed_files": len(wanted)}


def prepare(new: str, old: str) -> Report:
    """Before the first try of a swap, when nothing but this changes the files any more: later ones tell by OLD what was done."""
    folder(None)
    remove(old)
    if not exists(new):
        raise Failure("The restored files are not there any more: the ERP removed them")
    folder(new)
    return {}


def swap(new: str, database: str, old: str, merge: str | None = None) -> Report:
    folder(None)
    if not exists(new):
        return {}
    if exists(database):
        present = folder(database)
        if merge is not None:
            target = folder(new)
            link_into(present, target, set(walk(target)))
        os.rename(present, os.path.join(STORE, os.fsencode(old)))
    folder(old, make=True)
    os.rename(folder(new), os.path.join(STORE, os.fsencode(database)))
    return {}


def swap_back(old: str, database: str, new: str) -> Report:
    folder(None)
    if not exists(old):
        return {}
    if exists(database):
        os.rename(folder(database), os.path.join(STORE, os.fsencode(new)))
    os.rename(folder(old), os.path.join(STORE, os.fsencode(database)))
    return {}


def synced(command: Callable[..., Report]) -> Callable[..., Report]:
    """What it wrote is on the disk when it reports: the next step relies on that, also after the machine lost its power."""

    def run(*arguments: str) -> Report:
        report = command(*arguments)
        os.sync()
        return report

    return run


def remove_all(*names: str) -> Report:
    for name in names:
        remove(name)
    return {}


COMMANDS: dict[str, Callable[..., Report]] = {
    "snapshot": snapshot,
    "keep": synced(keep),
    "pack": pack,
    "list": list_archive,
    "unpack": synced(unpack),
    "load": synced(load_archive),
    "try": try_archive,
    "import": import_archive,
    "rows": rows,
    "verify": verify,
    "measure": measure,
    "missing": missing,
    "prepare": prepare,
    "swap": synced(swap),
    "swap_back": synced(swap_back),
    "remove": remove_all,
}


def main(command: str, *arguments: str) -> NoReturn:
    report: Report
    try:
        report, code = COMMANDS[command](*arguments), 0
    except Unusable as error:
        report, code = {"error": str(error)}, 3
    except Failure as error:
        report, code = {"error": str(error)}, 4
    print(json.dumps(report), file=sys.stderr, flush=True)
    os._exit(code)  # without the flush of a stdout that nobody reads any more
