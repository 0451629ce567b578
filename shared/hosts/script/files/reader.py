# Reads archives, which may come from anyone, as a stream. What an archive says of itself is believed only where what is read
# bears it out.
import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from typing import NamedTuple

from archive import CENTRAL, DESCRIPTOR, END, END64, LOCAL, LOCATOR64, MAX16, MAX32, PIECE, STREAMED, UTF8, Names
from layout import HEAD_BYTES, filled, kind_of, own_name, shown, unusable, what_it_is
from tables import RULES

# The most that is read of an archive's end: the listing of four million files.
LISTING_MAX = 512 << 20
# The records behind a listing, with the longest comment, and more.
RECORDS_MAX = 1 << 17
ENCRYPTED = 0x2041
KEY = os.urandom(16)


class Entry(NamedTuple):
    """What a zip's listing, and the file's own head, say of a file. `place` is where it begins."""

    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    place: int

    def require_readable(self) -> None:
        if self.flags & ENCRYPTED:
            raise unusable("encrypted")
        if self.method not in (0, 8):
            number = str(self.method)
            method = RULES["methods"].get(number) or filled(RULES["sentences"]["unknownMethod"], number=number)
            raise unusable("method", name=shown(self.name), method=method)


class Fingerprint:
    """Whether two sets of entries are the same, whatever their order, in constant memory. Nobody outside knows the key."""

    def __init__(self) -> None:
        self.sum, self.count = 0, 0

    def add(self, name: str, method: int, crc: int, packed: int, size: int, place: int) -> None:
        digest = hashlib.blake2b(repr((name, method, crc, packed, size, place)).encode(), key=KEY, digest_size=16).digest()
        self.sum = (self.sum + int.from_bytes(digest, "big")) % (1 << 128)
        self.count += 1


class Reader:
    """What comes in, entry by entry."""

    def __init__(self, source: BufferedIOBase, allowed: int | None = None, entries_max: int | None = None) -> None:
        self.source, self.held, self.fetched = source, b"", 0
        self.allowed, self.entries_max = allowed, entries_max
        self.names, self.found = Names(), Fingerprint()
        self.top: tuple[str, ...] | None = None

    @property
    def place(self) -> int:
        return self.fetched - len(self.held)

    def some(self) -> bytes:
        if not self.held:
            self.held = self.source.read1(PIECE)
            self.fetched += len(self.held)
        data, self.held = self.held, b""
        return data

    def exactly(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count > 0:
            data = self.some()
            if not data:
                raise unusable("damaged")
            parts.append(data[:count])
            self.held = data[count:]
            count -= len(parts[-1])
        return b"".join(parts)

    def drain(self) -> None:
        while self.some():
            pass

    def entries(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """
        Paths in the backup with their contents, in pieces, which must be read to the end before the next. Then the listing is
        compared.
        """
        while True:
            place, mark = self.place, self.exactly(4)
            if mark != LOCAL:
                break
            _, flags, method, _, _, crc, packed, size, name_length, extra_length = struct.unpack("<HHHHHLLLHH", self.exactly(26))
            raw, extra = self.exactly(name_length), self.exactly(extra_length)
            size, packed = widened(extra, size, packed)
            entry = Entry(name_of(raw, flags, extra), flags, method, crc, packed, size, place)
            if self.entries_max is not None and self.found.count >= self.entries_max:
                raise unusable("moreFiles")
            entry.require_readable()
            path = self.path_of(entry.name)
            pieces = self.counted(path, self.contents(entry))
            if path is None:
                for _ in pieces:
                    pass
            else:
                yield path, pieces
        self.compare(mark)
        self.drain()

    def path_of(self, name: str) -> str | None:
        """Its path in the backup, whose folder is that of the first file; None if it is left out."""
        own = own_name(name)
        if own is None:
            return None
        top, path = own
        self.top = top if self.top is None else self.top
        if top != self.top:
            raise unusable("apart", name="/".join([*map(shown, self.top), "\N{HORIZONTAL ELLIPSIS}"]), other=shown(name))
        if clash := self.names.clash(path):
            raise unusable(clash, name=shown(name))
        return path

    def counted(self, path: str | None, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            if path is not None:
                self.names.sizes[path] += len(piece)
            if self.allowed is not None:
                self.allowed -= len(piece)
                if self.allowed < 0:
                    raise unusable("moreBytes")
            yield piece

    def contents(self, entry: Entry) -> Iterator[bytes]:
        streamed = bool(entry.flags & STREAMED)
        if entry.method == 8:
            source = self.inflated()
        elif streamed and entry.packed == 0:
            source = self.until_descriptor()
        else:
            source = self.stored(entry.packed)
        start, crc, size = self.place, 0, 0
        for piece in source:
            crc = zlib.crc32(piece, crc)
            size += len(piece)
            if piece:
                yield piece
        packed = self.place - start
        if streamed:
            self.descriptor(crc, packed, size)
        elif (entry.crc, entry.packed, entry.size) != (crc, packed, size):
            raise unusable("damaged")
        self.found.add(entry.name, entry.method, crc, packed, size, entry.place)

    def inflated(self) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(-15)
        while not unpacker.eof:
            data = self.some()
            if not data:
                raise unusable("damaged")
            try:
                piece = unpacker.decompress(data, PIECE)
            except zlib.error:
                raise unusable("damaged") from None
            self.held = unpacker.unconsumed_tail or unpacker.unused_data
            yield piece

    def stored(self, size: int) -> Iterator[bytes]:
        while size > 0:
            data = self.some()
            if not data:
                raise unusable("damaged")
            piece, self.held = data[:size], data[size:]
            size -= len(piece)
            yield piece

    def until_descriptor(self) -> Iterator[bytes]:
        """A stored file whose size only follows it ends where a descriptor bears out all that was read."""
        crc, size, data = 0, 0, b""
        while more := self.some():
            data, at = data + more, 0
            while (mark := data.find(DESCRIPTOR, at)) >= 0 and mark + 24 <= len(data):
                crc, size, piece = zlib.crc32(data[at:mark], crc), size + mark - at, data[at:mark]
                yield piece
                sums = data[mark + 4 : mark + 24]
                if sums == struct.pack("<LQQ", crc, size, size) or (
                    size <= MAX32 and sums[:12] == struct.pack("<LLL", crc, size, size)
                ):
                    self.held = data[mark:]
                    return
                crc, size, at = zlib.crc32(DESCRIPTOR, crc), size + 4, mark + 4
                yield DESCRIPTOR
            end = mark if mark >= 0 else max(len(data) - 3, at)
            crc, size, piece = zlib.crc32(data[at:end], crc), size + end - at, data[at:end]
            data = data[end:]
            yield piece
        raise unusable("damaged")

    def descriptor(self, crc: int, packed: int, size: int) -> None:
        """With or without its mark, with sizes of 4 or of 8 bytes: nothing says which."""
        data = self.exactly(12)
        if data[:4] == DESCRIPTOR:
            data = data[4:] + self.exactly(4)
        if max(packed, size) > MAX32 or data != struct.pack("<LLL", crc, packed, size):
            data += self.exactly(8)
            if data != struct.pack("<LQQ", crc, packed, size):
                raise unusable("damaged")

    def compare(self, mark: bytes) -> None:
        """
        Its listing must have the same files at the same places, with the same sizes and checksums: programs differ in which of
        the two they believe.
        """
        start, listed = self.place - 4, Fingerprint()
        while mark == CENTRAL:
            entry = listed_entry(self.exactly)
            listed.add(entry.name, entry.method, entry.crc, entry.packed, entry.size, entry.place)
            mark = self.exactly(4)
        size = self.place - 4 - start
        if (listed.sum, listed.count) != (self.found.sum, self.found.count):
            raise unusable("listing" if mark in (END, END64) else "damaged")
        if mark == END64:
            more, _, _, _, _, *said = struct.unpack("<QHHLLQQQQ", self.exactly(52))
            self.exactly(min(more, LISTING_MAX) - 44)
            if said[1:] != [listed.count, size, start] or self.exactly(4) != LOCATOR64:
                raise unusable("listing")
            self.exactly(16)
            mark = self.exactly(4)
        if mark != END:
            raise unusable("damaged")
        _, _, _, count, *said = struct.unpack("<HHHHLL", self.exactly(16))
        if count not in (listed.count & MAX16, MAX16) or any(
            value not in (real, MAX32) for value, real in zip(said, (size, start), strict=True)
        ):
            raise unusable("listing")


def listed_entry(exactly: Callable[[int], bytes]) -> Entry:
    """A file in a listing, behind its mark. It is no link."""
    head = struct.unpack("<HHHHHHLLLHHHHHLL", exactly(42))
    made_by, _, flags, method, _, _, crc, packed, size, name_length, extra_length, note_length, _, _, attributes, place = head
    raw, extra = exactly(name_length), exactly(extra_length)
    exactly(note_length)
    kind = stat.S_IFMT(attributes >> 16) if made_by >> 8 in (3, 19) else 0  # Unix and macOS
    if kind == stat.S_IFLNK:
        raise unusable("links")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise unusable("devices")
    size, packed, place = widened(extra, size, packed, place)
    return Entry(name_of(raw, flags, extra), flags, method, crc, packed, size, place)


class Further(Exception):
    """The end of an archive that was fetched is too short: it is needed from this place on."""

    def __init__(self, place: int) -> None:
        self.place = place


class Ends:
    """
    An archive's first bytes, and behind them its end from a place on, in one file: its listing is there. From its beginning on,
    it is the archive.
    """

    def __init__(self, file: BufferedIOBase, size: int, start: int) -> None:
        self.file, self.size, self.start = file, size, start
        self.head = file.read(HEAD_BYTES)

    def go_to(self, place: int) -> None:
        self.file.seek(place - self.start + (HEAD_BYTES if self.start else 0))

    def listing(self) -> Iterator[Entry]:
        """Its entries, of which none was read yet."""
        if self.head[:4] not in (LOCAL, END) or is_spoiled(self.head):
            raise what_it_is(self.head)
        start, size, count = self.listed_at()
        if self.size - start > LISTING_MAX:
            raise unusable("listingTooLong")
        if start < self.start:
            raise Further(start)
        self.go_to(start)
        reader, found = Reader(self.file), 0
        while reader.place < size:
            if reader.exactly(4) != CENTRAL:
                raise unusable("damaged")
            entry = listed_entry(reader.exactly)
            entry.require_readable()
            found += 1
            yield entry
        if found & MAX16 != count & MAX16:
            raise unusable("listing")

    def listed_at(self) -> tuple[int, int, int]:
        """
        Where its listing begins, how long it is, and how many files it has, by the record at its end. A comment may look like
        another one.
        """
        before = max(self.start, self.size - RECORDS_MAX)
        faults: list[str] = []
        self.go_to(before)
        end = self.file.read()
        place = len(end)
        while (place := end.rfind(END, 0, place)) >= 0:
            if len(end) - place < 22:
                continue
            disk, _, _, count, size, start = struct.unpack("<HHHHLL", end[place + 4 : place + 20])
            stop, disks = before + place, 1
            if end[max(place - 20, 0) : place][:4] == LOCATOR64:
                wide, disks = struct.unpack("<QL", end[place - 12 : place])
                record = wide - before
                if 0 <= record <= len(end) - 56 and end[record : record + 4] == END64:
                    count, size, start = struct.unpack("<QQQ", end[record + 32 : record + 56])
                    stop = wide
            if disk not in (0, MAX16) or disks > 1:
                faults.append("split")
            elif start + size == stop:
                return start, size, count
            elif stop > MAX32 and (start + size - stop) % (1 << 32) == 0:
                faults.append("hugeWithoutZip64")
            else:
                faults.append("beginning" if start + size > stop else "before")
        if before > max(self.size - RECORDS_MAX, 0):
            raise Further(max(self.size - RECORDS_MAX, 0))
        raise unusable(faults[0] if faults else "incomplete")


def is_spoiled(head: bytes) -> bool:
    kind = kind_of(head)
    return kind is not None and "spoiled" in kind


def extra_field(extra: bytes, wanted: int) -> bytes | None:
    while len(extra) >= 4:
        kind, length = struct.unpack("<HH", extra[:4])
        if kind == wanted:
            return extra[4 : 4 + length]
        extra = extra[4 + length :]
    return None


def widened(extra: bytes, *values: int) -> Iterator[int]:
    """Values that are too large for 32 bits are in an extra field, in this order."""
    wide = extra_field(extra, 1) or b""
    for value in values:
        if value == MAX32 and len(wide) >= 8:
            yield int.from_bytes(wide[:8], "little")
            wide = wide[8:]
        else:
            yield value


def name_of(raw: bytes, flags: int, extra: bytes) -> str:
    """In UTF-8, whether it is declared or not, or as MS-DOS wrote it."""
    declared = extra_field(extra, 0x7075)
    if not flags & UTF8 and declared is not None and declared[:5] == struct.pack("<BL", 1, zlib.crc32(raw)):
        raw = declared[5:]
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace") if flags & UTF8 else raw.decode("cp437")
