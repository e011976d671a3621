"""Where two JSON values differ."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from core.json.canonical import canonical
from registry.schemas import pointer

SHOWN_MAX = 50
Path = tuple[str | int, ...]


def differences(before: Any, after: Any, limit: int = SHOWN_MAX) -> list[dict[str, Any]]:
    """Up to `limit` places as `{pointer, before, after}` (RFC 6901), in canonical order of the names.

    A side that lacks the place has no member. Values are compared as JSON: 1 and 1.0 are the same number,
    1 and true are not the same.
    """
    return list(islice(_walk((), before, after), limit))


def _walk(path: Path, before: Any, after: Any) -> Iterator[dict[str, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            yield from _member((*path, name), before, after, name in before, name in after, name)
    elif isinstance(before, list) and isinstance(after, list):
        for at in range(max(len(before), len(after))):
            yield from _member((*path, at), before, after, at < len(before), at < len(after), at)
    elif canonical(before) != canonical(after):
        yield {"pointer": pointer(path), "before": before, "after": after}


def _member(
    path: Path, before: Any, after: Any, had: bool, has: bool, key: str | int
) -> Iterator[dict[str, Any]]:
    if had and has:
        yield from _walk(path, before[key], after[key])
    elif had:
        yield {"pointer": pointer(path), "before": before[key]}
    else:
        yield {"pointer": pointer(path), "after": after[key]}
