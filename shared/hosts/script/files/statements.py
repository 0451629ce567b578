# The statements of a dump: which of them are the ERP's, and so are loaded.
import collections
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from dump import Scan, compiled
from layout import NAMES_REPORTED, Unusable, shown
from tables import FUNCTION_HEAD, LANGUAGES, REQUIRED_EXTENSIONS, SERVER_STATEMENTS, SETTINGS, STATEMENT_FORMS


class Origin:
    """
    Tells the ERP's statements from those about the server that a dump comes from, which are left out. KNOWN is what our own
    server has: extensions that are there and that the ERP's role can create, and its settings; and whether the dump comes from
    outside: then functions that leave the database are left out, too.
    """

    TABLE: ClassVar = [(row["kind"], compiled(row["pattern"])) for row in SERVER_STATEMENTS]
    RESTRICT = compiled(STATEMENT_FORMS["restrict"])
    CYCLE = compiled(STATEMENT_FORMS["cycle"])
    ROWS = compiled(STATEMENT_FORMS["rows"])
    POSITION = compiled(STATEMENT_FORMS["position"])
    EXTENSION = compiled(STATEMENT_FORMS["extension"])
    LANGUAGE = compiled(STATEMENT_FORMS["language"])
    FUNCTION = compiled(STATEMENT_FORMS["function"])
    SETTING = compiled(STATEMENT_FORMS["setting"])
    PUBLIC = compiled(STATEMENT_FORMS["public_schema"])
    REMOVAL = compiled(STATEMENT_FORMS["removal"])
    RELATION = compiled(STATEMENT_FORMS["relation"])
    IDENTITY = compiled(STATEMENT_FORMS["identity"])
    POLICY = compiled(STATEMENT_FORMS["policy"])
    ABOUT: ClassVar = [compiled(pattern) for pattern in STATEMENT_FORMS["about"]]
    ABOUT_FUNCTION = compiled(STATEMENT_FORMS["about_function"])
    TRIGGER = compiled(STATEMENT_FORMS["trigger"])
    TRIGGER_NAME = compiled(STATEMENT_FORMS["trigger_name"])
    MADE_OF = compiled(STATEMENT_FORMS["made_of"])
    MADE_OF_FUNCTIONS = compiled(STATEMENT_FORMS["made_of_functions"])
    SEARCH_NAME = compiled(STATEMENT_FORMS["search_name"])
    INDEX = compiled(STATEMENT_FORMS["index"])
    OPERATOR_CLASS = compiled(STATEMENT_FORMS["operator_class"])
    AGGREGATE = compiled(STATEMENT_FORMS["aggregate"])
    OBJECT = compiled(STATEMENT_FORMS["object"])
    ABOUT_OBJECT: ClassVar = [compiled(pattern) for pattern in STATEMENT_FORMS["about_object"]]
    ABOUT_TRIGGER = compiled(STATEMENT_FORMS["about_trigger"])
    ALTERED_TRIGGER = compiled(STATEMENT_FORMS["altered_trigger"])
    REQUIRED: ClassVar = [(each["name"], compiled(each["pattern"]), each["function"].encode()) for each in REQUIRED_EXTENSIONS]
    HEAD, ATTRIBUTE, HEAD_SETTING, PLANNER = (
        compiled(FUNCTION_HEAD["head"]),
        compiled(FUNCTION_HEAD["attribute"]),
        compiled(FUNCTION_HEAD["setting"]),
        re.compile(FUNCTION_HEAD["planner"]),
    )
    NAMES = re.compile(STATEMENT_FORMS["name"].encode())

    def __init__(self, known: dict[str, Any]) -> None:
        names: list[frozenset[str]] = [frozenset(known.get(each, ())) for each in ("present", "creatable", "settings")]
        self.present, self.creatable, settings = names
        self.settings = settings & frozenset(SETTINGS)
        self.in_functions = self.settings | {name for name in settings if self.PLANNER.match(name)}
        self.outside = known.get("outside") is True
        self.languages = {*LANGUAGES}
        self.begun = False
        self.relations: set[bytes] = set()
        self.unqualified: set[bytes] = set()  # created without a schema, which is the one of `search_path` then
        # What was left out, with its kind: later statements may be about it. Of an extension, what is named after it.
        self.gone: dict[bytes, str] = {}
        self.gone_objects: dict[bytes, str] = {}  # neither relations nor functions: a table may have the same name
        # Functions have names of their own, which several may share: "f" is here by the last f, and "f()" by the one without
        # parameters, which alone a trigger can call.
        self.functions: set[bytes] = set()
        self.gone_functions: dict[bytes, str] = {}
        self.gone_extensions: tuple[bytes, ...] = ()
        self.extensions: set[str] = set()  # that the dump or this has created, or that were left out
        self.names_extensions = False
        self.token: bytes | None = None
        self.connected: bytes | None = None
        self.counts: collections.Counter[str] = collections.Counter()
        self.names: dict[str, dict[str, None]] = collections.defaultdict(dict)  # a set that keeps their order

    def select(self, text: bytes, whole: bool) -> bytes | None:
        """What is loaded for a statement, of which this is the beginning, or the whole; None if nothing is. Notes what is not."""
        if not self.gone_extensions and self.ROWS.match(text):  # most statements of a dump without COPY
            self.begun = True
            return text
        outline = outlined(text) if whole else outlined(text[:4096]) + b" \0"
        loaded, kind = self.decide(outline, text, whole)
        if kind is not None:
            self.note(kind, outline)
        if not loaded:
            return self.without_dummy(outline) if whole else None
        if self.FUNCTION.match(outline):
            text = self.HEAD.sub(self.without_privileges, text, count=1)
        return self.required(outline) + text

    def without_dummy(self, outline: bytes) -> bytes | None:
        """What removes a view without rows whose statement was left out, unless something needs it."""
        found = self.CYCLE.match(outline)
        if found is None or found[1] not in self.relations:
            return None
        self.relations.discard(found[1])
        drop = (
            b'drop view if exists "'
            + found[1].lower().replace(b".", b'"."')
            + b'"; exception when dependent_objects_still_exist then null;'
        )
        return b"DO $erp_hosting$ begin " + drop + b" end $erp_hosting$;"

    def note(self, kind: str, outline: bytes) -> None:
        self.counts[kind] += 1
        if len(self.names[kind]) < NAMES_REPORTED:
            self.names[kind][shown(outline)] = None

    def without_privileges(self, head: re.Match[bytes]) -> bytes:
        """The head of a function without what only a superuser may say in it."""

        def remove(kind: str, found: re.Match[bytes]) -> bytes:
            self.note(kind, outlined(head[1] + b" " + found[0]))
            return b""

        def setting(found: re.Match[bytes]) -> bytes:
            known = found[1].strip(b'"').decode().lower() in self.in_functions
            return found[0] if known else remove("settings", found)

        rest = self.ATTRIBUTE.sub(lambda found: remove("functions", found), head[2])
        return head[1] + self.HEAD_SETTING.sub(setting, rest)

    def required(self, outline: bytes) -> bytes:
        """Statements that create what a statement needs and the dump has not created."""
        wanted = b""
        for name, pattern, function in self.REQUIRED:
            is_absent = name in self.creatable - self.present - self.extensions and function not in self.functions
            if is_absent and not self.ROWS.match(outline) and pattern.search(outline):
                self.extensions.add(name)
                wanted += f"CREATE EXTENSION IF NOT EXISTS {name} WITH SCHEMA public;\n".encode()
        return wanted

    def decide(self, outline: bytes, text: bytes, whole: bool) -> tuple[bool, str | None]:
        if outline.startswith(b"\\"):
            return self.decide_command(outline)
        if found := self.ROWS.match(outline):
            self.begun = True
            return self.decide_rows(found[1])
        for kind, pattern in self.TABLE:
            if pattern.search(outline):
                return self.leave_out(outline, kind)
        if not self.begun and self.REMOVAL.match(outline):
            return False, "drops"
        if found := self.EXTENSION.match(outline):
            return self.decide_extension(found[1], found[2], found[3])
        if found := self.FUNCTION.match(outline):
            kind = self.kind_of_created(outline, text if whole else b"")
            return self.decide_function({found[1], found[1] + b"()"} if found[2] else {found[1]}, kind)
        if found := self.SETTING.match(outline):
            known = found[1].decode().lower() in self.settings
            return known, None if known else "settings"
        if self.PUBLIC.match(outline):
            return False, None  # each database has it from the start
        if found := self.POSITION.match(text):
            return self.decide_rows(unquoted(found[1].replace(b"''", b"'")))
        if kind := self.kind_of_subject(outline, text):
            return self.leave_out(outline, kind)
        if found := self.AGGREGATE.match(outline):
            self.functions.add(found[1])
        if found := self.RELATION.match(outline) or self.IDENTITY.match(outline):
            name = found[1]
            self.relations |= {name, unqualified(name)}
            if is_unqualified(name):
                self.unqualified.add(unqualified(name))
        self.begun = self.begun or outline[:7].upper() == b"CREATE "
        return True, None

    def decide_command(self, line: bytes) -> tuple[bool, str | None]:
        """psql's own: `\\restrict` and its counterpart, which older clients do not know, enclose a dump."""
        if (found := self.RESTRICT.match(line)) and self.token == (found[2] if found[1] else None):
            self.token = None if found[1] else found[2]
            return False, None
        if not any(kind == "databases" and pattern.search(line) for kind, pattern in self.TABLE):
            return True, None
        if self.begun and self.connected != line:
            raise Unusable("its dump has several databases, as by pg_dumpall: dump the ERP's database alone, with pg_dump")
        self.connected = line
        return False, "databases"

    def decide_rows(self, relation: bytes) -> tuple[bool, str | None]:
        """Rows of a table that the dump does not create are those of an extension. In doubt they are loaded."""
        name = unqualified(relation) if is_unqualified(relation) else relation
        loaded = not self.gone_extensions or name in self.relations or unqualified(relation) in self.unqualified
        return loaded, None if loaded else "extension_data"

    def decide_extension(self, verb: bytes, quoted: bytes, schema: bytes | None) -> tuple[bool, str | None]:
        name = quoted.strip(b'"').decode(errors="replace")
        self.extensions.add(name)
        self.names_extensions = True
        if name in self.present | self.creatable:
            self.languages.add(name)
        if name in self.present:  # of a superuser, who alone may change it
            return verb.upper() == b"CREATE", None
        if name in self.creatable:
            self.begun = True
            return True, None
        self.gone_extensions += ((schema or b"public") + b"." + name.encode(),)
        return False, "extensions"

    def kind_of_created(self, outline: bytes, text: bytes) -> str | None:
        """Why a function is left out; None if it is not."""
        found = self.LANGUAGE.match(outline)
        if found and found[2].decode(errors="replace").lower() not in self.languages:
            return "languages"
        return "functions" if self.outside and leaves_database(text) else None

    def decide_function(self, keys: set[bytes], kind: str | None) -> tuple[bool, str | None]:
        if kind is not None:
            self.gone_functions |= dict.fromkeys(keys, kind)
            return False, kind
        self.begun = True
        self.functions |= keys
        for key in keys:
            self.gone_functions.pop(key, None)
        return True, None

    def leave_out(self, outline: bytes, kind: str) -> tuple[bool, str | None]:
        if found := self.RELATION.match(outline) or self.POLICY.match(outline):
            self.gone[found[1]] = kind
        elif found := self.INDEX.match(outline):
            schema = found[2].removesuffix(last_part(found[2]))
            self.gone_objects[schema + found[1]] = kind
            self.gone_objects[found[2] + b" CLUSTER ON " + found[1]] = kind
        elif found := self.TRIGGER_NAME.match(outline):
            self.gone_objects[found[1] + b" ON " + found[2]] = kind
        elif found := self.AGGREGATE.match(outline):
            self.gone_functions[found[1]] = kind
        elif found := self.OBJECT.match(outline):
            self.gone_objects[found[1]] = kind
        return False, kind

    def kind_of_subject(self, outline: bytes, text: bytes) -> str | None:
        """Why what a statement is about was left out; None if it was not."""
        if found := self.MADE_OF.match(outline):
            kinds = self.kinds_in(outline, found.end(), text)
        elif found := self.ABOUT_FUNCTION.match(outline):
            return self.kind_of_function(found[1], found[1])
        elif found := self.ABOUT_TRIGGER.match(outline):
            kinds = iter((self.gone_objects.get(found[1] + b" ON " + found[2]), self.kind_of_relation(found[2])))
        elif found := self.ALTERED_TRIGGER.match(outline):
            kinds = iter((self.gone_objects.get(found[2] + b" ON " + found[1]), self.kind_of_relation(found[1])))
        else:
            objects = (self.gone_objects.get(found[1]) for each in self.ABOUT_OBJECT if (found := each.match(outline)))
            relations = (self.kind_of_relation(found[1]) for each in self.ABOUT if (found := each.match(outline)))
            kinds = itertools.chain(objects, relations)
        if kind := next(filter(None, kinds), None):
            return kind
        found = self.TRIGGER.match(outline)
        return self.kind_of_function(found[1], found[1] + b"()") if found else None

    def kinds_in(self, outline: bytes, start: int, text: bytes) -> Iterator[str | None]:
        """Of all that a view, an index, an operator and the like are made of. They may call any of the functions of a name."""
        calls, is_index = self.MADE_OF_FUNCTIONS.match(outline), self.INDEX.match(outline)
        for found in self.NAMES.finditer(outline, start):
            name = found[0]
            if calls or outline[found.end() : found.end() + 1] == b"(":
                yield self.kind_of_function(name, name) if name not in self.functions else None
            if outline[found.end() : found.end() + 1] != b"(":
                yield self.kind_of_relation(name)
                if name not in self.relations:
                    yield self.gone_objects.get(name)
                    if is_index and self.lacks_operator_class(name):
                        yield "extensions"
        for found in self.SEARCH_NAME.finditer(unquoted(text)):
            yield self.gone_objects.get(found[1]) or self.kind_of_relation(found[1])

    def lacks_operator_class(self, name: bytes) -> bool:
        """Whether it is that of an extension that was left out, or that a dump of single schemas (pg_dump -n) does not create."""
        return bool(self.OPERATOR_CLASS.search(name)) and bool(self.gone_extensions or not self.names_extensions)

    def kind_of_relation(self, name: bytes) -> str | None:
        table = name.rpartition(b".")[0]  # of a column
        kind = self.gone.get(name) or self.gone.get(table)
        if kind is None and not {name, table} & self.relations and name.startswith(self.gone_extensions):
            return "extensions"
        return kind

    def kind_of_function(self, name: bytes, key: bytes) -> str | None:
        if key in self.gone_functions:
            return self.gone_functions[key]
        return "extensions" if name not in self.functions and name.startswith(self.gone_extensions) else None

    def report(self) -> list[dict[str, object]]:
        return [{"kind": kind, "count": count, "names": list(self.names[kind])} for kind, count in sorted(self.counts.items())]


def last_part(name: bytes) -> bytes:
    return re.split(rb'\.(?=(?:"(?:[^"]|"")*"|[^".]+)\Z)', name)[-1]


def unqualified(name: bytes) -> bytes:
    return last_part(name).strip(b'"')


def is_unqualified(name: bytes) -> bool:
    return last_part(name) == name


NEEDLESS_QUOTES = re.compile(STATEMENT_FORMS["needless_quotes"].encode())


def unquoted(text: bytes) -> bytes:
    return NEEDLESS_QUOTES.sub(rb"\1", text)


def leaves_database(function: bytes) -> bool:
    scan = Scan(depth=1)  # psql's own commands are left to that of the dump
    try:
        scan.feed(function + b"\n;")
    except Unusable:
        return True
    return False


OUTLINED = re.compile(
    rb"""
    (?P<gap>(?:\s|--[^\n]*|/\*.*?(?:\*/|\Z))+) | (?P<name>"[^"]*(?:"|\Z))
    | (?<![\w$\x80-\xff])\$(?P<tag>(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?)\$.*?(?:\$(?P=tag)\$|\Z)
    | (?P<empty>\b[eE]?''(?!')|''(?!')) | \b[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z) | '[^']*(?:''[^']*)*(?:'|\Z)
    """,
    re.DOTALL | re.VERBOSE,
)


def outlined(text: bytes) -> bytes:
    """A statement on one line, without comments and texts, which may be secrets, and without needless quotes."""
    short = {"gap": b" ", "empty": b"''"}
    line = OUTLINED.sub(lambda each: each[0] if each["name"] else short.get(each.lastgroup or "", "'…'".encode()), text)
    return unquoted(line.strip().rstrip(b";").rstrip())


class Statements:
    """
    Divides a dump as psql does, in pieces as they come, and passes on what ORIGIN says is loaded. Rows pass without being looked
    at.
    """

    MARK = re.compile(
        rb"""
        (?<![\w$\x80-\xff])(?:[eE]' | \$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?\$ | (?:begin|case|end)(?![\w$\x80-\xff]))
        | ['"\\;()] | -- | /\*
        """,
        re.IGNORECASE | re.VERBOSE,
    )
    GAP = re.compile(rb"\s+")
    FUNCTION = re.compile(rb"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\b", re.IGNORECASE)
    COPY = re.compile(rb"COPY .* FROM STDIN\b", re.IGNORECASE)
    STANDARD = re.compile(rb"SET standard_conforming_strings (?:=|TO) '?(on|off)", re.IGNORECASE)
    IN_COMMENT, IN_ESCAPED = re.compile(rb"/\*|\*/"), re.compile(rb"\\.|''?", re.DOTALL)
    # As long as a mark may be, and as much as is looked at of a statement: a COPY of 1,600 columns is shorter.
    MARK_BYTES, HEAD_BYTES = 128, 1 << 17

    def __init__(self, pieces: Iterable[bytes], origin: Origin, write: Callable[[bytes], object]) -> None:
        self.pieces, self.origin, self.write = iter(pieces), origin, write
        self.text, self.at = b"", 0  # what is before AT was passed on
        self.head: bytearray | None = None  # of a statement that is not decided yet
        self.loaded = True  # otherwise: whether what comes is loaded
        self.standard = True

    def run(self) -> None:
        if self.has(3) and self.text.startswith(b"\xef\xbb\xbf"):
            self.at = 3
        while self.skip_gap():
            self.head = bytearray()
            if self.text[self.at] == ord("\\"):
                self.take_through(b"\n")
                self.end()
            else:
                self.pass_statement()

    # The text: each of these passes on what it has gone through.

    def has(self, count: int) -> bool:
        while len(self.text) - self.at < count:
            piece = next(self.pieces, None)
            if piece is None:
                return False
            begin = max(self.at - 1, 0)  # what is before a mark matters
            self.text, self.at = self.text[begin:] + piece, self.at - begin
        return True

    def take(self, end: int) -> None:
        data, self.at = self.text[self.at : end], end
        if self.head is not None:
            self.head += data
            if len(self.head) > self.HEAD_BYTES:
                self.decide(bytes(self.head), whole=False)
        elif self.loaded:
            self.write(data)

    def take_through(self, end: bytes) -> None:
        while (place := self.text.find(end, self.at)) < 0:
            self.take(max(self.at, len(self.text) - len(end) + 1))
            if not self.has(len(self.text) - self.at + 1):
                return self.take(len(self.text))
        return self.take(place + len(end))

    def take_through_match(self, pattern: re.Pattern[bytes], ends: Callable[[bytes], bool]) -> None:
        """Up to a match that ends it. None is longer than two bytes."""
        while True:
            more = self.has(4)
            end = len(self.text) - (2 if more else 0)
            found = pattern.search(self.text, self.at)
            if found and found.start() < end:
                self.take(found.end())
                if ends(found[0]):
                    return
            else:
                self.take(end)
                if not more:
                    return

    def take_comment(self) -> None:
        depth = 0

        def ends(mark: bytes) -> bool:
            nonlocal depth
            depth += 1 if mark == b"/*" else -1
            return depth == 0

        self.take_through_match(self.IN_COMMENT, ends)

    def skip_gap(self) -> bool:
        """To the next statement; false at the end."""
        while self.has(2) or self.has(1):
            if found := self.GAP.match(self.text, self.at):
                self.take(found.end())
            elif self.text.startswith(b"--", self.at):
                self.take_through(b"\n")
            elif self.text.startswith(b"/*", self.at):
                self.take_comment()
            else:
                return True
        return False

    # Statements.

    def pass_statement(self) -> None:
        depth = blocks = 0
        function = None
        while True:
            end = len(self.text) - self.MARK_BYTES if self.has(2 * self.MARK_BYTES) else len(self.text)
            found = self.MARK.search(self.text, self.at)
            if found is None or found.start() >= end:
                self.take(end)
                if not self.has(1):
                    return self.end()
                continue
            mark = found[0]
            self.take(found.end() if mark != b"/*" else found.start())
            if mark == b";" and depth == 0 and blocks == 0:
                return self.end()
            if mark in b"()":
                depth = depth + 1 if mark == b"(" else max(depth - 1, 0)
            elif mark == b"'":
                self.take_text(escaped=not self.standard)
            elif mark in (b"e'", b"E'"):
                self.take_text(escaped=True)
            elif mark == b'"' or mark.startswith(b"$"):
                self.take_through(mark)
            elif mark in (b"--", b"\\"):
                self.take_through(b"\n")
            elif mark == b"/*":
                self.take_comment()
            elif mark != b";" and depth == 0:
                # The body of a function may be statements, since 14.
                if function is None:
                    function = self.head is not None and self.FUNCTION.match(self.head) is not None
                word = mark.lower()
                if function and (blocks > 0 or word == b"begin"):
                    blocks += -1 if word == b"end" else 1

    def take_text(self, escaped: bool) -> None:
        if escaped:
            self.take_through_match(self.IN_ESCAPED, lambda mark: mark == b"'")
        else:
            self.take_through(b"'")

    def decide(self, head: bytes, whole: bool) -> None:
        self.head = None
        selected = self.origin.select(head, whole)
        self.loaded = selected is not None
        if selected is not None:
            self.write(selected)

    def end(self) -> None:
        head = bytes(self.head or b"")
        if self.head is not None:
            self.decide(head, whole=True)
        outline = outlined(head) if head[:4].upper() in (b"COPY", b"SET ") else b""
        if self.COPY.match(outline):
            self.pass_rows()
        elif found := self.loaded and self.STANDARD.match(outline):
            self.standard = found[1].lower() == b"on"
        if not self.loaded and not head.endswith(b"\n") and self.has(1) and self.text[self.at] == ord("\n"):
            self.at += 1  # no empty lines for what was left out
        self.loaded = True

    def pass_rows(self) -> None:
        while (line := self.text.find(b"\n", self.at)) < 0 and self.has(len(self.text) - self.at + 1):
            pass
        if self.text[self.at : max(line, self.at)].strip():
            raise Unusable("its dump is none of pg_dump's: something follows COPY on its line")
        self.take(line + 1 if line >= 0 else len(self.text))
        while True:
            place = self.text.find(b"\n\\.", self.at - 1)
            if place < 0:
                self.take(max(self.at, len(self.text) - 2))
                if not self.has(3):
                    return self.take(len(self.text))
                continue
            self.take(max(self.at, place + 1))
            self.has(4)
            after = self.text[self.at + 2 : self.at + 4]
            self.take(self.at + 2)
            if after[:1] in (b"\n", b"") or after == b"\r\n":
                return self.take_through(b"\n")
