"""A source as people and agents write it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from core.errors import InvalidRequest
from core.http.errors import HttpRefused
from core.http.urls import url_read
from registry.archives.contents import path_check
from registry.installations.models import SourceType
from registry.installations.sources.address_kinds import kind_refusal
from registry.installations.sources.git_address import address_shape, ref_check

_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


@dataclass(frozen=True)
class Source:
    """`digest` is the SHA-256, in hex, of a zip at an address; `path` a folder of a repository."""

    type: str
    location: str = ""
    ref: str = ""
    path: str = ""
    digest: str = ""


def source_read(given: Any) -> Source:
    """The source in a request's body. Raises InvalidRequest with pointers."""
    names = {one.name for one in fields(Source)}
    if not isinstance(given, Mapping):
        raise _wrong("", "A source is an object: {type, location, ref, path, digest}.")
    for name, value in given.items():
        if name not in names:
            raise _wrong(name, f"A source has no member {name[:64]!r}.", code="UNKNOWN_MEMBER")
        if not isinstance(value, str) or "\0" in value:
            raise _wrong(name, "This must be text.")
    if "type" not in given:
        raise _wrong("type", "Say which type of source it is.")
    digest = _DIGEST.fullmatch(given.get("digest", ""))
    return Source(**{**given, "digest": digest[1] if digest else given.get("digest", "")})


def source_check(source: Source) -> None:
    """Raises InvalidRequest with pointers for what cannot be a source; nothing is fetched."""
    if source.type not in SourceType.values:
        raise _wrong("type", f"A source's type is one of {', '.join(SourceType.values)}.")
    if not source.location or len(source.location) > 2000:
        raise _wrong("location", "Say where it is, in at most 2,000 characters.")
    if source.type == SourceType.GIT:
        address_shape(source.location)
        ref_check(source.ref)
        if source.path.strip("/"):
            path_check(source.path.strip("/"))
    elif source.ref or source.path:
        raise _wrong("ref", "Only repositories have a ref and a path.")
    if source.type == SourceType.URL:
        zip_kind_check(source.location)
        try:
            url_read(source.location)
        except HttpRefused as error:
            raise _wrong("location", f"The address {error}.", code="SOURCE_REFUSED") from error
        if not _DIGEST.fullmatch(source.digest):
            raise _wrong("digest", "Give the zip's SHA-256, 64 hex digits, as its publisher names it.")


def zip_kind_check(text: str) -> None:
    """Raises InvalidRequest for a text that is no http or https address, with what it is instead."""
    why = kind_refusal(text, files_allowed=False)
    if not why and not text.lower().startswith(("http://", "https://")):
        why = "is no https:// address"
    if why:
        raise _wrong("location", f"The address {why}.", code="SOURCE_REFUSED")


def _wrong(field: str, message: str, code: str = "INVALID_REQUEST") -> InvalidRequest:
    pointer = f"/{field}" if field else ""
    return InvalidRequest(message, code=code, errors=[{"pointer": pointer, "message": message}])
