"""Sentences with named slots and optional sections, filled from JSON data.

`Granted {capability} to {persona}[ until {until:time}]` needs `capability` and `persona`. The section in
brackets is left out unless the data has all its slots. A slot may name how its value is shown: `time` for an
ISO 8601 moment, `ms` for a duration, or a word for true and one for false as in `{up:up|down}`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Stands for a value that the data should have and has not, as in events of an earlier version.
MISSING = "(not recorded)"
FORMS = frozenset({"", "time", "ms"})
SHOWN = 200
_SECTION = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)(?::([\w|]+))?\}")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a filled sentence. `name` is the slot that it fills, empty for the text between slots."""

    text: str
    name: str = ""
    form: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence as declared. Raises ValueError for brackets without their pair and unknown forms."""

    template: str

    def __post_init__(self) -> None:
        left = _SLOT.sub("", _SECTION.sub(r"\1", self.template))
        if set(left) & set("{}[]"):
            raise ValueError(f'"{self.template}": a bracket or brace has no pair, or a slot has no name.')
        forms = {form for _, form in _SLOT.findall(self.template) if form.count("|") != 1}
        if wrong := forms - FORMS:
            raise ValueError(f'"{self.template}": there is no form {", ".join(sorted(wrong))}.')

    @cached_property
    def _sections(self) -> tuple[tuple[str, bool], ...]:
        """The text in order, each piece with whether it is optional."""
        pieces = _SECTION.split(self.template)
        return tuple((piece, bool(number % 2)) for number, piece in enumerate(pieces) if piece)

    @property
    def needed(self) -> frozenset[str]:
        """The slots outside of optional sections."""
        return self._slots(optional=False)

    @property
    def optional(self) -> frozenset[str]:
        """The slots of optional sections."""
        return self._slots(optional=True)

    def _slots(self, *, optional: bool) -> frozenset[str]:
        return frozenset(
            name
            for text, is_optional in self._sections
            if is_optional is optional
            for name, _ in _SLOT.findall(text)
        )

    def parts(self, data: Mapping[str, Any]) -> list[Part]:
        """The sentence filled from the data, in order. A needed value that is missing is named as such."""
        found: list[Part] = []
        for text, is_optional in self._sections:
            if not is_optional or all(_is_given(data.get(name)) for name, _ in _SLOT.findall(text)):
                found += _filled(text, data)
        return found

    def text(self, data: Mapping[str, Any]) -> str:
        """The filled sentence as plain text."""
        return "".join(part.text for part in self.parts(data))


def _filled(text: str, data: Mapping[str, Any]) -> list[Part]:
    parts, end = [], 0
    for slot in _SLOT.finditer(text):
        parts.append(Part(text[end : slot.start()]))
        parts.append(_part(slot[1], slot[2] or "", data.get(slot[1])))
        end = slot.end()
    parts.append(Part(text[end:]))
    return [part for part in parts if part.text]


def _part(name: str, form: str, value: Any) -> Part:
    if "|" in form and isinstance(value, bool):
        return Part(form.split("|")[not value], name)
    return Part(_shown(value), name, form) if _is_given(value) else Part(MISSING)


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})


def _shown(value: Any) -> str:
    """A JSON value in words, cut to SHOWN characters."""
    if isinstance(value, Mapping):
        text = ", ".join(f"{name}: {_shown(each)}" for name, each in value.items())
    elif isinstance(value, list | tuple):
        text = ", ".join(_shown(each) for each in value)
    else:
        text = str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
