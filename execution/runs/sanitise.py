"""Sanitising: what a tool that wants it gets of its arguments, before anything judges them.

Texts become NFC, lose control characters (not tab and line ends) and those that turn the writing's direction,
and paths (fields of kind `path`) are resolved by their parts. The run keeps both forms.
"""

import dataclasses
import posixpath
import unicodedata
from collections.abc import Collection, Iterator
from typing import Any

from execution.runs.requests import CallRequest
from registry.schemas import pointer
from registry.selectors import ResolvedTool
from security.content.kinds import EACH

_KEPT = "\t\n\r"
# UAX #9: embeddings, overrides, isolates and marks.
_TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SHOWN = 5


def sanitised(found: ResolvedTool, request: CallRequest) -> CallRequest:
    """The request as the tool gets it; the same one where nothing is to be done."""
    if not found.sanitises:
        return request
    paths = frozenset(field.place for field in found.version.content_fields if field.kind == "path")
    cleaned = {name: _clean(value, (name,), paths) for name, value in request.arguments.items()}
    if cleaned == request.arguments:
        return request
    return dataclasses.replace(request, arguments=cleaned, given=request.arguments)


def cleaned_words(request: CallRequest) -> tuple[str, ...]:
    """Which arguments were changed, as a warning."""
    if not request.given:
        return ()
    places = list(_differing(request.given, request.arguments, ()))
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return (f"Arguments were sanitised: {', '.join(places[:SHOWN])}{more}.",)


def clean_text(text: str, *, is_path: bool = False) -> str:
    """One text, sanitised."""
    text = unicodedata.normalize("NFC", text)
    text = "".join(c for c in text if c in _KEPT or (unicodedata.category(c) != "Cc" and c not in _TURNING))
    if is_path and text:
        text = posixpath.normpath(text)
        # POSIX leaves the meaning of two slashes at the front open.
        text = "/" + text.lstrip("/") if text.startswith("//") else text
    return text


def _clean(value: Any, place: tuple[str, ...], paths: Collection[tuple[str, ...]]) -> Any:
    if isinstance(value, str):
        return clean_text(value, is_path=place in paths)
    if isinstance(value, list):
        return [_clean(one, (*place, EACH), paths) for one in value]
    if isinstance(value, dict):
        return {name: _clean(one, (*place, name), paths) for name, one in value.items()}
    return value


def _differing(before: Any, after: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(before, dict):
        for name, value in before.items():
            yield from _differing(value, after[name], (*path, name))
    elif isinstance(before, list):
        for number, value in enumerate(before):
            yield from _differing(value, after[number], (*path, number))
    elif before != after:
        yield pointer(path)
