"""The addresses of the API that are like one that does not exist."""

import difflib
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

SEGMENTS_MOST = 12
LENGTH_MOST = 64
_PLACE = re.compile(r"<(?:[a-z_]{1,20}:)?([A-Za-z_]{1,40})>|\(\?P<([A-Za-z_]{1,40})>[^)]{0,80}\)")


def routes_like(path: str, under: str, most: int = 3) -> list[str]:
    """Return up to `most` addresses below `under` that are like a path, such as `tools/{name}/execute`.

    Names in braces are replaced by what the path has at their place. Compares segment by segment, at most 12.
    """
    given = path.removeprefix(under).strip("/").split("/")[:SEGMENTS_MOST]
    ranked = sorted(
        ((score, route) for route in _routes(under) if (score := _likeness(given, route)) > 0), reverse=True
    )
    return [under + "/".join(_filled(given, route)) for _, route in ranked[:most]]


@functools.cache
def _routes(under: str) -> tuple[tuple[str, ...], ...]:
    found = {route for route in _walked(get_resolver().url_patterns, "") if route.startswith(under)}
    return tuple(tuple(route.removeprefix(under).strip("/").split("/")) for route in sorted(found))


def _walked(patterns: Sequence[URLPattern | URLResolver], above: str) -> Iterator[str]:
    for one in patterns:
        text = above + _PLACE.sub(lambda found: f"{{{found[1] or found[2]}}}", str(one.pattern)).strip("^$")
        if isinstance(one, URLResolver):
            inner: Any = one.url_patterns
            yield from _walked(inner, text)
        else:
            yield f"/{text}"


def _likeness(given: Sequence[str], route: Sequence[str]) -> float:
    """How like the segments are; 0 where fewer than half of those with a name are."""
    if abs(len(given) - len(route)) > 1:
        return 0.0
    fixed = [(one, other) for one, other in zip(given, route, strict=False) if not other.startswith("{")]
    parts = [difflib.SequenceMatcher(None, one[:LENGTH_MOST], other).ratio() for one, other in fixed]
    if not parts or parts[0] < 0.7:
        return 0.0
    # Between equals an address that carries something out comes first.
    return sum(parts) / len(parts) - abs(len(given) - len(route)) / 4 + ("execute" in route) / 2


def _filled(given: Sequence[str], route: Sequence[str]) -> Iterator[str]:
    for index, part in enumerate(route):
        yield given[index][:LENGTH_MOST] if part.startswith("{") and index < len(given) else part
