"""A package's files as a value: path → bytes, every path checked by hand."""

import hashlib
from collections.abc import Mapping

from core.errors import InvalidRequest
from toolhub_sdk.checks.contents import (
    BYTES_MAX,
    FILE_BYTES_MAX,
    FILES_MAX,
    MANIFEST,
    Unfit,
    contents_unfit,
    is_left_out,
    path_fault,
    path_unfit,
)
from toolhub_sdk.normal_form import normalised

__all__ = [
    "BYTES_MAX",
    "FILES_MAX",
    "FILE_BYTES_MAX",
    "MANIFEST",
    "Contents",
    "contents_check",
    "digests_of",
    "is_left_out",
    "path_check",
    "path_refuse",
]
Contents = Mapping[str, bytes]
"""Paths relative to the package, with `/` between names, and the files' bytes. Whether a file may be executed
is not a part of it: in a release all may."""


def path_refuse(path: str, why: str) -> InvalidRequest:
    """The error about a path in a package."""
    return _refused(path_unfit(path, why))


def path_check(path: str) -> str:
    """The path in normal form (NFC). Raises PACKAGE_REFUSED for one that could lead elsewhere."""
    why = path_fault(path)
    if why:
        raise path_refuse(path, why)
    return normalised("NFC", path)


def contents_check(contents: Contents) -> None:
    """Raises ToolHubError PACKAGE_REFUSED for too many or too large files, and for paths that collide."""
    unfit = contents_unfit(contents)
    if unfit:
        raise _refused(unfit)


def _refused(unfit: Unfit) -> InvalidRequest:
    about = {"path": unfit.path, "limit": unfit.limit}
    data = {name: value for name, value in about.items() if value is not None}
    return InvalidRequest(unfit.message, code="PACKAGE_REFUSED", data=data)


def digests_of(contents: Contents) -> dict[str, str]:
    """SHA-256, in hex, of each file but the manifest, which a release's digest covers by itself."""
    return {
        path: hashlib.sha256(content).hexdigest()
        for path, content in sorted(contents.items())
        if path != MANIFEST
    }
