# Archives: the ERP's own zip, written and read as a stream.
import base64
import collections
import concurrent.futures
import hashlib
import os
import stat
import struct
import time
import zlib

PIECE = 1 << 20
CORES = os.cpu_count() or 1
# The most that is kept of an archive's end: the listing of four million files.
LISTING_MAX = 512 << 20
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
