"""Canonical JSON (RFC 8785), exact and fast: orjson writes, and what it writes otherwise is put right before.

orjson differs from RFC 8785 in two things. It writes some doubles in another form than ECMAScript (5.0,
1e16), and it sorts names by code points where the RFC sorts by UTF-16 code units (§3.2.3), which is another
order only where characters beyond U+FFFF meet those from U+E000 on.
"""

from typing import Any

import orjson

from toolhub_sdk.canonical import SAFE_INTEGER, is_exact, number_text

_CONTAINERS = (dict, list, tuple)
_MAX_DEPTH = 200  # orjson's own bound is 254
_ASTRAL_LEAD = 0xF0  # the least first byte, in UTF-8, of the characters beyond U+FFFF
_BUT_UPPER_LEADS = bytes(set(range(256)) - {0xEE, 0xEF, *range(_ASTRAL_LEAD, 0xF5)})


class CanonicalError(ValueError):
    """The value has no canonical form: not JSON, not finite, not exact, a lone surrogate, or too deep."""


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of a JSON value; tuples count as arrays, subclasses as what they derive from.

    Integers beyond ±(2^53 - 1) are accepted only where their digits are the ECMAScript form of a double.
    At most 200 levels. Raises CanonicalError.
    """
    try:
        exact = _exact(value, 0)
        encoded = orjson.dumps(exact, option=orjson.OPT_SORT_KEYS)
        if not encoded.isascii() and _may_sort_otherwise(encoded) and _sorts_otherwise([exact]):
            return orjson.dumps(_in_order(exact))
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise CanonicalError(str(error)) from error
    return encoded


def _exact(value: Any, depth: int) -> Any:
    """The value with each number that orjson would write otherwise replaced by its exact text.

    Copies only the containers on the way to such a number. One loop for both kinds of container, and the
    common scalars passed over inside it, because this is the hot path of every run.
    """
    kind = type(value)
    if kind is dict:
        items = value.items()
    elif kind is list or kind is tuple:
        items = enumerate(value)
    else:
        return _exact_scalar(value, depth)
    if depth == _MAX_DEPTH:
        raise CanonicalError(f"The value is nested deeper than {_MAX_DEPTH} levels.")
    copy: Any = None
    for key, item in items:
        kind = type(item)
        if kind is str or kind is bool or item is None:
            continue
        if kind is int and -SAFE_INTEGER <= item <= SAFE_INTEGER:
            continue
        if kind is float and item % 1 and 1e-4 <= abs(item) < 1e15:  # never NaN; both write the same digits
            continue
        exact = _exact(item, depth + 1)
        if exact is not item:
            if copy is None:
                copy = dict(value) if type(value) is dict else list(value)
            copy[key] = exact
    return value if copy is None else copy


def _exact_scalar(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of an enum's member too: its value, not its name
    if isinstance(value, int):
        return _exact_integer(int(value))
    if isinstance(value, float):
        return _exact_float(float(value))
    for plain in (dict, list, tuple):
        if isinstance(value, plain):
            return _exact(plain(value), depth)
    raise CanonicalError(f"{type(value).__name__} is not JSON.")


def _exact_integer(number: int) -> Any:
    if not is_exact(number):
        raise CanonicalError("A double cannot hold the integer; use a string.")
    return number if -(2**63) <= number < 2**63 else orjson.Fragment(str(number))


def _exact_float(number: float) -> Any:
    if number.is_integer() and -SAFE_INTEGER <= number <= SAFE_INTEGER:
        return int(number)
    try:
        return orjson.Fragment(number_text(number))
    except ValueError as error:
        raise CanonicalError(str(error)) from error


def _may_sort_otherwise(encoded: bytes) -> bool:
    """Whether characters beyond U+FFFF meet some from U+E000 on, in names or elsewhere."""
    leads = encoded.translate(None, _BUT_UPPER_LEADS)
    return bool(leads) and min(leads) < _ASTRAL_LEAD <= max(leads)


def _sorts_otherwise(value: Any) -> bool:
    """Whether some object's names have another order by UTF-16 code units than by code points."""
    if isinstance(value, dict):
        names = "".join(value)
        if not names.isascii() and max(names) > "\uffff" and sorted(value) != sorted(value, key=_utf16):
            return True
        value = value.values()
    return any(_sorts_otherwise(item) for item in value if isinstance(item, _CONTAINERS))


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be")


def _in_order(value: Any) -> Any:
    """The value with members in the order of their names' UTF-16 code units (RFC 8785 §3.2.3)."""
    if isinstance(value, dict):
        names = sorted(value, key=_utf16)
        return {name: _in_order(value[name]) for name in names}
    if isinstance(value, list | tuple):
        return [_in_order(item) for item in value]
    return value
