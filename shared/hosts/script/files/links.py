# The ERP's files in their folder: whatever the code of an ERP has made of it, nothing here follows a link.
import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator

HOME = b"/var/lib/odoo"
STORE = HOME + b"/filestore"
# The ERP's own folders are two deep. Deeper ones only exist to cause trouble.
DEPTH_MAX = 50
REMOVE_SECONDS = 600


class Failure(Exception):
    """The files on the machine are not as they must be."""


def folder(name: str | bytes | None, make: bool = False) -> bytes:
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


def exists(name: str) -> bool:
    return os.path.lexists(os.path.join(STORE, os.fsencode(name)))


def walk(top: bytes, skip: Callable[[bytes], object] = lambda _: None) -> Iterator[bytes]:
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
        deeper: list[bytes] = []
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


def link_into(source: bytes, target: bytes, known: set[bytes]) -> int:
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


def remove(name: str | bytes) -> None:
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


def emptied(place: bytes) -> list[bytes]:
    """The folders that are left once everything else in a folder is removed."""
    own(place)
    folders: list[bytes] = []
    with os.scandir(place) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(entry.path)
    return folders


def own(place: bytes) -> None:
    os.chmod(place, 0o700)
