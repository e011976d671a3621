"""Sanitising: the arguments of tools that want it are cleaned before conditions and the schema judge them.

Texts become NFC. They lose control characters (not tab and line ends), characters that turn the direction of
writing, and combining marks beyond 30 in a row. Paths (fields of kind `path`) are resolved. A run keeps both
forms. The schema's sizes are checked first (execution/engine/calls/checks.py).
"""

import dataclasses
import posixpath
import re
from collections.abc import Collection, Iterator
from typing import Any

from execution.engine.requests import CallRequest
from registry.schemas import pointer
from registry.selectors import ResolvedTool
from security.content.kinds import EACH
from toolhub_sdk.normal_form import normalised

# Control characters, and those of UAX #9: embeddings, overrides, isolates and marks.
_DROPPED = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PIECE = 65_536
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
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    # First: characters that it separated may combine.
    text = normalised("NFC", "".join(_DROPPED.sub("", piece) for piece in pieces))
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
