"""Sentences with slots and optional sections, filled from JSON data.

In `Granted {capability} to {persona}[ until {expires_at:time}]` a section in brackets is left out unless the
data has a value for each of its slots. A slot is one of:

- `{name}`: the value; lists and objects in words
- `{name:form}`: a moment in ISO 8601 (`time`), a duration in ms (`ms`) or in seconds (`s`)
- `{name|nobody}`: the value, or these words where it is empty
- `{name?up:down}`: the first words for true, the others for false; an empty second choice also for none
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.units import duration_words

# Stands for a value that the data should have and has not, as in events of an earlier version.
MISSING = "(not recorded)"
FORMS = frozenset({"time", "ms", "s"})
VALUE_MAX = 200
_SECTION = re.compile(r"\[([^\[\]]*)\]")
_WORDS = r"[^{}\[\]:|?]*"
_SLOT = re.compile(
    rf"\{{(?P<name>\w+)(?::(?P<form>\w+))?(?:\|(?P<empty>{_WORDS}))?(?:\?(?P<yes>{_WORDS}):(?P<no>{_WORDS}))?\}}"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a filled sentence. `name` is the slot whose value it is, empty for words of the sentence."""

    text: str
    name: str = ""
    form: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence as declared. Raises ValueError for a slot or section that cannot be read."""

    template: str

    def __post_init__(self) -> None:
        left = _SLOT.sub("", _SECTION.sub(r"\1", self.template))
        if set(left) & set("{}[]"):
            raise ValueError(f'"{self.template}": a slot or section is malformed, or has no end.')
        if wrong := {slot["form"] for slot in _SLOT.finditer(self.template)} - FORMS - {None}:
            raise ValueError(f'"{self.template}": there is no form {", ".join(sorted(wrong))}.')

    @cached_property
    def _sections(self) -> tuple[tuple[str, bool], ...]:
        """The text in order, each piece with whether it is optional."""
        pieces = _SECTION.split(self.template)
        return tuple((piece, bool(number % 2)) for number, piece in enumerate(pieces) if piece)

    @property
    def needed(self) -> frozenset[str]:
        """The slots that the data has to have: those outside of optional sections."""
        return self._slots(optional=False)

    @property
    def optional(self) -> frozenset[str]:
        """The slots of optional sections."""
        return self._slots(optional=True)

    def _slots(self, *, optional: bool) -> frozenset[str]:
        pieces = (text for text, is_optional in self._sections if is_optional is optional)
        return frozenset(slot["name"] for text in pieces for slot in _SLOT.finditer(text))

    @property
    def usage(self) -> str:
        """The sentence for documentation, in Markdown: slots in italics, optional sections in brackets."""
        return _SLOT.sub(_usage, self.template)

    def parts(self, data: Mapping[str, Any]) -> list[Part]:
        """The sentence filled from the data, in order. A needed value that is missing is named as such."""
        return [part for part in self._parts(data) if part.text]

    def _parts(self, data: Mapping[str, Any]) -> Iterator[Part]:
        for text, is_optional in self._sections:
            slots = list(_SLOT.finditer(text))
            if is_optional and not all(data.get(slot["name"]) for slot in slots):
                continue
            end = 0
            for slot in slots:
                yield Part(text[end : slot.start()])
                yield _part(slot, data)
                end = slot.end()
            yield Part(text[end:])

    def text(self, data: Mapping[str, Any]) -> str:
        """The filled sentence as plain text."""
        return "".join(part.text for part in self.parts(data))


def _usage(slot: re.Match[str]) -> str:
    if slot["yes"] is not None:
        return f"{slot['yes']} or {slot['no']}" if slot["no"] else f"[{slot['yes']}]"
    return f"*{slot['name']}*" + (f" or {slot['empty']}" if slot["empty"] else "")


def _part(slot: re.Match[str], data: Mapping[str, Any]) -> Part:
    name, value, form = slot["name"], data.get(slot["name"]), slot["form"] or ""
    if slot["yes"] is not None and (isinstance(value, bool) or not slot["no"]):
        return Part(slot["yes"] if value else slot["no"])
    if value in (None, "", [], {}):
        return Part(MISSING if slot["empty"] is None or name not in data else slot["empty"])
    if form in {"ms", "s"} and isinstance(value, int | float):
        return Part(duration_words(value if form == "ms" else value * 1000), name)
    return Part(_words(value), name, form)


def _words(value: Any) -> str:
    """A JSON value in words, cut to VALUE_MAX characters."""
    if isinstance(value, Mapping):
        text = ", ".join(f"{name}: {_words(each)}" for name, each in value.items())
    elif isinstance(value, list | tuple):
        text = ", ".join(map(_words, value))
    else:
        text = str(value)
    return text if len(text) <= VALUE_MAX else f"{text[: VALUE_MAX - 1]}…"
