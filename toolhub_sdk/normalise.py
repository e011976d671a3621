"""What a tool returns, made into plain JSON, always in the same way, before it is hashed."""

import base64
import dataclasses
import datetime as dt
import enum
import math
import uuid
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeVar, cast

from toolhub_sdk.canonical import SAFE_INTEGER, canonical_text
from toolhub_sdk.errors import ToolError
from toolhub_sdk.json_place import pointer_of
from toolhub_sdk.models import Model
from toolhub_sdk.strict_json import DEFAULT, JSON

_R = TypeVar("_R")

MAX_VALUES = 1_000_000
"""How many values one result may have: a few shared lists can stand for more than any memory holds."""


def normalise(value: object, *, max_depth: int = DEFAULT.max_depth) -> JSON:
    """The value as JSON that the strict parser would accept.

    Tuples become lists; sets lists in the order of their members' canonical text; bytes
    `{"base64", "mediaType"}`; dataclasses objects; enum members their values; datetimes RFC 3339 in UTC with
    `Z`; dates, UUIDs and Decimals strings; models of pydantic objects. Raises ToolError INVALID_OUTPUT
    that names the place (RFC 6901) for NaN, infinities, integers beyond ±(2^53 - 1), names that are not
    strings, half surrogate pairs, datetimes without a zone, cycles, more than `max_depth` levels, and every
    other type.
    """
    if _is_plain(value, max_depth):
        return cast("JSON", value)
    return _Normaliser(max_depth).json(value)


def _is_plain(value: object, max_depth: int) -> bool:
    """Whether there is nothing to do, level by level; the common case, so it has to be fast."""
    level: list[Any] = [value]
    left = MAX_VALUES
    for depth in range(max_depth + 1):
        below: list[Any] = []
        for each in level:
            kind = type(each)
            if kind is dict or kind is list:
                if depth == max_depth or not (kind is list or _has_plain_names(each)):
                    return False
                below.extend(each if kind is list else each.values())
            elif not (each is None or kind is bool or _is_plain_scalar(each, kind)):
                return False
        left -= len(below)
        if left < 0:
            return False
        level = below
    return True


def _has_plain_names(members: Any) -> bool:
    return all(type(name) is str and (name.isascii() or _has_whole_characters(name)) for name in members)


def _is_plain_scalar(value: Any, kind: type) -> bool:
    if kind is str:
        return value.isascii() or _has_whole_characters(value)
    if kind is int:
        return bool(-SAFE_INTEGER <= value <= SAFE_INTEGER)
    return kind is float and math.isfinite(value)


def _has_whole_characters(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Normaliser:
    """One result's way through: where it stands, and what it stands inside of."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._steps: list[str] = []
        self._open: set[int] = set()
        self._left = MAX_VALUES

    def json(self, value: object) -> JSON:
        self._left -= 1
        if self._left < 0:
            raise self._invalid(f"has more than {MAX_VALUES} values")
        if isinstance(value, enum.Enum):
            return self.json(value.value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            return self._integer(int(value))
        if isinstance(value, float):
            return self._float(float(value))
        if isinstance(value, Mapping):
            return self._inside(value, self._members, value.items())
        if isinstance(value, list | tuple):
            return self._inside(value, self._items, value)
        return self._other(value)

    def _other(self, value: object) -> JSON:
        if isinstance(value, set | frozenset):
            return sorted(self._inside(value, self._items, value), key=canonical_text)
        if isinstance(value, bytes | bytearray | memoryview):
            encoded = base64.b64encode(value).decode()
            return {"base64": encoded, "mediaType": "application/octet-stream"}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
            return self._inside(value, self._members, fields)
        if isinstance(value, dt.datetime):
            return self._moment(value)
        if isinstance(value, dt.date):
            return value.isoformat()
        if isinstance(value, uuid.UUID | Decimal):
            return str(value)
        if isinstance(value, Model) and not isinstance(value, type):
            return self._inside(value, self._model, value)
        raise self._invalid(f"is of type {type(value).__name__}, which is not JSON")

    def _inside(self, container: object, read: Callable[[Any], _R], content: object) -> _R:
        """Reads one container's content, unless it stands inside itself or too deep."""
        if id(container) in self._open:
            raise self._invalid("contains itself")
        if len(self._open) == self._max_depth:
            raise self._invalid(f"is nested deeper than {self._max_depth} levels")
        self._open.add(id(container))
        out = read(content)
        self._open.discard(id(container))
        return out

    def _model(self, model: Model) -> JSON:
        try:
            fields = model.model_dump(by_alias=True)
        except ValueError as error:
            raise self._invalid("is a model that cannot be written as JSON") from error
        return self._members(fields.items())

    def _members(self, members: Iterable[tuple[Any, object]]) -> dict[str, JSON]:
        out: dict[str, JSON] = {}
        for name, value in members:
            if not isinstance(name, str):
                raise self._invalid(f"has the name {name!r}, which is not a string")
            name = self._text(str.__str__(name))
            self._steps.append(name)
            out[name] = self.json(value)
            self._steps.pop()
        return out

    def _items(self, items: Iterable[object]) -> list[JSON]:
        out: list[JSON] = []
        for index, value in enumerate(items):
            self._steps.append(str(index))
            out.append(self.json(value))
            self._steps.pop()
        return out

    def _text(self, text: str) -> str:
        if not _has_whole_characters(text):
            raise self._invalid("has half a surrogate pair")
        return str.__str__(text)

    def _integer(self, number: int) -> int:
        if not -SAFE_INTEGER <= number <= SAFE_INTEGER:
            raise self._invalid("is an integer beyond 2^53 - 1; return it as a string")
        return number

    def _float(self, number: float) -> float:
        if not math.isfinite(number):
            raise self._invalid(f"is {number}, which is not JSON; return None or a string")
        return number

    def _moment(self, moment: dt.datetime) -> str:
        if moment.utcoffset() is None:
            raise self._invalid("is a datetime without a time zone; return it with tzinfo")
        return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"

    def _invalid(self, what: str) -> ToolError:
        pointer = pointer_of(self._steps)
        message = f"The result at {pointer} {what}." if pointer else f"The result {what}."
        return ToolError("INVALID_OUTPUT", message, recoverable=False, details={"pointer": pointer})
