"""What the files of a package may be: how many, how large, and under which paths."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from toolhub_sdk.normal_form import MARKS_MAX, has_long_run

MANIFEST = "toolhub.json"
FILES_MAX = 5_000
BYTES_MAX = 64 * 1024 * 1024
FILE_BYTES_MAX = 32 * 1024 * 1024
ARCHIVE_BYTES_MAX = 24 * 1024 * 1024
PATH_MAX = 240
DEPTH_MAX = 16
LEFT_OUT = frozenset({".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules", ".DS_Store"})
"""Names of files and folders that a checkout leaves behind and that no package holds."""
_DEVICES = frozenset({"con", "prn", "aux", "nul"})
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True)
class Unfit:
    """Why no hub takes the files: for a path of theirs, or for a limit that they pass."""

    message: str
    path: str | None = None
    limit: int | None = None


def is_left_out(path: str) -> bool:
    """Whether the path lies in what a checkout leaves behind."""
    return any(part in LEFT_OUT or part.endswith(".pyc") for part in PurePosixPath(path).parts)


def path_unfit(path: str, why: str) -> Unfit:
    """What is said about a path; `why` is what it does, such as "is empty"."""
    shown = path[:120].encode("unicode_escape").decode("ascii")
    return Unfit(f"The package has the path '{shown}', which {why}.", path=shown)


def path_fault(path: str) -> str | None:
    """Why a path could lead elsewhere, or is no name everywhere; None where it is one of the package's."""
    if not path or len(path.encode("utf-8", "replace")) > PATH_MAX:
        return f"is empty or longer than {PATH_MAX} bytes"
    if path.startswith("/") or "\\" in path or (len(path) > 1 and path[1] == ":"):
        return "is not relative"
    parts = path.split("/")
    if len(parts) > DEPTH_MAX:
        return f"is nested deeper than {DEPTH_MAX} folders"
    for part in parts:
        if part in {"", ".", ".."}:
            return "has an empty, `.` or `..` part"
        if any(unicodedata.category(char) in _UNSEEN for char in part):
            return "has an invisible or control character"
        if has_long_run(part):
            return f"has more than {MARKS_MAX} combining marks in a row"
        if part.endswith((" ", ".")) or part.split(".")[0].lower() in _DEVICES:
            return "is not a file's name everywhere"
    return None


def contents_unfit(files: Mapping[str, bytes]) -> Unfit | None:
    """What is wrong with a package's files (path → bytes), or None."""
    if len(files) > FILES_MAX:
        return Unfit(f"The package has more than {FILES_MAX} files.", limit=FILES_MAX)
    if sum(map(len, files.values())) > BYTES_MAX:
        return Unfit(f"The package's files have more than {BYTES_MAX} bytes.", limit=BYTES_MAX)
    seen: dict[str, str] = {}
    folders = {str(folder).casefold() for path in files for folder in PurePosixPath(path).parents}
    for path, content in files.items():
        why = path_fault(path)
        if why:
            return path_unfit(path, why)
        if len(content) > FILE_BYTES_MAX:
            return path_unfit(path, f"has more than {FILE_BYTES_MAX} bytes")
        # On some file systems these two are one.
        other = seen.setdefault(path.casefold(), path)
        if other != path or path.casefold() in folders:
            return path_unfit(path, "is there twice, or is both a file and a folder")
    return None
