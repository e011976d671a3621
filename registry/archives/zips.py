"""Zip archives: hostile ones are read by hand-checked paths within bounds, ours are written reproducibly.

The format is PKWARE's APPNOTE. `ZipFile.extract` and the standard filters are not used: nothing is ever
written where an archive says.
"""

import io
import stat
import struct
import zipfile
import zlib

from core.errors import InvalidRequest
from registry.archives.contents import (
    BYTES_MAX,
    FILE_BYTES_MAX,
    FILES_MAX,
    Contents,
    contents_check,
    is_left_out,
    path_check,
    path_refuse,
)
from toolhub_sdk.checks.contents import ARCHIVE_BYTES_MAX

# A text that repeats itself packs better than this; what packs so well beyond RATIO_FREE is a bomb.
RATIO_MAX = 200
RATIO_FREE = 1024 * 1024
_ENTRIES_MAX = FILES_MAX * 2
# The end of the directory stands before a comment of at most 64 KiB.
_END_SEARCHED = (1 << 16) + 22
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_EPOCH = (1980, 1, 1, 0, 0, 0)


def zip_write(contents: Contents) -> bytes:
    """The files as a zip that depends on nothing but them: sorted, without times, all with one mode."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(contents):
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o755) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, contents[path], compresslevel=6)
    return out.getvalue()


def zip_read(raw: bytes) -> dict[str, bytes]:
    """The files of a zip from outside; a single folder around all of them is taken off.

    Raises ToolHubError PACKAGE_REFUSED, saying why.
    """
    if len(raw) > ARCHIVE_BYTES_MAX:
        raise _refused(f"is larger than {ARCHIVE_BYTES_MAX} bytes")
    _count_check(raw)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            contents = _entries_read(archive, archive.infolist())
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _refused("is not a zip, or is damaged") from error
    except (ValueError, RuntimeError, OSError, UnicodeError) as error:
        raise _refused("cannot be read") from error
    contents = _unwrapped(contents)
    contents_check(contents)
    return contents


def _count_check(raw: bytes) -> None:
    """Refuses an archive of too many entries before anything is made of them.

    The central directory is walked by its headers (APPNOTE 4.3.12), as far as _ENTRIES_MAX: what its end says
    of the count is the sender's word only. What is no directory is found out by who reads it.
    """
    end = raw.rfind(b"PK\x05\x06", max(0, len(raw) - _END_SEARCHED))
    if end < 0 or len(raw) < end + 22:
        return
    count, size = struct.unpack_from("<HL", raw, end + 10)
    # Within ARCHIVE_BYTES_MAX nobody needs the form for large ones, in which a second count and size stand.
    if count == 0xFFFF or size == 0xFFFFFFFF or raw[max(0, end - 20) : end].startswith(b"PK\x06\x07"):
        raise _refused("is in the form for archives of more than 4 GiB")
    at, found = end - size, 0
    while 0 <= at <= end - 46 and raw.startswith(b"PK\x01\x02", at):
        found += 1
        at += 46 + sum(struct.unpack_from("<HHH", raw, at + 28))
        if found > _ENTRIES_MAX:
            break
    if max(count, found) > _ENTRIES_MAX:
        raise _refused(f"has more than {_ENTRIES_MAX} entries")


def _entries_read(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    left = BYTES_MAX
    for entry in entries:
        if entry.is_dir():
            path_check(entry.filename.rstrip("/"))
            continue
        path = path_check(entry.filename)
        _kind_check(entry, path)
        if is_left_out(path):
            continue
        if path in contents:
            raise path_refuse(path, "is there twice")
        contents[path] = _entry_read(archive, entry, path, left)
        left -= len(contents[path])
    return contents


def _kind_check(entry: zipfile.ZipInfo, path: str) -> None:
    """Regular files only, packed in a way that every reader understands alike."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.create_system == 3 and kind not in (0, stat.S_IFREG):
        raise path_refuse(path, "is a link or a device; only files and folders are taken")
    if entry.flag_bits & 0x1:
        raise path_refuse(path, "is encrypted")
    if entry.compress_type not in _METHODS:
        raise path_refuse(path, "is packed by a method that is not deflate")
    if entry.orig_filename.split("\0")[0] != entry.orig_filename:
        raise path_refuse(path, "has a NUL in its name")


def _entry_read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, left: int) -> bytes:
    """The entry's bytes; what its header says of the size is not believed."""
    most = min(FILE_BYTES_MAX, left)
    with archive.open(entry) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise path_refuse(path, f"makes the package larger than {most} bytes allow")
    if len(content) > RATIO_FREE and len(content) > RATIO_MAX * max(1, entry.compress_size):
        raise path_refuse(path, f"unpacks to more than {RATIO_MAX} times its size")
    return content


def _unwrapped(contents: dict[str, bytes]) -> dict[str, bytes]:
    """Without the one folder around everything, as code hosts make it."""
    tops = {path.split("/", 1)[0] for path in contents}
    if len(tops) != 1 or any("/" not in path for path in contents):
        return contents
    return {path.split("/", 1)[1]: content for path, content in contents.items()}


def _refused(why: str) -> InvalidRequest:
    return InvalidRequest(f"The archive {why}.", code="PACKAGE_REFUSED")
