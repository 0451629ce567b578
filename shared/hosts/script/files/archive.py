# Writes archives, the ERP's own zip, as a stream.
import base64
import collections
import concurrent.futures
import hashlib
import os
import stat
import struct
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

PIECE = 1 << 20
CORES = os.cpu_count() or 1
LOCAL, CENTRAL, END, END64, LOCATOR64, DESCRIPTOR = (
    b"PK" + bytes(pair) for pair in ((3, 4), (1, 2), (5, 6), (6, 6), (6, 7), (7, 8))
)
MODE = (stat.S_IFREG | 0o644) << 16
STREAMED, UTF8 = 0x0008, 0x0800
MAX32, MAX16 = 0xFFFFFFFF, 0xFFFF


def dos_time(seconds: float) -> tuple[int, int]:
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    if not 1980 <= year <= 2107:
        return 0, 0x21
    return hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day


def deflated(data: bytes, last: bool) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)


class Names:
    """What an archive contains so far, with sizes. A name is that of one file, or of a folder."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.folders: set[str] = set()

    def clash(self, name: str) -> str | None:
        """Adds a file, or returns the sentence that says why it cannot be added."""
        if name in self.sizes:
            return "twice"
        above = [name[:end] for end, char in enumerate(name) if char == "/"]
        if name in self.folders or any(folder in self.sizes for folder in above):
            return "folder"
        self.sizes[name] = 0
        self.folders.update(above)
        return None


@dataclass
class Packing:
    """A file on its way into an archive."""

    name: bytes
    time: tuple[int, int]
    crc: int = 0
    size: int = 0
    packed: int = 0
    # As of its first piece that is written.
    offset: int = 0
    method: int = 8
    whole: bool = False  # in one piece, so that its sizes are known before it


class Piece(NamedTuple):
    of: Packing
    packed: concurrent.futures.Future[bytes]
    data: bytes
    first: bool
    last: bool
    # Checksum and size of the file so far, including this piece.
    crc: int
    size: int


class Writer:
    """Pieces are packed by all cores and written in their order. Parts are what the store gets at a time."""

    def __init__(self, out: BinaryIO, part_bytes: int) -> None:
        self.out, self.offset, self.count = out, 0, 0
        self.part_bytes = part_bytes
        self.parts: list[str] = []
        self.whole, self.part = hashlib.sha256(), hashlib.sha256()
        self.central = bytearray()
        self.pool = concurrent.futures.ThreadPoolExecutor(CORES)
        self.waiting: collections.deque[Piece] = collections.deque()

    def add(self, name: str, pieces: Iterable[bytes], changed: float) -> None:
        """Pieces of at most 1 MB; none at all is an empty file."""
        file = Packing(name.encode(), dos_time(changed))
        held, first = None, True
        for piece in pieces:
            if held is not None:
                self.submit(file, held, first, last=False)
                first = False
            held = piece
        self.submit(file, held or b"", first, last=True)

    def submit(self, file: Packing, data: bytes, first: bool, last: bool) -> None:
        file.crc = zlib.crc32(data, file.crc)
        file.size += len(data)
        self.waiting.append(Piece(file, self.pool.submit(deflated, data, last), data, first, last, file.crc, file.size))
        while len(self.waiting) > 2 * CORES:
            self.write_next()

    def write_next(self) -> None:
        file, packing, data, first, last, crc, size = self.waiting.popleft()
        packed = packing.result()
        if first:
            file.offset = self.offset
            file.whole = last
            if last and len(packed) >= len(data):
                packed, file.method = data, 0
            self.local(file, crc, len(packed), size)
        self.write(packed)
        file.packed += len(packed)
        if last:
            if not file.whole:
                self.write(struct.pack("<4sLQQ", DESCRIPTOR, crc, file.packed, size))
            self.list(file, crc, size)

    def local(self, file: Packing, crc: int, packed: int, size: int) -> None:
        head = "<4sHHHHHLLLHH"
        flags, (clock, day), name, method = UTF8, file.time, file.name, file.method
        if file.whole:
            self.write(struct.pack(head, LOCAL, 20, flags, method, clock, day, crc, packed, size, len(name), 0) + name)
        else:  # its sizes are known, and follow, when it is written
            extra = struct.pack("<HHQQ", 1, 16, 0, 0)
            flags |= STREAMED
            self.write(
                struct.pack(head, LOCAL, 45, flags, method, clock, day, 0, MAX32, MAX32, len(name), len(extra)) + name + extra
            )

    def list(self, file: Packing, crc: int, size: int) -> None:
        clock, day = file.time
        wide = [value for value in (size, file.packed, file.offset) if value >= MAX32]
        extra = struct.pack(f"<HH{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        narrow = [min(value, MAX32) for value in (file.packed, size, file.offset)]
        flags = UTF8 if file.whole else UTF8 | STREAMED
        version = 45 if wide or not file.whole else 20
        self.central += struct.pack(
            "<4sBBHHHHHLLLHHHHHLL", CENTRAL, version, 3, version, flags, file.method, clock, day, crc, narrow[0], narrow[1],
            len(file.name), len(extra), 0, 0, 0, MODE, narrow[2],
        ) + file.name + extra  # fmt: skip
        self.count += 1

    def close(self) -> None:
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
        self.out.truncate()

    def write(self, data: bytes | bytearray) -> None:
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

    def end_part(self) -> None:
        self.parts.append(base64.b64encode(self.part.digest()).decode())
        self.part = hashlib.sha256()

    def sums(self) -> dict[str, object]:
        if self.offset % self.part_bytes:
            self.end_part()
        return {"size_bytes": self.offset, "sha256": self.whole.hexdigest(), "part_bytes": self.part_bytes, "parts": self.parts}
