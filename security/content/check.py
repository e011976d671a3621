"""Content checks: what looks like an attack in a call's arguments, by the kinds of a tool's fields.

All work is linear in the text, and bounded: 64 KiB of a field, 256 KiB of a call.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from security.content.families import families_found
from security.content.forms import FORMS
from security.content.kinds import CHECKED, EACH, Field
from security.content.violation import Violation
from toolhub_sdk.problem import pointer as pointer_of

FIELD_MAX = 65_536
CALL_MAX = 262_144
FOUND_MAX = 20
_NOT_WHOLE = "The text is too long to be looked at whole."
_SHORTER = "Send less than 64 KiB in such a field, and 256 KiB in all of them."


def violations_of(fields: Sequence[Field], arguments: Mapping[str, Any]) -> tuple[Violation, ...]:
    """What looks like an attack in the arguments, at most 20, one of each kind and place."""
    found: dict[tuple[str, str, str], Violation] = {}
    left = CALL_MAX
    for field in fields:
        if field.kind not in CHECKED:
            continue
        for place, text in texts_at(field.place, arguments):
            part = text[: min(FIELD_MAX, left)]
            left -= len(part)
            for one in _violations(field.kind, part, place, is_whole=len(part) == len(text)):
                found.setdefault((one.pointer, one.type, one.description), one)
                if len(found) == FOUND_MAX:
                    return tuple(found.values())
    return tuple(found.values())


def kind_violations(kind: str, text: str, pointer: str = "") -> Iterator[Violation]:
    """What looks like an attack in one text of a kind."""
    signs = importlib.import_module(f"security.content.signs.{kind}")
    for family in families_found(FORMS[kind](text), signs.FAMILIES, signs.SCANNERS):
        yield family.violation(pointer)


def texts_at(
    place: Sequence[str], value: Any, at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts at a place, each with where it is."""
    if not place:
        if isinstance(value, str):
            yield at, value
    elif place[0] == EACH and isinstance(value, list):
        for number, item in enumerate(value):
            yield from texts_at(place[1:], item, (*at, str(number)))
    elif isinstance(value, Mapping) and place[0] in value:
        yield from texts_at(place[1:], value[place[0]], (*at, place[0]))


def _violations(kind: str, text: str, place: tuple[str, ...], *, is_whole: bool) -> Iterator[Violation]:
    pointer = pointer_of(place)
    yield from kind_violations(kind, text, pointer)
    if not is_whole:
        yield Violation("injection", "low", _NOT_WHOLE, _SHORTER, pointer)
