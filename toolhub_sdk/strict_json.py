"""Strict JSON: RFC 8259 with the promises of I-JSON (RFC 7493), each broken one refused by its code.

What this accepts, every other parser understands in the same way, and its canonical form (RFC 8785)
is accepted again and means the same. The standard library's C scanner does the work; the hooks and the
look at the text before it close what that scanner leaves open.
"""

import json
import re
from dataclasses import dataclass
from math import isinf
from typing import NoReturn, TypeAlias

from toolhub_sdk.canonical import SAFE_INTEGER, is_exact
from toolhub_sdk.json_place import place_of_duplicate, place_of_literal

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
"""A JSON value as Python has it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one text: bytes of UTF-8, levels of arrays and objects."""

    max_bytes: int = 1_048_576
    max_depth: int = 64


DEFAULT = Limits()


class StrictJSONError(ValueError):
    """The text is refused.

    `code` is NOT_JSON, DUPLICATE_KEY, NUMBER_NOT_FINITE, NUMBER_OUT_OF_RANGE, NUMBER_NOT_EXACT,
    LONE_SURROGATE, TOO_DEEP or TOO_LARGE; `message` a sentence with the remedy; `position` the place
    in characters from 0; `pointer` the JSON Pointer (RFC 6901) of the value. Either is None where it
    is not known.
    """

    def __init__(
        self, code: str, message: str, *, position: int | None = None, pointer: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position
        self.pointer = pointer


def line_of(data: bytes, error: StrictJSONError) -> str:
    """Where an error stands in a text with lines, as " (line 3, column 7)"; empty where that is not known."""
    if error.position is None:
        return ""
    before = data.decode(errors="replace")[: error.position].split("\n")
    return f" (line {len(before)}, column {len(before[-1]) + 1})"


def loads(data: bytes | str, *, limits: Limits = DEFAULT) -> JSON:
    """The value of a JSON text in UTF-8 (or a str).

    Integers beyond ±(2^53 - 1) are refused unless they are written just as ECMAScript writes the double
    they denote; those become floats, so that canonical text can always be read again. Raises
    StrictJSONError and nothing else.
    """
    text, octets = _decoded(data, limits)
    depth_check(octets, limits.max_depth)
    try:
        value: JSON = _DECODER.decode(text)
    except _RefusedError as refused:
        raise _located(refused, text) from None
    except json.JSONDecodeError as error:
        raise _not_json(error.msg, error.pos) from None
    except RecursionError:
        raise _too_deep(limits.max_depth) from None
    if b"\\u" in octets:
        _check_surrogates(text)
    return value


# --- the text before it is parsed ---


def _decoded(data: bytes | str, limits: Limits) -> tuple[str, bytes]:
    if len(data) > limits.max_bytes:
        raise _too_large(limits.max_bytes)
    if isinstance(data, str):
        text = data
        try:
            octets = data.encode()
        except UnicodeEncodeError as error:
            raise _lone_surrogate(error.start) from None
        if len(octets) > limits.max_bytes:
            raise _too_large(limits.max_bytes)
    else:
        octets = data
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            position = len(data[: error.start].decode())
            raise _not_json("The text is not UTF-8", position) from None
    if text.startswith("\ufeff"):
        raise _not_json("The text begins with a byte order mark", 0)
    return text, octets


_FLAT = bytes.maketrans(b"{}", b"[]")
_NO_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))


def depth_check(octets: bytes, max_depth: int = DEFAULT.max_depth) -> None:
    """Raises StrictJSONError TOO_DEEP for a text that is nested deeper. In linear time, without recursion."""
    # Each round takes the innermost pairs out.
    if octets.count(b"[") + octets.count(b"{") <= max_depth:
        return
    brackets = _brackets(octets)
    if b"[" * (max_depth + 1) in brackets:
        raise _too_deep(max_depth)
    for _ in range(max_depth):
        inner = brackets.replace(b"[]", b"")
        if len(inner) == len(brackets):
            break
        brackets = inner
    if b"[]" in brackets or brackets.count(b"[") > max_depth:
        raise _too_deep(max_depth)


def _brackets(octets: bytes) -> bytes:
    """The brackets outside of strings, all made square."""
    if b"\\" in octets:
        octets = octets.replace(b"\\\\", b"").replace(b'\\"', b"")
    # two quotes with nothing between may go, whichever string they belong to: the rest keeps its sides
    structure = octets.translate(_FLAT, _NO_STRUCTURE).replace(b'""', b"")
    return b"".join(structure.split(b'"')[::2])


# --- while it is parsed ---


class _RefusedError(Exception):
    """A hook's refusal; where in the text is found afterwards."""

    def __init__(self, code: str, message: str, literal: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.literal = literal


def _members(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError("DUPLICATE_KEY", "An object has two members of the same name.")
    return members


def _integer(literal: str) -> int | float:
    if len(literal) < 16:
        return int(literal)
    if len(literal) <= 22:  # the longest that can be exact: a sign and 21 digits
        number = int(literal)
        if is_exact(number):
            return number if -SAFE_INTEGER <= number <= SAFE_INTEGER else float(number)
    if len(literal.removeprefix("-")) > 309:
        raise _out_of_range(literal)
    message = (
        f"The integer {_shown(literal)} is too large to be carried exactly as a JSON number. If the schema "
        f"takes a string, send it as one; else send an integer from -{SAFE_INTEGER} to {SAFE_INTEGER}."
    )
    raise _RefusedError("NUMBER_NOT_EXACT", message, literal)


def _fraction(literal: str) -> float:
    number = float(literal)
    if isinf(number) or (number == 0 and literal.lower().partition("e")[0].strip("-0.")):
        raise _out_of_range(literal)
    return number


def _constant(literal: str) -> NoReturn:
    raise _RefusedError(
        "NUMBER_NOT_FINITE", f"{literal} is not JSON; send null, or leave the member out.", literal
    )


def _out_of_range(literal: str) -> _RefusedError:
    message = f"The number {_shown(literal)} is beyond the range of a double; send a number nearer to 0."
    return _RefusedError("NUMBER_OUT_OF_RANGE", message, literal)


def _shown(literal: str) -> str:
    return literal if len(literal) <= 32 else f"{literal[:24]}… ({len(literal)} characters)"


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_integer, parse_float=_fraction, parse_constant=_constant
)


# --- after it was parsed ---

_ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]|u(?P<lone>[dD][89a-fA-F])|.)", re.DOTALL
)


def _check_surrogates(text: str) -> None:
    for escape in _ESCAPES.finditer(text):
        if escape["lone"]:
            raise _lone_surrogate(escape.start())


# --- refusals ---


def _located(refused: _RefusedError, text: str) -> StrictJSONError:
    literal = refused.literal
    place = place_of_duplicate(text) if literal is None else place_of_literal(text, literal)
    position, pointer = place or (None, None)
    message = f"{refused.message[:-1]} (at {pointer})." if pointer else refused.message
    return StrictJSONError(refused.code, message, position=position, pointer=pointer)


def _not_json(reason: str, position: int) -> StrictJSONError:
    message = f"{reason.removesuffix(' at')} at character {position}."
    return StrictJSONError("NOT_JSON", message, position=position)


def _too_deep(max_depth: int) -> StrictJSONError:
    return StrictJSONError("TOO_DEEP", f"The JSON is nested deeper than {max_depth} levels.")


def _too_large(max_bytes: int) -> StrictJSONError:
    return StrictJSONError("TOO_LARGE", f"The JSON is larger than {max_bytes} bytes.")


def _lone_surrogate(position: int) -> StrictJSONError:
    message = f"A string has half a surrogate pair at character {position}; send whole characters."
    return StrictJSONError("LONE_SURROGATE", message, position=position)
