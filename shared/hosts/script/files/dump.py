# Dumps of a database, as they pass on their way into an archive or out of one.
import re
from collections.abc import Callable, Container
from typing import BinaryIO, ClassVar

from archive import PIECE
from layout import Unusable, shown
from tables import LEAVING


def compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.IGNORECASE)


class Listed:
    """Finds out of a dump, as it passes, in which files its attachments are."""

    TABLE = b"\nCOPY public.ir_attachment ("
    LINE_MAX = 64 << 20
    ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
    CONTROLS: ClassVar = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

    def __init__(self) -> None:
        self.names: set[bytes] = set()
        self.column: int | None = None  # of the files' names, in the table that is being read
        self.begun = False
        self.held: list[bytes] = []
        self.held_bytes = 0

    def feed(self, piece: bytes) -> None:
        """Holds a line that has not ended as pieces: to look at it with each of them would take the square of its length."""
        self.held.append(piece)
        self.held_bytes += len(piece)
        if b"\n" not in piece and self.held_bytes <= self.LINE_MAX:
            return
        rest = self.read(b"".join(self.held))
        if len(rest) > self.LINE_MAX:
            rest = b"" if self.column is None else b"\n"
        self.held, self.held_bytes = [rest], len(rest)

    def read(self, text: bytes) -> bytes:
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
                        self.note(line, self.column)
                if stop < 0:
                    return text[last:]
                self.column, at = None, stop + 3

    def note(self, line: bytes, column: int) -> None:
        fields = line.split(b"\t", column + 1)
        if len(fields) > column and fields[column] != b"\\N":
            self.names.add(self.ESCAPED.sub(lambda each: self.CONTROLS.get(each[1], each[1]), fields[column]))

    def missing(self, files: Container[str]) -> set[bytes]:
        """Those that an archive lacks, by its files' names."""
        return {name for name in self.names if f"filestore/{name.decode(errors='replace')}" not in files}


COMPLETE = b"\n-- PostgreSQL database dump complete\n"


class Loading:
    """
    Passes on what is loaded. If its reader has gone, the archive is read to its end all the same, so that it is seen what is
    wrong.
    """

    def __init__(self, out: BinaryIO | None, scan: "Scan | None" = None) -> None:
        self.out, self.scan, self.held = out, scan, bytearray()

    def write(self, data: bytes) -> None:
        self.held += data
        if len(self.held) >= PIECE:
            self.pass_on()

    def pass_on(self) -> None:
        data, self.held = bytes(self.held), bytearray()
        if self.scan is not None:
            self.scan.feed(data)
        if self.out is None:
            return
        try:
            self.out.write(data)
            self.out.flush()
        except BrokenPipeError:
            self.out = None


class Scan:
    """
    Finds commands that leave the database, which no ERP's dump contains (LEAVING). It reads the dump as psql does, so that what a
    text, a comment or a row mentions is none.
    """

    MARK = re.compile(
        rb"""['"\\;] | -- | /\* | (?<![\w$\x80-\xff]) (?: [eE]' | \$ (?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)? \$ )""", re.VERBOSE
    )
    # What may become a mark with the next piece. No mark that is looked for is longer.
    UNFINISHED = re.compile(rb"(?: \$[\w\x80-\xff]{0,128} | [eE] | - | / )\Z", re.VERBOSE)
    MARK_MAX = 130
    COMMENT, ESCAPED = re.compile(rb"/\*|\*/"), re.compile(rb"\\.|''|'", re.DOTALL)
    ROWS_END = re.compile(rb"^\\\.\r?\n", re.MULTILINE)
    ROWS = re.compile(rb"COPY .* FROM STDIN\b", re.IGNORECASE)
    # Statements without any of these are not looked at any further.
    SUSPECT = re.compile(rb"copy|create|alter|load|language|dblink|pg_|lo_", re.IGNORECASE)
    BODY, ABOUT = compiled(LEAVING["body"]), compiled(LEAVING["about"])
    COPY, FILE, COMMAND = compiled(LEAVING["copy"]), compiled(LEAVING["file"]), compiled(LEAVING["command"])
    LANGUAGE, TABLE, CALL = compiled(LEAVING["language"]), compiled(LEAVING["table"]), compiled(LEAVING["call"])
    # As much of a statement as is looked at together, and what two such parts have in common.
    WINDOW, OVERLAP = 1 << 16, 256
    DEPTH_MAX = 5

    def __init__(self, depth: int = 0) -> None:
        self.text, self.at, self.depth = b"", 0, depth
        self.state: Callable[[], bool] = self.in_code
        self.ending, self.nested = b"", 0
        self.body: Scan | None = None
        self.words, self.is_start = bytearray(), True

    def feed(self, data: bytes) -> None:
        begin = max(self.at - 1, 0)  # what is before a mark matters
        self.text, self.at = self.text[begin:] + data, self.at - begin
        while self.state():
            pass

    # Each goes on to the next mark, and returns whether there may be more.

    def in_code(self) -> bool:
        found = self.MARK.search(self.text, self.at)
        if found is None:
            unfinished = self.UNFINISHED.search(self.text, max(self.at, len(self.text) - self.MARK_MAX))
            self.take(unfinished.start() if unfinished else len(self.text))
            return False
        self.take(found.start())
        mark, self.at = found[0], found.end()
        if mark == b";":
            self.end_statement()
        elif mark == b"\\":
            if self.depth == 0:
                raise leaves(self.text[found.start() : found.start() + 40].split(b"\n")[0])
        elif mark == b"--":
            self.words += b" "
            self.state, self.ending = self.in_text, b"\n"
        elif mark == b"/*":
            self.words += b" "
            self.state, self.nested = self.in_comment, 1
        elif mark == b'"':
            self.words += mark
            self.state = self.in_name
        else:
            self.begin_text(mark)
        return True

    def begin_text(self, mark: bytes) -> None:
        if mark == b"'" and (place := self.text.find(mark, self.at)) >= 0:
            self.words += b"''"
            self.at = place + 1
            return
        head = b" ".join(bytes(self.words[:1024]).split())
        is_body = mark[:1] == b"$" and self.depth < self.DEPTH_MAX and self.is_start and self.BODY.match(head)
        self.body = Scan(self.depth + 1) if is_body else None
        self.words += b" " if is_body else b"''"
        self.state, self.ending = (self.in_escaped, b"'") if mark in (b"e'", b"E'") else (self.in_text, mark)

    def in_text(self) -> bool:
        """Text of any length, up to what ends it."""
        place = self.text.find(self.ending, self.at)
        end = place if place >= 0 else max(self.at, len(self.text) - len(self.ending) + 1)
        if self.body is not None:
            self.body.feed(self.text[self.at : end])
        self.at = end
        if place < 0:
            return False
        if self.body is not None:
            self.body.feed(b"\n;")
        self.at, self.state, self.body = end + len(self.ending), self.in_code, None
        return True

    def in_name(self) -> bool:
        place = self.text.find(b'"', self.at)
        self.take(len(self.text) if place < 0 else place + 1)
        if place >= 0:
            self.state = self.in_code
        return place >= 0

    def in_escaped(self) -> bool:
        while found := self.ESCAPED.search(self.text, self.at):
            if found[0] == b"'" and found.end() == len(self.text):
                self.at = found.start()  # the next piece may double it
                return False
            self.at = found.end()
            if found[0] == b"'":
                self.state = self.in_code
                return True
        self.at = len(self.text) - self.text.endswith(b"\\")
        return False

    def in_comment(self) -> bool:
        while found := self.COMMENT.search(self.text, self.at):
            self.at = found.end()
            self.nested += 1 if found[0] == b"/*" else -1
            if self.nested == 0:
                self.state = self.in_code
                return True
        self.at = max(self.at, len(self.text) - 1)
        return False

    def before_rows(self) -> bool:
        """Of the line on which a COPY ends, the rest is SQL again."""
        place = self.text.find(b"\n", self.at)
        if place < 0:
            return False
        Scan().feed(self.text[self.at : place] + b"\n;")
        self.at, self.state = place + 1, self.in_rows
        return True

    def in_rows(self) -> bool:
        found = self.ROWS_END.search(self.text, self.at)
        if found is None:
            self.at = max(self.at, self.text.rfind(b"\n") + 1)
            if len(self.text) - self.at > 4:
                self.at = len(self.text)
            return False
        self.at, self.state = found.end(), self.in_code
        return True

    # Statements.

    def take(self, end: int) -> None:
        self.words += self.text[self.at : end]
        self.at = end
        if len(self.words) > self.WINDOW:
            self.examine()
            self.words, self.is_start = self.words[-self.OVERLAP :], False

    def statement(self) -> bytes:
        return b" ".join(bytes(self.words).split())

    def end_statement(self) -> None:
        statement = self.examine()
        if self.is_start and self.depth == 0 and self.ROWS.match(statement):
            self.state = self.before_rows
        self.words, self.is_start = bytearray(), True

    def examine(self) -> bytes:
        if not self.SUSPECT.search(self.words):
            return b""
        statement = self.statement()
        about = self.is_start and self.ABOUT.match(statement)
        found = None if about else self.CALL.search(self.TABLE.sub(b"", statement))
        if self.is_start:
            found = found or self.COMMAND.search(statement)
            if self.BODY.match(statement):
                found = found or self.LANGUAGE.search(statement)
            if copy := self.COPY.search(statement):
                found = found or self.FILE.search(statement, copy.end())
                if found:
                    raise leaves(statement[copy.start() : found.end()])
        if found:
            raise leaves(found[0])
        return statement


def leaves(command: bytes) -> Unusable:
    return Unusable(f"its dump contains a command that leaves the database: {shown(command.strip())}")
