"""The files that a tool left for its caller, taken when nothing of the tool is left that could swap them."""

import os
import stat
import struct

from security.sandbox import native
from security.sandbox.supervisor.channel import Files

FOLDER = "artefacts"
NAME_MOST = 200
_OPENAT2 = 437
_RESOLVE = 0x08 | 0x04 | 0x02 | 0x01  # beneath, no symbolic links, no magic links, no other file system
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = 1 << 20


class Skipped(Exception):
    """A file is not taken. Says why."""


def collect(work: int, most_bytes: int, most: int) -> "tuple[Files, list[tuple[str, str]]]":
    """The files of the folder `artefacts` in the work folder by name, and those not taken with the reason.

    Only plain files with one name are taken; no link is followed, also none to another file system.
    """
    taken: Files = []
    skipped: list[tuple[str, str]] = []
    try:
        folder = _open(work, FOLDER, os.O_DIRECTORY)
    except OSError:
        return taken, skipped
    left = most_bytes
    try:
        for number, name in enumerate(sorted(os.listdir(folder))):
            try:
                if number >= most:
                    raise Skipped(f"more than {most} files")
                content = _content(folder, name, left)
            except (Skipped, OSError) as error:
                if len(skipped) < most:
                    skipped.append((_shown(name), getattr(error, "strerror", None) or str(error)))
                continue
            left -= len(content)
            taken.append((name, content))
    finally:
        os.close(folder)
    return taken, skipped


def _content(folder: int, name: str, left: int) -> bytes:
    if not _is_plain(name):
        raise Skipped("its name is not plain text, or too long")
    file = _open(folder, name, 0)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise Skipped("it is no plain file")
        if found.st_nlink != 1:
            raise Skipped("it has a second name")
        if found.st_size > left:
            raise Skipped(f"{found.st_size} bytes are too many")
        parts = []
        while found.st_size and (part := os.read(file, _READ)):
            parts.append(part)
        return b"".join(parts)[: found.st_size]
    finally:
        os.close(file)


def _open(at: int, name: str, flags: int) -> int:
    how = struct.pack("=3Q", _FLAGS | flags, 0, _RESOLVE)
    return native.syscall(_OPENAT2, at, os.fsencode(name), how, len(how))


def _is_plain(name: str) -> bool:
    try:
        plain = name.encode()
    except UnicodeEncodeError:
        return False
    return len(plain) <= NAME_MOST and name.isprintable()


def _shown(name: str) -> str:
    return name[:80].encode(errors="replace").decode()
