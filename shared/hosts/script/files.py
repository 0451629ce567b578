# Work on an ERP's files and on archives, in a container that has the files' volume and nothing else.
#
# Code inside an ERP's container can create links to anything at any moment; root on the machine itself would follow them.
# In here they lead nowhere. The last line on stderr is a report in JSON; {"error": ...} says why a command failed,
# with the exit code 3 if the archive is the cause.
#
#   snapshot DATABASE                  links the files into .snapshot                     {"files", "bytes"}
#   pack DATABASE PART-BYTES           stdin: the manifest in JSON; /in: a dump           {"files", "missing_files", "skipped_files", "skipped_paths",
#                                      /out: the archive; then .snapshot is gone            "size_bytes", "sha256", "part_bytes", "parts"}
#   list [bounded]                     /in: an archive, of which only its listing is read {"dump_bytes", "file_bytes",
#                                                                                           "entries"}
#   unpack NEW|- [BASE]                /in: an archive, whose files go into NEW, with     {"version", "missing_files", "known_missing"}:
#                                      links to BASE's; /out, if there is one: its dump    of the files that its dump lists, now and when it was made
#   try NEW                            the same, for a drill: keeps the archive's row counts
#   import NEW BYTES ENTRIES           the same, for one from outside: unpacks to no more the same with {"edition",
#                                      of either, with a dump that stays in its database     "database_name"}
#   rows                               stdin: counts of tables, a JSON array a line       {"passed", "detail"}: whether they are the archive's
#   verify DATABASE MISSING            stdin: names and SHA-1s of files, likewise         {"passed", "detail"}: whether all but MISSING are there
#   measure DATABASE                                                                         {"bytes"}
#   missing DATABASE                   stdin: names of files, one a line                  {"missing_files"}: how many are not there
#   prepare NEW OLD                    before a swap, with the ERP stopped: NEW must be there, OLD not
#   swap NEW DATABASE OLD [merge]      DATABASE becomes OLD, NEW becomes DATABASE; merge: with what DATABASE got since NEW was made
#   swap_back OLD DATABASE NEW         takes that back
#   remove NAME...
import base64
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import signal
import stat
import struct
import sys
import threading
import time
import zlib

HOME = b"/var/lib/odoo"
STORE = HOME + b"/filestore"
# Only a drill has it, in a volume of its own.
COUNTS = HOME + b"/.rows"
SNAPSHOT = b".snapshot"
PIECE = 1 << 20
NAMES_REPORTED = 20
# The ERP's own folders are two deep. Deeper ones only exist to cause trouble.
DEPTH_MAX = 50
# A path has at most 4,096 bytes, and in a restore it begins with a longer folder than in a backup.
NAME_MAX = 1024
REMOVE_SECONDS = 600
CORES = os.cpu_count() or 1
# The most that is kept of an archive's end: the listing of four million files.
LISTING_MAX = 512 << 20
# Of an archive from outside. What compresses so well is no ERP's; a small one may.
ENTRIES_MAX = 4_000_000
RATIO_MAX, RATIO_FREE = 100, 256 << 20
# A sender of an archive starts at once; one that was killed before never will.
ARCHIVE_SECONDS = 60


class Failure(Exception):
    """The files on the machine are not as they must be."""


class Unusable(Exception):
    """The archive is invalid."""


def folder(name, make=False):
    """A folder of the store, which is never a link."""
    place = STORE
    for part in [b""] if name is None else [b"", os.fsencode(name)]:
        place = os.path.join(place, part) if part else place
        if make and not os.path.lexists(place):
            os.mkdir(place)
        if os.path.lexists(place) and not stat.S_ISDIR(os.lstat(place).st_mode):
            what = "a link" if os.path.islink(place) else "not a folder"
            raise Failure(f"The ERP's folder {os.fsdecode(os.path.relpath(place, HOME))} is {what}")
    return place


def exists(name):
    return os.path.lexists(os.path.join(STORE, os.fsencode(name)))


def walk(top, skip=lambda name: None):
    """The names of the regular files below a folder, as bytes, and tells what is left out."""
    places = [b""]
    while places:
        place = places.pop()
        try:
            with os.scandir(os.path.join(top, place)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                skip(place)
            continue
        deeper = []
        for entry in entries:
            name = os.path.join(place, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if name.count(b"/") >= DEPTH_MAX:
                    skip(name)
                else:
                    deeper.append(name)
            elif entry.is_symlink():
                skip(name)
            elif entry.is_file(follow_symlinks=False):
                yield name
            else:
                skip(name)
        places.extend(reversed(deeper))


def link_into(source, target, known):
    """Links what is new in a folder into another; what cannot be linked is left out."""
    size = 0
    for name in walk(source):
        if name in known:
            continue
        place = os.path.join(target, name)
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.link(os.path.join(source, name), place, follow_symlinks=False)
            size += os.lstat(place).st_size
        except OSError:
            continue
        known.add(name)
    return size


def remove(name):
    """
    The ERP's code may have made folders that nobody may enter, or deeper than a path can be long, and may do so meanwhile: each
    folder is made ours, and what is below it moves to the top.
    """
    top = os.path.join(STORE, os.fsencode(name))
    if os.path.islink(STORE) or not os.path.lexists(top):
        return  # behind a link is nothing of ours
    if not stat.S_ISDIR(os.lstat(top).st_mode):
        os.unlink(top)
        return
    until = time.monotonic() + REMOVE_SECONDS
    while folders := emptied(top):
        if time.monotonic() > until:
            raise Failure("The ERP's old files cannot be removed: it creates new ones meanwhile")
        for place in folders:
            for deeper in emptied(place):
                own(deeper)
                os.rename(deeper, os.path.join(top, os.urandom(16).hex().encode()))
            with contextlib.suppress(OSError):  # what came meanwhile has the next turn
                os.rmdir(place)
    os.rmdir(top)


def emptied(place):
    """The folders that are left once everything else in a folder is removed."""
    own(place)
    folders = []
    with os.scandir(place) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(entry.path)
    return folders


def own(place):
    os.chmod(place, 0o700)


# --- Archives: the ERP's own zip, written and read as a stream -----------------------------------------------------------------

LOCAL, CENTRAL, END, END64, LOCATOR64, DESCRIPTOR = (b"PK" + bytes(pair) for pair in ((3, 4), (1, 2), (5, 6), (6, 6), (6, 7), (7, 8)))
MODE = (stat.S_IFREG | 0o644) << 16
STREAMED, UTF8 = 0x0008, 0x0800
MAX32, MAX16 = 0xFFFFFFFF, 0xFFFF


def dos_time(seconds):
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    if not 1980 <= year <= 2107:
        return 0, 0x21
    return hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day


def deflated(data, last):
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed = packer.compress(data) + packer.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)
    return packed


class Names:
    """What an archive contains so far, with sizes. A name is that of one file, or of a folder."""

    def __init__(self):
        self.sizes, self.folders = {}, set()

    def clash(self, name):
        """Adds a file, or says why it cannot be added."""
        if name in self.sizes:
            return "it contains a file twice"
        above = [name[:end] for end, char in enumerate(name) if char == "/"]
        if name in self.folders or any(folder in self.sizes for folder in above):
            return "one of its files has the name of a folder"
        self.sizes[name] = 0
        self.folders.update(above)
        return None


class Writer:
    """Pieces are packed by all cores and written in their order. Parts are what the store gets at a time."""

    def __init__(self, out, part_bytes):
        self.out, self.offset, self.count = out, 0, 0
        self.part_bytes, self.parts = part_bytes, []
        self.whole, self.part = hashlib.sha256(), hashlib.sha256()
        self.central = bytearray()
        self.pool = concurrent.futures.ThreadPoolExecutor(CORES)
        self.waiting = collections.deque()

    def add(self, name, pieces, changed):
        """Pieces of at most 1 MB; none at all is an empty file."""
        state = {"name": name.encode(), "time": dos_time(changed), "crc": 0, "size": 0, "packed": 0}
        held = None
        for piece in pieces:
            if held is not None:
                self.submit(state, held, False)
            held = piece
        self.submit(state, held or b"", True)

    def submit(self, state, data, last):
        state["crc"] = zlib.crc32(data, state["crc"])
        first = state["size"] == 0 and "begun" not in state
        state["begun"] = True
        state["size"] += len(data)
        sums = (state["crc"], state["size"])
        self.waiting.append((state, self.pool.submit(deflated, data, last), data, first, last, sums))
        while len(self.waiting) > 2 * CORES:
            self.write_next()

    def write_next(self):
        state, packing, data, first, last, (crc, size) = self.waiting.popleft()
        packed = packing.result()
        if first:
            state["offset"] = self.offset
            state["whole"] = last
            if last and len(packed) >= len(data):
                packed, state["method"] = data, 0
            self.local(state, crc, len(packed), size)
        self.write(packed)
        state["packed"] += len(packed)
        if last:
            if not state["whole"]:
                self.write(struct.pack("<4sLQQ", DESCRIPTOR, crc, state["packed"], size))
            self.list(state, crc, size)

    def local(self, state, crc, packed, size):
        head = "<4sHHHHHLLLHH"
        flags, (clock, day), name = UTF8, state["time"], state["name"]
        method = state.setdefault("method", 8)
        if state["whole"]:
            self.write(struct.pack(head, LOCAL, 20, flags, method, clock, day, crc, packed, size, len(name), 0) + name)
        else:  # its sizes are known, and follow, when it is written
            extra = struct.pack("<HHQQ", 1, 16, 0, 0)
            flags |= STREAMED
            self.write(struct.pack(head, LOCAL, 45, flags, method, clock, day, 0, MAX32, MAX32, len(name), len(extra)) + name + extra)

    def list(self, state, crc, size):
        clock, day = state["time"]
        wide = [value for value in (size, state["packed"], state["offset"]) if value >= MAX32]
        extra = struct.pack(f"<HH{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        narrow = [min(value, MAX32) for value in (state["packed"], size, state["offset"])]
        flags = UTF8 if state["whole"] else UTF8 | STREAMED
        version = 45 if wide or not state["whole"] else 20
        self.central += struct.pack(
            "<4sBBHHHHHLLLHHHHHLL", CENTRAL, version, 3, version, flags, state["method"], clock, day, crc, narrow[0], narrow[1],
            len(state["name"]), len(extra), 0, 0, 0, MODE, narrow[2],
        ) + state["name"] + extra  # fmt: skip
        self.count += 1

    def close(self):
        while self.waiting:
            self.write_next()
        start, size, count = self.offset, len(self.central), self.count
        self.write(self.central)
        if start >= MAX32 or size >= MAX32 or count >= MAX16:
            end = self.offset
            self.write(struct.pack("<4sQHHLLQQQQ", END64, 44, 45, 45, 0, 0, count, count, size, start))
            self.write(struct.pack("<4sLQL", LOCATOR64, 0, end, 1))
        many = min(count, MAX16)
        self.write(struct.pack("<4sHHHHLLH", END, 0, 0, many, many, min(size, MAX32), min(start, MAX32), 0))
        self.out.flush()

    def write(self, data):
        self.out.write(data)
        self.whole.update(data)
        left = memoryview(data)
        while left:
            room = self.part_bytes - self.offset % self.part_bytes
            self.part.update(left[:room])
            self.offset += len(left[:room])
            left = left[room:]
            if self.offset % self.part_bytes == 0:
                self.end_part()

    def end_part(self):
        self.parts.append(base64.b64encode(self.part.digest()).decode())
        self.part = hashlib.sha256()

    def sums(self):
        if self.offset % self.part_bytes:
            self.end_part()
        return {"size_bytes": self.offset, "sha256": self.whole.hexdigest(), "part_bytes": self.part_bytes, "parts": self.parts}


class Reader:
    """What comes in, entry by entry. Sizes that the archive tells are believed only where what is read bears them out."""

    def __init__(self, source, allowed=None, entries_max=None):
        self.source, self.held = source, b""
        self.allowed, self.entries_max = allowed, entries_max
        self.names = Names()

    def some(self):
        if not self.held:
            self.held = self.source.read1(PIECE)
        data, self.held = self.held, b""
        return data

    def exactly(self, count):
        parts = []
        while count > 0:
            data = self.some()
            if not data:
                raise Unusable("it is truncated")
            parts.append(data[:count])
            self.held = data[count:]
            count -= len(parts[-1])
        return b"".join(parts)

    def drain(self):
        while self.some():
            pass

    def entries(self):
        """Names with their contents, in pieces, which must be read to the end before the next. Then the listing is compared."""
        while True:
            mark = self.exactly(4)
            if mark != LOCAL:
                break
            _, flags, method, _, _, crc, packed, size, name_length, extra_length = struct.unpack("<HHHHHLLLHH", self.exactly(26))
            raw, extra = self.exactly(name_length), self.exactly(extra_length)
            sizes = extra_field(extra, 1)
            if sizes is not None and len(sizes) >= 16 and MAX32 in (packed, size):
                size, packed = struct.unpack("<QQ", sizes[:16])
            name = name_of(raw, flags, extra)
            if clash := self.names.clash(name):
                raise Unusable(clash)
            if self.entries_max is not None and len(self.names.sizes) > self.entries_max:
                raise Unusable("it has more files than its listing says")
            if flags & 1 or method not in (0, 8) or (method == 0 and flags & STREAMED):
                raise Unusable("its compression is not supported")
            yield name, self.counted(name, self.contents(method, bool(flags & STREAMED), packed, size, crc))
        self.compare(mark)
        self.drain()

    def counted(self, name, pieces):
        for piece in pieces:
            self.names.sizes[name] += len(piece)
            if self.allowed is not None:
                self.allowed -= len(piece)
                if self.allowed < 0:
                    raise Unusable("it unpacks to more than its listing says")
            yield piece

    def contents(self, method, streamed, packed, size, crc):
        unpacker = zlib.decompressobj(-15) if method == 8 else None
        found, taken, total = 0, 0, 0
        while unpacker is None and taken < packed or unpacker is not None and not unpacker.eof:
            data = self.some()
            if not data:
                raise Unusable("it is truncated")
            if unpacker is None:
                piece, self.held = data[: packed - taken], data[packed - taken :]
                taken += len(piece)
            else:
                try:
                    piece = unpacker.decompress(data, PIECE)
                except zlib.error:
                    raise Unusable("it is damaged") from None
                self.held = unpacker.unconsumed_tail or unpacker.unused_data
                taken += len(data) - len(self.held)
            found = zlib.crc32(piece, found)
            total += len(piece)
            if piece:
                yield piece
        if streamed:
            self.descriptor(found, taken, total)
        elif (crc, packed, size) != (found, taken, total):
            raise Unusable("it is damaged")

    def descriptor(self, crc, packed, size):
        """With or without its mark, with sizes of 4 or of 8 bytes: nothing says which."""
        data = self.exactly(12)
        if data[:4] == DESCRIPTOR:
            data = data[4:] + self.exactly(4)
        if max(packed, size) > MAX32 or data != struct.pack("<LLL", crc, packed, size):
            data += self.exactly(8)
            if data != struct.pack("<LQQ", crc, packed, size):
                raise Unusable("it is damaged")

    def compare(self, mark):
        """Its own listing must have the same names and sizes: programs differ in which of the two they believe."""
        left = dict(self.names.sizes)
        while mark == CENTRAL:
            name, size = listed_file(self.exactly)
            if left.pop(name, None) != size:
                raise Unusable("its listing does not match its files")
            mark = self.exactly(4)
        if left or mark not in (END, END64):
            raise Unusable("its listing does not match its files" if left else "it is damaged")


def listed_file(exactly):
    """The name and the size of a file in a listing, behind its mark. It is no link."""
    head = struct.unpack("<HHHHHHLLLHHHHHLL", exactly(42))
    flags, size, name_length, extra_length, note_length, attributes = head[2], head[8], head[9], head[10], head[11], head[14]
    raw, extra = exactly(name_length), exactly(extra_length)
    exactly(note_length)
    kind = stat.S_IFMT(attributes >> 16) if head[0] >> 8 == 3 else 0
    if kind == stat.S_IFLNK:
        raise Unusable("it contains links")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Unusable("it contains devices, pipes or sockets")
    sizes = extra_field(extra, 1)
    if size == MAX32 and sizes is not None and len(sizes) >= 8:
        (size,) = struct.unpack("<Q", sizes[:8])
    return name_of(raw, flags, extra), size


class Kept:
    """The end of what came in, in pieces, as a source to read: of an archive, its listing is there."""

    def __init__(self, source):
        self.pieces, self.size, self.start = collections.deque(), 0, 0
        while piece := source.read(PIECE):
            self.pieces.append(piece)
            self.size += len(piece)
            if self.size - self.start > LISTING_MAX:
                self.drop()

    def drop(self):
        self.start += len(self.pieces.popleft())

    def read1(self, _):
        return self.pieces.popleft() if self.pieces else b""

    def listing(self):
        """Names and sizes."""
        end = b"".join(list(self.pieces)[-2:])
        place, before = end.rfind(END), self.size - len(end)
        if place < 0 or len(end) - place < 22:
            raise Unusable("it is truncated")
        count, _, start = struct.unpack("<HLL", end[place + 10 : place + 20])
        if end[max(place - 20, 0) : place][:4] == LOCATOR64:
            place = struct.unpack("<Q", end[place - 12 : place - 4])[0] - before
            if not 0 <= place <= len(end) - 56 or end[place : place + 4] != END64:
                raise Unusable("it is damaged")
            count, _, start = struct.unpack("<QQQ", end[place + 32 : place + 56])
        if start < self.start:
            raise Unusable("its listing is too long")
        while self.pieces and start - self.start >= len(self.pieces[0]):
            self.drop()
        reader = Reader(self)
        reader.exactly(start - self.start)
        for _ in range(count):
            if reader.exactly(4) != CENTRAL:
                raise Unusable("it is damaged")
            yield listed_file(reader.exactly)


def extra_field(extra, wanted):
    while len(extra) >= 4:
        kind, length = struct.unpack("<HH", extra[:4])
        if kind == wanted:
            return extra[4 : 4 + length]
        extra = extra[4 + length :]
    return None


def name_of(raw, flags, extra):
    unicode_path = extra_field(extra, 0x7075)
    if not flags & UTF8 and unicode_path is not None:
        raw = unicode_path[5:]
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        if flags & UTF8:
            raise Unusable("it contains file names that are not text") from None
        name = raw.decode("cp437")
    parts = (name[:-1] if name.endswith("/") else name).split("/")
    own = name in ("dump.sql", "manifest.json") or parts[0] == "filestore" and (len(parts) > 1 or name.endswith("/"))
    if not own or "\0" in name or any(part in ("", ".", "..") or len(part.encode()) > 255 for part in parts) or len(parts) > DEPTH_MAX + 2:
        raise Unusable("it contains unexpected files")
    return name


# --- Dumps ---------------------------------------------------------------------------------------------------------------------


class Listed:
    """Finds out of a dump, as it passes, in which files its attachments are."""

    TABLE = b"\nCOPY public.ir_attachment ("
    LINE_MAX = 64 << 20
    ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
    CONTROLS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

    def __init__(self):
        self.names, self.column, self.begun = set(), None, False
        self.held, self.held_bytes = [], 0

    def feed(self, piece):
        """Holds a line that has not ended as pieces: looking at it again with each of them would take the square of its length."""
        self.held.append(piece)
        self.held_bytes += len(piece)
        if b"\n" not in piece and self.held_bytes <= self.LINE_MAX:
            return
        rest = self.read(b"".join(self.held))
        if len(rest) > self.LINE_MAX:
            rest = b"" if self.column is None else b"\n"
        self.held, self.held_bytes = [rest], len(rest)

    def read(self, text):
        """Reads all whole lines, and returns what is left. In a table, a text begins with the line break before its next row."""
        at = 0
        self.begun = self.begun or b"\nCOPY " in text
        while True:
            if self.column is None:
                place = text.find(self.TABLE, at)
                if place < 0:
                    return text[max(at, len(text) - len(self.TABLE)) :]
                at = text.find(b"\n", place + 1)
                if at < 0:
                    return text[place:]
                columns = text[place + len(self.TABLE) : at].split(b")")[0].split(b", ")
                self.column = columns.index(b"store_fname") if b"store_fname" in columns else None
            else:
                stop = text.find(b"\n\\.\n", at)
                last = stop if stop >= 0 else text.rfind(b"\n", at)
                if last > at:
                    for line in text[at + 1 : last].split(b"\n"):
                        self.note(line)
                if stop < 0:
                    return text[last:]
                self.column, at = None, stop + 3

    def note(self, line):
        fields = line.split(b"\t", self.column + 1)
        if len(fields) > self.column and fields[self.column] != b"\\N":
            self.names.add(self.ESCAPED.sub(lambda each: self.CONTROLS.get(each[1], each[1]), fields[self.column]))

    def missing(self, files):
        """How many of them an archive lacks, by its files' names."""
        return sum(1 for name in self.names if f"filestore/{name.decode(errors='replace')}" not in files)


COMPLETE = b"\n-- PostgreSQL database dump complete\n"


class Dump:
    """Passes a dump on without the two lines that only the newest clients know, where pg_dump puts them and nowhere else."""

    HEAD = re.compile(rb"\A((?:--[^\n]*\n|\n)*)\\restrict ([A-Za-z0-9]+)\n")
    # Extensions that only a superuser can create exist already, and nobody else may comment on them. The settings are those of
    # servers that are newer or much older than ours.
    OTHERS = re.compile(
        rb"^(?:COMMENT ON EXTENSION (?:vector|plpgsql) IS |SET (?:default_with_oids|transaction_timeout) = )[^\n]*;\n", re.MULTILINE
    )
    ROWS = re.compile(rb"^(?:COPY|INSERT) ", re.MULTILINE)
    # What a dump begins with. Settings that a later version may add there are not those of its data.
    SETTINGS = re.compile(rb"\A(?:(?:--|SELECT pg_catalog\.set_config)[^\n]*\n|\n|SET [a-z_]+ = [^\n]*;\n)*")
    SETTING = re.compile(rb"^SET ([a-z_]+) = [^\n]*;\n", re.MULTILINE)
    KNOWN = frozenset(
        b"statement_timeout lock_timeout idle_in_transaction_session_timeout client_encoding standard_conforming_strings "
        b"check_function_bodies xmloption client_min_messages row_security search_path default_tablespace "
        b"default_table_access_method escape_string_warning".split()
    )
    TAIL = 512

    def __init__(self, out, scan=None):
        self.out, self.held, self.token, self.begun = out, b"", None, False
        self.scan = scan

    def feed(self, piece):
        self.held += piece
        if len(self.held) < PIECE:
            return
        self.begin()
        self.write(self.held[: -self.TAIL])
        self.held = self.held[-self.TAIL :]

    def begin(self):
        if self.begun:
            return
        self.begun = True
        found = self.HEAD.match(self.held)
        if found:
            self.token, self.held = found[2], found[1] + self.held[found.end() :]
        rows = self.ROWS.search(self.held)
        end = rows.start() if rows else len(self.held)
        self.held = self.OTHERS.sub(b"", self.held[:end]) + self.held[end:]
        head = self.SETTINGS.match(self.held).end()
        self.held = self.SETTING.sub(lambda each: each[0] if each[1] in self.KNOWN else b"", self.held[:head]) + self.held[head:]

    def close(self):
        self.begin()
        if self.token is not None:
            self.held = re.sub(rb"\n\\unrestrict %s\n*\Z" % self.token, b"\n", self.held)
        self.write(self.held)
        if self.out is not None:
            try:
                self.out.flush()
            except BrokenPipeError:
                pass

    def write(self, data):
        """If its reader has gone the archive is read to its end all the same, so that it is seen what is wrong."""
        if self.scan is not None:
            self.scan.feed(data)
        if self.out is None:
            return
        try:
            self.out.write(data)
        except BrokenPipeError:
            self.out = None


class Scan:
    """
    Finds what no ERP's dump contains: commands that leave the database. Whoever wants to hide them from this can. What keeps them inside is that
    the dump is loaded by a role without privileges, in containers without a network; this only names the obvious ones.
    """

    COPY = re.compile(rb"\nCOPY [^\n;]* FROM stdin;\n")
    END = re.compile(rb"\n\\\.\r?\n")
    # In rows, a backslash begins an escape: these are none.
    IN_ROWS = re.compile(rb"\n\\[^N\\.bfnrtv0-9x][^\n]{0,40}")
    # Linear on hostile text: a long run is neither matched anew from each of its characters, nor divided between two unbounded repeats.
    IN_SQL = re.compile(
        rb"""
        \n[ \t]*\\[^\n]{0,40} | \\(?:!|copy\b|lo_(?:im|ex)port\b|setenv\b|o(?:ut)?[ \t]*\|)
        | \bCOPY\s+(?!FROM\b|TO\b|\s)(?:(?!\bCOPY\s)[^;']){1,500}\b(?:FROM|TO)\s+(?:PROGRAM\b|E?'|\$)
        | [\n;][ \t\r\f\v]*(?:CREATE|ALTER)\s+(?:SYSTEM|ROLE|USER|GROUP|DATABASE|TABLESPACE|SUBSCRIPTION|SERVER|FOREIGN\s+DATA|EVENT\s+TRIGGER)\b
        | [\n;][ \t\r\f\v]*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TRUSTED\s+)?(?:PROCEDURAL\s+)?LANGUAGE\b
        | \bCREATE\s+EXTENSION\s+(?:IF\s+NOT\s+EXISTS\s+)?"?(?:plpython|plperlu|pltclu|plsh|dblink|postgres_fdw|file_fdw|adminpack)\w*
        | \bLANGUAGE\s+["']?(?:c|internal|plpython\w*|plperlu|pltclu|plsh)\b
        | \b(?:pg_read_file|pg_read_binary_file|pg_ls_dir|pg_stat_file|pg_file_\w+|lo_import|lo_export|dblink\w*)\s*\(
        """,
        re.IGNORECASE | re.VERBOSE,
    )
    OVERLAP = 4096

    def __init__(self):
        self.text, self.rows = b"\n", False

    def feed(self, data):
        text, start = self.text + data, 0
        while True:
            place = (self.END if self.rows else self.COPY).search(text, start)
            found = (self.IN_ROWS if self.rows else self.IN_SQL).search(text, start, place.start() + 1 if place else len(text))
            if found:
                raise Unusable(f"its dump contains a command that leaves the database: {shown(found[0].strip())}")
            if not place:
                break
            start, self.rows = place.end() - 1, not self.rows
        held = 8 if self.rows else max(self.OVERLAP, min(len(text) - text.rfind(b"\n"), PIECE))
        self.text = text[max(start, len(text) - held) :]


# --- Commands ------------------------------------------------------------------------------------------------------------------


def snapshot(database):
    source = folder(database, make=True)
    remove(SNAPSHOT)
    target = folder(SNAPSHOT, make=True)
    known = set()
    size = link_into(source, target, known)
    return {"files": len(known), "bytes": size}


def pack(database, part_bytes):
    source, target = folder(database, make=True), folder(SNAPSHOT, make=True)
    listed, tail = Listed(), b""

    # A file that came after the snapshot may be in the dump, and be deleted before its turn: the snapshot grows until the dump,
    # which sees the database as it was at its start, has begun.
    linked = set(walk(target))
    begun = threading.Event()

    def keep_linking():
        while True:
            last = begun.is_set()
            link_into(source, target, linked)
            if last:
                return
            begun.wait(0.02)

    linking = threading.Thread(target=keep_linking, daemon=True)
    linking.start()

    def dump():
        nonlocal tail
        with open("/in", "rb") as incoming:
            while piece := incoming.read(PIECE):
                listed.feed(piece)
                if listed.begun:
                    begun.set()
                tail = (tail + piece)[-4096:]
                yield piece

    now = time.time()
    out = Writer(open("/out", "wb"), int(part_bytes))
    out.add("dump.sql", dump(), now)
    begun.set()
    linking.join()
    if COMPLETE not in tail:
        raise Failure("The database could not be dumped completely")

    packed, skipped = Names(), []

    def skip(name):
        skipped.append(shown(name) if len(skipped) < NAMES_REPORTED else "")

    def add(top, name, skip=lambda name: None):
        try:
            entry = f"filestore/{name.decode()}"
        except UnicodeDecodeError:
            return skip(name)
        if entry in packed.sizes:
            return None
        if len(name) > NAME_MAX:
            return skip(name)
        try:
            file = os.open(os.path.join(top, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError:
            return skip(name)
        with open(file, "rb", buffering=0) as content:
            status = os.fstat(file)
            # In the snapshot, the ERP's code may have made a file of what is a folder in its files.
            if not stat.S_ISREG(status.st_mode) or packed.clash(entry):
                return skip(name)
            out.add(entry, pieces_of(content, status.st_size), status.st_mtime)

    for name in walk(target):
        add(target, name)
    for name in walk(source, skip):  # what could not be linked, and what is new
        add(source, name, skip)
    missing = listed.missing(packed.sizes)
    manifest = json.loads(sys.stdin.buffer.read(1 << 22))
    manifest |= {"version": erp_version(manifest["major_version"]), "missing_files": missing, "skipped_files": len(skipped)}
    out.add("manifest.json", [json.dumps(manifest, indent=4).encode()], now)
    out.close()
    remove(SNAPSHOT)
    report = {"files": len(packed.sizes), "missing_files": missing, "skipped_files": len(skipped), "skipped_paths": skipped[:NAMES_REPORTED]}
    return report | out.sums()


def pieces_of(content, size):
    """As long as it was when it was opened: a file that grows without end must not become an archive without end."""
    while size > 0 and (piece := content.read(min(PIECE, size))):
        size -= len(piece)
        yield piece


def shown(name):
    text = name.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)[:120]


def erp_version(major):
    try:
        from odoo.release import version
    except Exception:  # noqa: BLE001 an image without it
        return major
    return version


def incoming_archive():
    signal.alarm(ARCHIVE_SECONDS)
    incoming = open("/in", "rb")
    signal.alarm(0)
    return incoming


def list_archive(bounded=None):
    dump, rest, manifest, entries = None, 0, False, 0
    archive = Kept(incoming_archive())
    for name, size in archive.listing():
        entries += 1
        if name == "dump.sql":
            dump = size
        else:
            rest += size
            manifest = manifest or name == "manifest.json"
    if dump is None or not manifest:
        raise Unusable("it has no database" if dump is None else "it has no manifest")
    if bounded and (entries > ENTRIES_MAX or dump + rest > max(RATIO_FREE, RATIO_MAX * archive.size)):
        raise Unusable("it unpacks to too much")
    return {"dump_bytes": dump, "file_bytes": rest, "entries": entries}


def unpack(new, base=None, drill=False, allowed=None, entries_max=None):
    reader = Reader(incoming_archive(), allowed, entries_max)
    sql = open("/out", "wb") if os.path.exists("/out") else None
    report = {"version": None}
    listed, target = None, None
    if new != "-":
        remove(new)
        target = folder(new, make=True)
        if base is not None and exists(base):
            link_into(folder(base), target, set())
    try:
        for name, pieces in reader.entries():
            if name == "dump.sql":
                listed = pass_on(pieces, sql, None if allowed is None else Scan())
            elif name == "manifest.json":
                manifest = read_manifest(pieces)
                rows, about = manifest.pop("rows"), manifest.pop("about")
                report |= about if allowed is not None else {}
                if drill and rows is not None:
                    with open(COUNTS, "w") as kept:
                        json.dump(rows, kept)
                report |= manifest
            else:
                write_file(target, name.removeprefix("filestore/"), pieces)
        if listed is None:
            raise Unusable("it has no database")
        if report["version"] is None:
            raise Unusable("it has no manifest")
        report["missing_files"] = listed.missing(reader.names.sizes)
    except Unusable:
        reader.drain()  # its checksum tells more than what was found out here
        raise
    return report


def pass_on(pieces, sql, scan):
    dump, listed = Dump(sql, scan), Listed()
    for piece in pieces:
        listed.feed(piece)
        dump.feed(piece)
    dump.close()
    return listed


# Of how many files were missing when an archive was made that does not say it: any number may be.
UNKNOWN = 10**12


def read_manifest(pieces):
    text = b""
    for piece in pieces:
        text += piece
        if len(text) > 1 << 24:
            raise Unusable("its manifest is too long")
    try:
        manifest = json.loads(text)
        version, missing, rows = manifest["major_version"], manifest.get("missing_files", UNKNOWN), manifest.get("rows")
        enterprise, name = "web_enterprise" in (manifest.get("modules") or {}), str(manifest.get("db_name", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unusable("it has no manifest") from None
    if not isinstance(version, str) or not re.fullmatch(r"[0-9]{1,3}\.[0-9]{1,3}", version) or type(missing) is not int or missing < 0:
        raise Unusable("it has no manifest")
    about = {"edition": "enterprise" if enterprise else "community", "database_name": re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:63] or "imported"}
    return {
        "version": version, "known_missing": min(missing, UNKNOWN), "rows": rows if isinstance(rows, dict) and rows else None, "about": about,
    }  # fmt: skip


def rows():
    counted = dict(map(json.loads, sys.stdin.buffer))
    try:
        with open(COUNTS) as kept:
            expected = json.load(kept)
    except FileNotFoundError:
        return {"passed": None, "detail": "The archive has no row counts"}
    wrong = sorted(name for name in counted.keys() | expected.keys() if counted.get(name) != expected.get(name))
    if not wrong:
        return {"passed": True, "detail": f"All {len(counted)} tables have as many rows as in the backup"}
    first = wrong[0]
    what = "1 table differs" if len(wrong) == 1 else f"{len(wrong)} tables differ"
    detail = f"{what}: {shown(first.encode())} has {counted.get(first, 'no')} rows instead of {expected.get(first, 'none')}"
    return {"passed": False, "detail": detail}


def sha1_of(content):
    digest = hashlib.sha1(usedforsecurity=False)
    while piece := content.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


def verify(database, known):
    place = folder(database)
    wanted = dict(map(json.loads, sys.stdin.buffer))

    def fault(name):
        if ".." in name.split("/"):
            return "missing"
        try:
            with open(os.open(os.path.join(place, name.encode()), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as content:
                found = sha1_of(content) if wanted[name] else None
        except OSError:
            return "missing"
        return "wrong" if found != wanted[name] else None

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        faults = list(zip(wanted, pool.map(fault, wanted)))
    missing, wrong = ([name for name, fault in faults if fault == kind] for kind in ("missing", "wrong"))
    report = [f"{len(wrong)} of {len(wanted)} files have another content, such as {shown(wrong[0].encode())}"] if wrong else []
    if len(missing) > int(known):
        report.append(f"{len(missing)} of {len(wanted)} files are missing, such as {shown(missing[0].encode())}; {known} were when it was made")
    elif missing:
        report.append(f"{len(missing)} of {len(wanted)} files are missing, as when it was made")
    passed = not wrong and len(missing) <= int(known)
    return {"passed": passed, "detail": "; ".join(report) or f"All {len(wanted)} files have their content"}


def write_file(target, name, pieces):
    if target is None or name == "" or name.endswith("/"):
        for _ in pieces:
            pass
        return
    path = os.path.join(target, name.encode())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)  # a link to the present file, which must stay as it is
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb", buffering=0) as out:
        for piece in pieces:
            out.write(piece)


def measure(database):
    place = folder(database)
    return {"bytes": sum(allocated(os.path.join(place, name)) for name in walk(place))}


def allocated(path):
    try:
        return os.lstat(path).st_blocks * 512
    except FileNotFoundError:
        return 0  # the ERP has removed it since


def missing(database):
    files = set(walk(folder(database)))
    wanted = {line.rstrip(b"\n") for line in sys.stdin.buffer}
    return {"missing_files": len(wanted - files - {b""})}


def prepare(new, old):
    """Before the first try of a swap, when nothing but this changes the files any more: later ones tell by OLD what was done."""
    folder(None)
    remove(old)
    if not exists(new):
        raise Failure("The restored files are not there any more: the ERP removed them")
    folder(new)
    return {}


def swap(new, database, old, merge=None):
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


def swap_back(old, database, new):
    folder(None)
    if not exists(old):
        return {}
    if exists(database):
        os.rename(folder(database), os.path.join(STORE, os.fsencode(new)))
    os.rename(folder(old), os.path.join(STORE, os.fsencode(database)))
    return {}


def synced(command):
    """What it wrote is on the disk when it reports: the next step relies on that, also after the machine lost its power."""

    def run(*arguments):
        report = command(*arguments)
        os.sync()
        return report

    return run


COMMANDS = {
    "snapshot": snapshot,
    "pack": pack,
    "list": list_archive,
    "unpack": synced(unpack),
    "try": lambda new: unpack(new, drill=True),
    "import": lambda new, bytes, entries: unpack(new, allowed=int(bytes), entries_max=int(entries)),
    "rows": rows,
    "verify": verify,
    "measure": measure,
    "missing": missing,
    "prepare": prepare,
    "swap": synced(swap),
    "swap_back": synced(swap_back),
    "remove": lambda *names: [remove(name) for name in names] and {},
}


def main(command, *arguments):
    try:
        report, code = COMMANDS[command](*arguments), 0
    except Unusable as error:
        report, code = {"error": str(error)}, 3
    except Failure as error:
        report, code = {"error": str(error)}, 4
    print(json.dumps(report), file=sys.stderr, flush=True)
    os._exit(code)  # without the flush of a stdout that nobody reads any more


main(*sys.argv[1:])
