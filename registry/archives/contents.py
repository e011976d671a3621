"""A package's files as a value: path → bytes, every path checked by hand."""

import hashlib
import unicodedata
from collections.abc import Mapping
from pathlib import PurePosixPath

from core.errors import InvalidRequest

Contents = Mapping[str, bytes]
"""Paths relative to the package, with `/` between names, and the files' bytes. Whether a file may be executed
is not a part of it: in a release all may."""

MANIFEST = "toolhub.json"
FILES_MAX = 5_000
BYTES_MAX = 64 * 1024 * 1024
FILE_BYTES_MAX = 32 * 1024 * 1024
PATH_MAX = 240
DEPTH_MAX = 16
# What a checkout leaves behind and no release needs.
LEFT_OUT = frozenset({".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules", ".DS_Store"})
_DEVICES = frozenset({"con", "prn", "aux", "nul"})


def path_refuse(path: str, why: str) -> InvalidRequest:
    """The error about a path in a package."""
    shown = path[:120].encode("unicode_escape").decode("ascii")
    return InvalidRequest(
        f"The package has the path '{shown}', which {why}.", code="PACKAGE_REFUSED", data={"path": shown}
    )


def path_check(path: str) -> str:
    """The path in normal form (NFC). Raises PACKAGE_REFUSED for one that could lead elsewhere."""
    if not path or len(path.encode("utf-8", "replace")) > PATH_MAX:
        raise path_refuse(path, f"is empty or longer than {PATH_MAX} bytes")
    if path.startswith("/") or "\\" in path or (len(path) > 1 and path[1] == ":"):
        raise path_refuse(path, "is not relative")
    parts = path.split("/")
    if len(parts) > DEPTH_MAX:
        raise path_refuse(path, f"is nested deeper than {DEPTH_MAX} folders")
    for part in parts:
        if part in {"", ".", ".."}:
            raise path_refuse(path, "has an empty, `.` or `..` part")
        if any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for char in part):
            raise path_refuse(path, "has an invisible or control character")
        if part.endswith((" ", ".")) or part.split(".")[0].lower() in _DEVICES:
            raise path_refuse(path, "is not a file's name everywhere")
    return unicodedata.normalize("NFC", path)


def is_left_out(path: str) -> bool:
    """Whether the path lies in what a checkout leaves behind."""
    return any(part in LEFT_OUT or part.endswith(".pyc") for part in PurePosixPath(path).parts)


def contents_check(contents: Contents) -> None:
    """Raises ToolHubError PACKAGE_REFUSED for too many or too large files, and for paths that collide."""
    if len(contents) > FILES_MAX:
        raise InvalidRequest(
            f"The package has more than {FILES_MAX} files.", code="PACKAGE_REFUSED", data={"limit": FILES_MAX}
        )
    if sum(map(len, contents.values())) > BYTES_MAX:
        raise InvalidRequest(
            f"The package's files have more than {BYTES_MAX} bytes.",
            code="PACKAGE_REFUSED",
            data={"limit": BYTES_MAX},
        )
    seen: dict[str, str] = {}
    folders = {str(folder).casefold() for path in contents for folder in PurePosixPath(path).parents}
    for path in contents:
        # On some file systems these two are one.
        other = seen.setdefault(path.casefold(), path)
        if other != path or path.casefold() in folders:
            raise path_refuse(path, "is there twice, or is both a file and a folder")


def digests_of(contents: Contents) -> dict[str, str]:
    """SHA-256, in hex, of each file but the manifest, which a release's digest covers by itself."""
    return {
        path: hashlib.sha256(content).hexdigest()
        for path, content in sorted(contents.items())
        if path != MANIFEST
    }
