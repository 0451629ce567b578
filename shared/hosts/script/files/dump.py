# Dumps of a database, as they pass on their way into an archive or out of one.
import re


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
