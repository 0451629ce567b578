# Fetches an instance's code by git, checks its modules, and writes their files. Nothing of the code is run, and git writes no
# file of it: this program does, from git's objects. Runs in the builder's container as nobody; its request is JSON on stdin, so
# that credentials are on no command line.
#
#   resolve                    {repositories, known_hosts} → {commits, known_hosts}
#   fetch SERIES PLACE         the same, with a commit for each repository → {subjects, problems, modules, folders, known_hosts};
#                              writes a folder of modules for each repository into PLACE
import ast
import base64
import contextlib
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, NamedTuple, TypedDict, cast
from urllib.parse import urlsplit

# Tests fetch from servers of their own.
PROTOCOLS = os.environ.get("CODE_PROTOCOLS", "https:ssh")
# For all repositories together: the container has 600, and what is ended with it names no repository.
SECONDS = float(os.environ.get("CODE_SECONDS", "570"))
UNTIL = time.monotonic() + SECONDS
# For each repository whose commit is looked up, some at once: a job has nine minutes for 25 repositories, whose hosts may all be
# silent.
LOOK_SECONDS = float(os.environ.get("CODE_LOOK_SECONDS", "60"))
LOOKS_AT_ONCE = 5
BYTES_MAX = int(os.environ.get("CODE_BYTES_MAX", str(1 << 30)))
FILES_MAX = 50_000
MANIFEST_BYTES_MAX = 1 << 20
LISTING_BYTES_MAX = 32 << 20
PIECE_BYTES = 1 << 20
MODULES_MAX = 3_000
LINK_BYTES_MAX = 4_096
PROBLEMS_MAX = 100
MANIFEST = b"__manifest__.py"
SCRATCH = "scratch"
# What git fetches, at most as much as the code may have, and its index of that. It is looked at twice a second.
SCRATCH_BYTES_MAX = BYTES_MAX + BYTES_MAX // 8
WATCH_SECONDS = 0.5

# The keys that the three big hosts have published; those of others are kept as they were at the first use.
PINNED = [
    "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
    "gitlab.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf",
    "bitbucket.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO",
]


class Credential(TypedDict, total=False):
    username: str
    token: str
    private_key: str


class Repository(TypedDict):
    url: str
    ref: str
    path: str | None
    credential: Credential | None
    commit: str


class Request(TypedDict):
    repositories: list[Repository]
    known_hosts: list[str]


class Entry(NamedTuple):
    mode: bytes
    kind: bytes
    hash: bytes
    size: int
    path: bytes


def entry_in(line: bytes) -> Entry:
    """In a line of `git ls-tree -l`."""
    what, path = line.split(b"\t", 1)
    mode, kind, hashed, size = what.split()
    return Entry(mode, kind, hashed, int(size) if size.isdigit() else 0, path)


class Problem(Exception):
    """Why a repository cannot be deployed, as a sentence."""

    def __init__(self, code: str, sentence: str, module: str | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.module = module


def unreachable(sentence: str) -> Problem:
    return Problem("CODE_UNREACHABLE", sentence)


def invalid(sentence: str, module: str | None = None) -> Problem:
    return Problem("CODE_INVALID", sentence, module)


# What old repositories have and no attack needs.
TOLERATED = ("zeroPaddedFilemode", "missingSpaceBeforeDate", "badTimezone", "badDate", "missingEmail", "missingSpaceBeforeEmail")

# Without a least speed: a host that packs a large repository sends next to nothing meanwhile, and run() bounds each call.
SETTINGS = [
    ("http.followRedirects", "false"),
    ("credential.helper", ""),
    ("core.hooksPath", "/dev/null"),
    ("core.attributesFile", "/dev/null"),
    ("core.bigFileThreshold", "16m"),
    ("fetch.fsckObjects", "true"),
    *((f"fetch.fsck.{name}", "ignore") for name in TOLERATED),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.unpackLimit", "1"),
    ("pack.threads", "1"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.version", "2"),
]


# What git says behind what ssh, or the host, has said.
ADVICE = """fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists."""
# As git and the hosts say it.
NO_ACCESS = r"Authentication failed|could not read (Username|Password)|not (be )?found|denied|access|does not (exist|appear)"
NO_ACCESS_STATUS = ("401", "403", "404", "410")


def bytes_in(place: str) -> int:
    """Of all files in there; some may go meanwhile."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total


def output_within(process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, bytes] | None:
    """Its stdout and stderr; none as long as it runs, of which nothing is lost then."""
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


class Git:
    """git for one repository, with its credentials and nobody's settings."""

    def __init__(self, repository: Repository, home: str, known_hosts: str) -> None:
        self.repository = repository
        self.url = repository["url"]
        self.known_hosts = known_hosts
        self.is_pinned = urlsplit(self.url).hostname in {line.split(" ")[0] for line in PINNED}
        settings = list(SETTINGS)
        credential = repository["credential"] or {}
        self.secrets: list[str] = []
        if "token" in credential:
            pair = f"{credential.get('username', '')}:{credential['token']}".encode()
            target = urlsplit(self.url)
            self.secrets = [base64.b64encode(pair).decode(), credential["token"]]
            header = f"Authorization: Basic {self.secrets[0]}"
            settings.append((f"http.{target.scheme}://{target.netloc}/.extraHeader", header))
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_COUNT": str(len(settings)),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_SSH_COMMAND": self.ssh(credential, home, known_hosts),
        }
        for number, (name, value) in enumerate(settings):
            self.environment[f"GIT_CONFIG_KEY_{number}"] = name
            self.environment[f"GIT_CONFIG_VALUE_{number}"] = value

    def ssh(self, credential: Credential, home: str, known_hosts: str) -> str:
        options = ["-F", "none", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "UpdateHostKeys=no"]
        options += ["-o", "GlobalKnownHostsFile=none", "-o", f"UserKnownHostsFile={known_hosts}"]
        options += ["-o", "HashKnownHosts=no", "-o", "PreferredAuthentications=publickey", "-o", "ProxyCommand=none"]
        options += ["-o", f"StrictHostKeyChecking={'yes' if self.is_pinned else 'accept-new'}"]
        if "private_key" in credential:
            file = os.path.join(home, "key")
            with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as key:
                key.write(credential["private_key"])
            options += ["-o", "IdentitiesOnly=yes", "-i", file]
        return " ".join(["ssh", *options])

    def run(self, *arguments: str, place: str | None = None, seconds: float = SECONDS) -> subprocess.CompletedProcess[bytes]:
        """Ends git, with what it has started, if it takes too long or writes too much: nothing else bounds its scratch."""
        where = [] if place is None else ["-C", place]
        until = min(UNTIL, time.monotonic() + seconds)
        with subprocess.Popen(
            ["git", *where, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            while (output := output_within(process, WATCH_SECONDS)) is None:
                is_large = place is not None and bytes_in(place) > SCRATCH_BYTES_MAX
                if is_large or time.monotonic() > until:
                    os.killpg(process.pid, signal.SIGKILL)
                    raise self.too_large() if is_large else self.too_slow()
            return subprocess.CompletedProcess(process.args, process.returncode, *output)

    def explain(self, stderr: bytes) -> Problem:
        """Why git could not read the repository, in its own words only if there are no better ones."""
        said = stderr.decode("utf-8", "replace")
        for secret in self.secrets:  # a server may repeat what it was sent
            said = said.replace(secret, "[redacted]")
        # Both would otherwise be taken for what the host has said.
        said = said.replace(self.url, "").replace(ADVICE, "")
        said = re.sub(r"unable to access '[^']*': ", "", said)
        last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
        why = re.sub(r"[^\x20-\x7e]", "", re.sub(r"^(?:fatal|error|remote): *", "", last))[:200]
        responded = re.search(r"returned error: ([0-9]{3})", said)
        status = responded[1] if responded else ""
        if status.startswith("3"):
            return unreachable(f"The host of {self.url} redirects to another address. Set that one; GitLab's ends in .git")
        if status == "429" or status.startswith("5"):
            return unreachable(f"The host of {self.url} responds with the error {status}. Try again later")
        if re.search(r"\bcertificate\b", said):
            return unreachable(f"The host of {self.url} has no valid certificate: {why}")
        if re.search(r"Could not resolve|onnect to|refused|timed out|unreachable|No route", said):
            return unreachable(f"The host of {self.url} cannot be reached: {why}")
        if re.search(r"Host key verification|IDENTIFICATION HAS CHANGED", said):
            why = "its host presents a different key than before"
            if not self.is_pinned:
                why += ". If you trust the new key, check the code with trust_new_host_keys"
            return unreachable(f"The repository {self.url} could not be read: {why}")
        if status in NO_ACCESS_STATUS or (stderr and not why) or re.search(NO_ACCESS, said, re.IGNORECASE):
            return unreachable(f"The repository {self.url} does not exist, or what it is read with may not read it")
        # The last one is all that is said of a program that the limit for a file has killed.
        killed = "fatal: fetch-pack: invalid index-pack output"
        if re.search(r"File size limit|fsize|unable to write|No space|SIGXFSZ|died of signal", said) or said.strip() == killed:
            return self.too_large()
        return unreachable(f"The repository {self.url} could not be read: {why}")

    def host_key(self) -> str | None:
        """What the host is known by: its key's type and the key."""
        target = urlsplit(self.url)
        if target.scheme != "ssh":
            return None
        names = {target.hostname, f"[{target.hostname}]:{target.port}"}
        with open(self.known_hosts, encoding="utf-8") as file:
            entries = [line.split() for line in file]
        keys = [entry[1:3] for entry in entries if len(entry) >= 3 and not names.isdisjoint(entry[0].split(","))]
        return " ".join(keys[0]) if keys else None

    def commit_of_ref(self) -> str:
        ref = self.repository["ref"]
        if re.fullmatch(r"[0-9a-f]{40}", ref):
            return ref
        # The last one is the commit of an annotated tag.
        names = [f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}"]
        listed = self.run("ls-remote", "--", self.url, names[0], names[2], names[1], seconds=LOOK_SECONDS)
        if listed.returncode != 0:
            raise self.explain(listed.stderr)
        lines = [line.split("\t", 1) for line in listed.stdout.decode("utf-8", "replace").splitlines() if "\t" in line]
        found = {name: commit for commit, name in lines}
        commit = next((found[name] for name in names if name in found), "")
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            raise unreachable(f"The repository {self.url} has no branch, tag or commit {ref}")
        return commit

    def fetch(self, place: str) -> None:
        """Exactly the commit; where the host hands out no commit by its hash, the ref, if it still is that one."""
        commit, ref = self.repository["commit"], self.repository["ref"]
        options = [
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
        ]
        self.begin(place)
        fetched = self.run("fetch", *options, "--", self.url, commit, place=place)
        if fetched.returncode == 0 and self.has_commit(place, commit):
            return
        if ref == commit and re.search(rb"not our ref|unadvertised|no such remote ref|couldn't find", fetched.stderr):
            raise unreachable(f"The repository {self.url} has no branch, tag or commit {ref}")
        problem = self.explain(fetched.stderr)
        if problem.code == "CODE_INVALID":
            raise problem  # it is too large, whatever it is fetched by
        for name in (f"refs/heads/{ref}", f"refs/tags/{ref}"):
            self.begin(place)
            again = self.run("fetch", *options, "--", self.url, f"+{name}:refs/fetched", place=place)
            if again.returncode == 0 and self.text(place, "rev-parse", "--verify", "refs/fetched^{commit}") == commit:
                return
        if re.search(rb"not our ref|unadvertised", fetched.stderr):
            raise unreachable(
                f"{ref} of {self.url} is no longer the commit {commit}, and the host does not hand that out. Deploy again"
            )
        raise problem

    def begin(self, place: str) -> None:
        """Without what an earlier try has left, which may be as much as the code may have."""
        shutil.rmtree(place, ignore_errors=True)
        self.run("init", "--quiet", "--bare", "--template=", place)

    def has_commit(self, place: str, commit: str) -> bool:
        return self.text(place, "cat-file", "-t", commit) == "commit"

    def text(self, place: str, *arguments: str) -> str:
        return self.run(*arguments, place=place, seconds=60).stdout.decode("utf-8", "replace").strip()

    def subject(self, place: str) -> str:
        said = self.text(place, "log", "-1", "--format=%<(250,trunc)%s", self.repository["commit"])
        return "".join(character for character in said if character.isprintable())[:200]

    def entries(self, place: str) -> list[Entry]:
        """Everything in the folder of the modules: files, links, folders and submodules."""
        path = self.repository["path"]
        tree = self.repository["commit"] + (f":{path}" if path else "^{tree}")
        entries: list[Entry] = []
        # A tree may name the same one many times, and that one another: there may be billions of entries, or very long paths.
        with self.reading(place, "ls-tree", "-r", "-t", "-z", "-l", tree) as process:
            assert process.stdout is not None
            rest, room = b"", LISTING_BYTES_MAX
            while chunk := process.stdout.read(1 << 16):
                *lines, rest = (rest + chunk).split(b"\0")
                entries.extend(map(entry_in, lines))
                room -= len(chunk)
                if len(entries) > FILES_MAX or room < 0:
                    process.kill()
                    raise self.too_large() if room >= 0 else self.too_long()
        if process.returncode != 0:
            raise self.too_slow() if time.monotonic() > UNTIL else self.no_module()
        return entries

    def tree(self, place: str) -> bytes:
        path = self.repository["path"]
        return self.text(place, "rev-parse", self.repository["commit"] + (f":{path}" if path else "^{tree}")).encode()

    def no_module(self) -> Problem:
        path = self.repository["path"]
        return invalid(f"{self.url} has no module" if path is None else f"{self.url} has no module in the folder {path}")

    def misnamed(self, name: str) -> Problem:
        return invalid(f"{self.url} is a module, but cannot be called {name}. Put its files into a folder with the module's name")

    def too_slow(self) -> Problem:
        return unreachable(f"The repository {self.url} could not be read: it takes too long")

    def too_large(self) -> Problem:
        return invalid(f"The repository {self.url} has more than 1 GB or 50,000 files")

    def too_long(self) -> Problem:
        return invalid(f"The paths in the repository {self.url} have more than 32 MB together")

    @contextlib.contextmanager
    def reading(self, place: str, *arguments: str) -> Generator[subprocess.Popen[bytes], None, None]:
        """git, whose output ends once the time is over."""
        process = subprocess.Popen(
            ["git", "-C", place, *arguments],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        timer = threading.Timer(UNTIL - time.monotonic(), process.kill)
        timer.start()
        try:
            with process:
                yield process
        finally:
            timer.cancel()

    def contents(self, place: str, hashes: list[bytes]) -> Iterator[Iterator[bytes]]:
        """The contents of files, in the order of their hashes, each in pieces that are read before the next file."""
        with self.reading(place, "cat-file", "--batch") as process:
            assert process.stdin is not None and process.stdout is not None
            for hashed in hashes:
                with contextlib.suppress(BrokenPipeError):  # git was ended, and so is its output
                    os.write(process.stdin.fileno(), hashed + b"\n")
                head = process.stdout.readline().split()
                if len(head) != 3 or head[1] != b"blob":
                    raise self.incomplete()
                yield self.pieces(process.stdout, int(head[2]))
                process.stdout.read(1)

    def pieces(self, found: IO[bytes], size: int) -> Iterator[bytes]:
        while size > 0:
            piece = found.read(min(size, PIECE_BYTES))
            if not piece:
                raise self.incomplete()
            size -= len(piece)
            yield piece

    def incomplete(self) -> Problem:
        if time.monotonic() > UNTIL:
            return self.too_slow()
        return unreachable(f"The repository {self.url} could not be read: an object is missing")


class Module(NamedTuple):
    name: str
    folder: bytes  # empty: the repository itself, or the folder that its `path` names, is one
    hash: bytes


IS_MODULE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def name_of(folder: bytes, repository: Repository) -> str:
    name = folder.decode("utf-8", "replace") or repository["path"] or urlsplit(repository["url"]).path.removesuffix(".git")
    return os.path.basename(name)


def find_modules(git: Git, entries: list[Entry], root: bytes) -> list[Module]:
    folders = {entry.path: entry.hash for entry in entries if entry.kind == b"tree"}
    manifests = {
        os.path.dirname(entry.path)
        for entry in entries
        if os.path.basename(entry.path) == MANIFEST and entry.mode in (b"100644", b"100755")
    }
    own = name_of(b"", git.repository)
    is_misnamed = b"" in manifests and not IS_MODULE.fullmatch(own)
    if is_misnamed:
        manifests.remove(b"")  # what is in it is no part of a module
    found: dict[str, Module] = {}
    for folder in sorted(manifests):
        if is_in_another(folder, manifests):
            continue  # a part of another module, such as a template of one
        name = name_of(folder, git.repository)
        if not IS_MODULE.fullmatch(name):
            continue
        if name in found:
            raise invalid(f"{git.url} has two modules of the name {name}", name)
        found[name] = Module(name, folder, folders.get(folder, root))
    if not found:
        raise git.misnamed(own) if is_misnamed else git.no_module()
    if len(found) > MODULES_MAX:
        raise git.too_large()
    return list(found.values())


def is_in_another(folder: bytes, folders: set[bytes]) -> bool:
    while folder:
        folder = os.path.dirname(folder)
        if folder in folders:
            return True
    return False


def require_inside(git: Git, links: list[Entry], place: str) -> None:
    """No link leads out of the repository. Those that stay in it are left out, like submodules."""
    base = (git.repository["path"] or "").encode()
    for entry in links:
        if entry.size > LINK_BYTES_MAX:
            raise leads_out(git, entry)
    for entry, content in zip(links, git.contents(place, [entry.hash for entry in links]), strict=True):
        target = b"".join(content)
        depth = os.path.normpath(os.path.join(base, os.path.dirname(entry.path), target))
        if target.startswith(b"/") or depth == b".." or depth.startswith(b"../"):
            raise leads_out(git, entry)


def leads_out(git: Git, entry: Entry) -> Problem:
    return invalid(f"The link {printable(entry.path)} in {git.url} leads out of the repository")


def printable(path: bytes) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", path.decode("utf-8", "replace"))[:200]


def read_manifest(git: Git, place: str, module: str, entry: Entry) -> bytes:
    if entry.size > MANIFEST_BYTES_MAX:
        raise invalid(f"The manifest of the module {module} in {git.url} does not parse: it has more than 1 MB", module)
    [content] = [b"".join(pieces) for pieces in git.contents(place, [entry.hash])]
    return content


def version_in(git: Git, module: str, content: bytes, series: str) -> str | None:
    """As the ERP has it in its database; None for a module that says it cannot be installed."""
    try:
        value: object = ast.literal_eval(content.decode("utf-8"))
        if not isinstance(value, dict):
            raise ValueError("it is no dictionary")
        manifest = cast(dict[object, object], value)
        version = str(manifest.get("version", "1.0"))[:50]  # of a very long number there is no text
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError) as error:
        why = re.sub(r"[^\x20-\x7e]", "?", str(error) or type(error).__name__)[:150]
        raise invalid(f"The manifest of the module {module} in {git.url} does not parse: {why}", module) from error
    if not manifest.get("installable", True):
        return None
    if version.startswith(f"{series}."):
        return version
    if re.fullmatch(r"(?:saas~)?\d+\.\d+\.\d+\.\d+(?:\.\d+)?", version):
        own = ".".join(version.split(".")[:2])
        raise invalid(f"The module {module} in {git.url} is for the version {own} of the ERP; the instance has {series}", module)
    return f"{series}.{version}"


class Budget:
    """What all repositories of an instance may have together."""

    def __init__(self) -> None:
        self.bytes = 0
        self.files = 0

    def take(self, git: Git, entries: list[Entry]) -> None:
        self.bytes += sum(entry.size for entry in entries)
        self.files += len(entries)
        if self.bytes > BYTES_MAX or self.files > FILES_MAX:
            raise git.too_large()


# What is wrong with a name, and not with the machine.
NAME_FAULTS = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)


def write(git: Git, place: bytes, parts: list[bytes], content: Iterable[bytes]) -> None:
    """No part of a path leads anywhere else, and nothing here makes links."""
    try:
        file = create(os.path.join(place, *parts), parts)
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, OSError) and error.errno not in NAME_FAULTS:
            raise
        path = printable(b"/".join(parts[1:]))
        raise invalid(f"The path {path} in {git.url} is too long, or has a name that is not allowed") from error
    with file:
        file.writelines(content)


def create(target: bytes, parts: list[bytes]) -> IO[bytes]:
    for part in parts:
        if part in (b"", b".", b"..") or part.lower() == b".git":
            raise ValueError("An entry of a tree has a name that git forbids")
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    return open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb")


class Found(TypedDict):
    name: str
    version: str
    hash: str
    repository: int


def take_repository(git: Git, number: int, series: str, place: str, budget: Budget) -> tuple[str, list[Found], str]:
    """Fetches one repository, and writes its modules; its subject, its modules, and the name of their folder."""
    scratch = os.path.join(place, SCRATCH, str(number))
    git.fetch(scratch)
    entries = git.entries(scratch)
    budget.take(git, entries)
    files = [entry for entry in entries if entry.kind == b"blob"]
    require_inside(git, [entry for entry in files if entry.mode == b"120000"], scratch)
    modules = find_modules(git, entries, git.tree(scratch))
    own = re.sub(r"[^a-z0-9]+", "-", os.path.basename(urlsplit(git.url).path).removesuffix(".git").lower()).strip("-")
    folder = f"{number + 1}-{own[:40] or 'code'}"
    found: list[Found] = []
    for module in modules:
        prefix = module.folder + b"/" if module.folder else b""
        inside = [entry for entry in files if entry.path.startswith(prefix) and entry.mode != b"120000"]
        manifest = next(entry for entry in inside if entry.path == prefix + MANIFEST)
        version = version_in(git, module.name, read_manifest(git, scratch, module.name, manifest), series)
        if version is None:
            continue
        found.append({"name": module.name, "version": version, "hash": module.hash.decode(), "repository": number})
        hashes = [entry.hash for entry in inside]
        for entry, content in zip(inside, git.contents(scratch, hashes), strict=True):
            relative = entry.path[len(prefix) :].split(b"/")
            write(git, os.fsencode(place), [folder.encode(), module.name.encode(), *relative], content)
    if not found:
        raise git.no_module()
    return git.subject(scratch), found, folder


Taken = tuple[str, list[Found], str]


def try_to_take(number: int, git: Git, series: str, place: str, budget: Budget) -> Taken | dict[str, object]:
    try:
        return take_repository(git, number, series, place, budget)
    except Problem as error:
        return {"code": error.code, "repository": number, "module": error.module, "problem": str(error)}


def commit_of(git: Git) -> dict[str, object]:
    try:
        return {"commit": git.commit_of_ref(), "problem": None, "host_key": git.host_key()}
    except Problem as error:
        return {"commit": None, "problem": str(error), "host_key": git.host_key()}


def resolve(request: Request, home: str, known_hosts: str) -> dict[str, object]:
    gits = [Git(repository, new_home(home, number), known_hosts) for number, repository in enumerate(request["repositories"])]
    with ThreadPoolExecutor(LOOKS_AT_ONCE) as looks:
        return {"commits": list(looks.map(commit_of, gits))}


def new_home(home: str, number: int) -> str:
    """Repositories are looked up in parallel, so each has a home for its key."""
    place = os.path.join(home, str(number))
    os.mkdir(place)
    return place


def fetch(request: Request, home: str, known_hosts: str, series: str, place: str) -> dict[str, object]:
    subjects: list[str | None] = []
    problems: list[dict[str, object]] = []
    folders: list[str] = []
    modules: dict[str, Found] = {}
    budget = Budget()
    scratch = os.path.join(place, SCRATCH)
    shutil.rmtree(scratch, ignore_errors=True)  # of a job that was killed
    os.mkdir(scratch)
    for number, repository in enumerate(request["repositories"]):
        taken = try_to_take(number, Git(repository, home, known_hosts), series, place, budget)
        shutil.rmtree(os.path.join(scratch, str(number)), ignore_errors=True)  # each may send as much as a file may have
        if isinstance(taken, dict):
            subjects.append(None)
            problems.append(taken)
            if time.monotonic() > UNTIL:
                break  # the other ones are not what took too long
            continue
        subject, found, folder = taken
        subjects.append(subject)
        folders.append(folder)
        for module in found:
            modules.setdefault(module["name"], module)
    shutil.rmtree(scratch)
    return {
        "subjects": subjects,
        "problems": problems[:PROBLEMS_MAX],
        "folders": folders,
        "modules": list(modules.values()),
    }


def main(command: str, *arguments: str) -> None:
    request = cast(Request, json.load(sys.stdin))
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as home:
        known_hosts = os.path.join(home, "known_hosts")
        before = [*PINNED, *request["known_hosts"]]
        with open(known_hosts, "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in before))
        found = resolve(request, home, known_hosts) if command == "resolve" else fetch(request, home, known_hosts, *arguments)
        with open(known_hosts, encoding="utf-8") as file:
            learned = [line for line in file.read().splitlines() if line and line not in before]
    print(json.dumps({**found, "known_hosts": learned}))


if __name__ == "__main__":
    main(*sys.argv[1:])
