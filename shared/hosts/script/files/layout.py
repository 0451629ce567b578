# What is in an archive, by the names and the first bytes of its files. RULES is shared with the sandbox: archive-rules.ts.
from __future__ import annotations

import re
import unicodedata
import zlib
from typing import TYPE_CHECKING

from tables import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tables import Kind  # described by tables.pyi alone

HEAD_BYTES = 4096
# So many names, statements or paths are named in a report.
NAMES_REPORTED = 20
# So many names are looked at to say what an archive without a dump is.
NAMES_EXAMINED = 1000
ADDED = re.compile(RULES["added"], re.IGNORECASE | re.ASCII)
ADDED_OR_FOLDER = re.compile(RULES["added_or_folder"], re.IGNORECASE | re.ASCII)
HASHED = re.compile("[0-9a-f]{2}/[0-9a-f]{40}", re.IGNORECASE)
HASHED_AT_END = re.compile(r"(?:^|/)[0-9a-f]{2}/[0-9a-f]{40}\Z", re.IGNORECASE)
IN_FOLDER = re.compile("filestore/(?:(.+)/)?[0-9a-f]{2}/[0-9a-f]{40}")


class Unusable(Exception):
    """The archive is invalid."""


def unusable(sentence: str, **values: str) -> Unusable:
    return Unusable(filled(RULES["sentences"][sentence], **values))


def filled(sentence: str, **values: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda each: values[each[1]], sentence)


def shown(name: str | bytes) -> str:
    text = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)[:120]


def kind_of(head: bytes) -> Kind | None:
    """What a file is, by its first bytes; None if that is unknown."""
    text = head[:HEAD_BYTES].decode("latin-1")
    return next((kind for kind in RULES["kinds"] if re.search(kind["pattern"], text, re.IGNORECASE | re.ASCII)), None)


def what_it_is(head: bytes) -> Unusable:
    """The sentence about a file that is no zip."""
    kind = kind_of(head)
    if kind is None:
        return unusable("noZip")
    if head[:2] == b"\x1f\x8b" and (inner := kind_of(unzipped_head(head))):
        return unusable("inGzip", **about(inner))
    return unusable("kind", **about(kind))


def about(kind: Kind) -> dict[str, str]:
    return {"is": kind["is"], "advice": kind["advice"]}


def unzipped_head(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    except zlib.error:
        return b""


def added_part(parts: list[str]) -> str | None:
    """The folder or file in a path that systems and programs add; None if there is none."""
    return next((part for part in parts if ADDED.fullmatch(part)), None)


def path_parts(name: str) -> list[str]:
    """Without "./" at its beginning. Names without a slash have Windows' separators."""
    parts = (name if "/" in name else name.replace("\\", "/")).split("/")
    while len(parts) > 1 and parts[0] == ".":
        del parts[0]
    return parts


def own_name(name: str) -> tuple[tuple[str, ...], str] | None:
    """
    A path of an archive as the folders around a backup and the path in it; None for folders, and for what systems and programs
    add. Some file systems change the case of letters.
    """
    parts = path_parts(name)
    is_folder = parts[-1] == ""
    if is_folder:
        del parts[-1]
    if (
        "\0" in name
        or len(parts) > RULES["depth_max"]
        or any(part in ("", ".", "..") or len(part.encode()) > 255 for part in parts)
    ):
        raise unusable("strange", name=shown(name))
    if is_folder or added_part(parts) is not None or ADDED_OR_FOLDER.fullmatch(parts[-1]):
        return None
    for place, part in enumerate(parts):
        rest, word = parts[place + 1 :], part.lower()
        if not rest and word in ("dump.sql", "manifest.json"):
            return tuple(parts[:place]), word
        if rest and word == "filestore":
            path = "/".join(rest)
            if len(path.encode()) > RULES["name_bytes_max"]:
                raise unusable("strange", name=shown(name))
            return tuple(parts[:place]), "filestore/" + HASHED_AT_END.sub(lambda found: found[0].lower(), path)
    if any(ADDED_OR_FOLDER.fullmatch(part) for part in parts):
        return None
    raise unusable("strange", name=shown(name))


def extra_folder(paths: Iterable[str], database: str) -> str | None:
    """
    The folder in filestore/ that has all of the ERP's files, such as that of the database which was packed with them. Of several,
    it is the one with this database's name.
    """
    folders = {found[1] for path in paths if (found := IN_FOLDER.fullmatch(path))}
    # Where the ERP notes which files it may remove.
    folders = {name for name in folders if name is None or last(name).lower() != "checklist"}
    named = sorted(name for name in folders if name is not None)
    if len(named) < len(folders) or len(named) < 2:
        return named[0] if len(folders) == len(named) == 1 else None
    own = [name for name in named if last(name) == database] or [name for name in named if same_name(last(name), database)]
    if len(own) != 1:
        raise unusable("filestores", name=shown(named[0]), other=shown(named[1]))
    return own[0]


def last(path: str) -> str:
    return path.rpartition("/")[2]


def same_name(one: str, other: str) -> bool:
    """But for what file systems change."""
    return unicodedata.normalize("NFC", one).lower() == unicodedata.normalize("NFC", other).lower()


class Contents:
    """What an archive's listing says that it contains, before anything is unpacked."""

    def __init__(self) -> None:
        # By the folders around them.
        self.dumps: dict[tuple[str, ...], str] = {}
        self.manifests: set[tuple[str, ...]] = set()
        self.first: dict[tuple[str, ...], str] = {}
        self.strange: Unusable | None = None
        self.astray: dict[str, Unusable] = {}
        self.skipped: str | None = None
        self.names: list[str] = []
        self.dump_bytes, self.file_bytes, self.entries, self.files = 0, 0, 0, 0

    def add(self, name: str, size: int) -> None:
        self.entries += 1
        self.file_bytes += size
        try:
            own = own_name(name)
        except Unusable as error:
            self.strange = self.strange or error
            self.note_astray(name)
            self.note(name)
            return
        if own is None:
            *folders, file = path_parts(name)
            if self.skipped is None and file.lower() == "dump.sql":
                self.skipped = added_part(folders)
            return
        self.note(name)
        top, path = own
        if path == "dump.sql":
            self.dumps.setdefault(top, name)
            self.dump_bytes, self.file_bytes = size, self.file_bytes - size
        elif path == "manifest.json":
            self.manifests.add(top)
        else:
            self.files += 1
        if top not in self.first and len(self.first) < NAMES_EXAMINED:
            self.first[top] = name

    def note(self, name: str) -> None:
        if len(self.names) < NAMES_EXAMINED:
            self.names.append(name)

    def note_astray(self, name: str) -> None:
        for row in RULES["astray"]:
            if row["lacks"] not in self.astray and re.search(row["pattern"], name, re.IGNORECASE | re.ASCII):
                self.astray[row["lacks"]] = Unusable(filled(row["says"], name=shown(name)))

    def require_backup(self) -> None:
        if not self.dumps:
            raise self.without_dump()
        top, *others = self.dumps
        if others:
            raise unusable("several", name=shown(self.dumps[top]), other=shown(self.dumps[others[0]]))
        for other, name in self.first.items():
            if other != top:
                raise unusable("apart", name=shown(self.dumps[top]), other=shown(name))
        if not self.files and (error := self.astray.get("filestore")):
            raise error
        if not self.manifests:
            raise self.astray.get("manifest") or unusable("noManifest")
        if self.strange:
            raise self.strange

    def without_dump(self) -> Unusable:
        if not self.names:
            return unusable("empty") if self.skipped is None else unusable("skipped", name=shown(self.skipped))
        for row in RULES["inside"]:
            for name in self.names:
                if re.search(row["pattern"], name, re.IGNORECASE | re.ASCII):
                    return Unusable(filled(row["says"], name=shown(name)))
        return unusable("noDump", name=shown(self.names[0]))


class DumpKind:
    """Whether a dump.sql is a plain SQL dump of PostgreSQL, and whole: what is cut off may be valid SQL all the same."""

    HEADER = re.compile(rb"^-- PostgreSQL database dump\r?$", re.MULTILINE)
    FOOTER = re.compile(rb"^-- PostgreSQL database dump complete\r?$", re.MULTILINE)

    def __init__(self) -> None:
        self.head, self.tail, self.known = b"", b"", False

    def feed(self, piece: bytes) -> None:
        if len(self.head) < HEAD_BYTES:
            self.head += piece[:HEAD_BYTES]
            if len(self.head) >= HEAD_BYTES:
                self.examine()
        self.tail = (self.tail + piece)[-HEAD_BYTES:]

    def examine(self) -> None:
        if self.known:
            return
        self.known = True
        kind = kind_of(self.head)
        if kind is not None and "dump" not in kind:
            raise unusable("dump", **about(kind))

    def close(self) -> None:
        if not self.head:
            raise unusable("emptyDump")
        self.examine()
        if self.HEADER.search(self.head) and not self.FOOTER.search(self.tail):
            raise unusable("incompleteDump")
