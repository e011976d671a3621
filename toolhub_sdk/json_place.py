"""Where in a JSON text something stands; used only to explain a refusal, so it may be slow."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s"\[\]{},:]+', re.DOTALL)
_EXPLAINED_CHARS = 131_072  # in a longer text the place is not looked for: that would cost more than parsing


class Place(NamedTuple):
    """A position in characters from 0, and the JSON Pointer of the value (RFC 6901)."""

    position: int
    pointer: str


@dataclass(slots=True)
class _Level:
    is_object: bool
    step: str = ""
    index: int = 0
    expects_key: bool = False
    keys: set[str] = field(default_factory=set)


class _Token(NamedTuple):
    text: str
    place: Place
    is_key: bool
    is_repeated: bool


def pointer_of(steps: list[str]) -> str:
    """The JSON Pointer of a path (RFC 6901 §3), free of lone surrogates so that it can be sent."""
    pointer = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
    return pointer.encode("utf-8", "backslashreplace").decode()


def place_of_literal(text: str, literal: str) -> Place | None:
    """The first place where the literal stands as a value."""
    return next((token.place for token in _tokens(text) if token.text == literal and not token.is_key), None)


def place_of_duplicate(text: str) -> Place | None:
    """The first member whose name its object has already."""
    return next((token.place for token in _tokens(text) if token.is_repeated), None)


def _tokens(text: str) -> Iterator[_Token]:
    if len(text) > _EXPLAINED_CHARS:
        return
    levels: list[_Level] = []
    for match in _TOKENS.finditer(text):
        part = match[0]
        if part in ("[", "{"):
            levels.append(_Level(is_object=part == "{", step="0", expects_key=part == "{"))
        elif not levels:
            yield _Token(part, Place(match.start(), ""), is_key=False, is_repeated=False)
        elif part in ("]", "}"):
            levels.pop()
        elif part == ",":
            _step_on(levels[-1])
        elif part != ":":
            yield _member(part, match.start(), levels)


def _step_on(level: _Level) -> None:
    level.expects_key = level.is_object
    if not level.is_object:
        level.index += 1
        level.step = str(level.index)


def _member(part: str, position: int, levels: list[_Level]) -> _Token:
    level = levels[-1]
    is_key, is_repeated = level.expects_key, False
    if is_key:
        level.step = _name(part)
        level.expects_key = False
        is_repeated = level.step in level.keys
        level.keys.add(level.step)
    place = Place(position, pointer_of([level.step for level in levels]))
    return _Token(part, place, is_key, is_repeated)


def _name(part: str) -> str:
    try:
        return str(json.loads(part))
    except json.JSONDecodeError:  # behind the refused place the text may be anything
        return part
