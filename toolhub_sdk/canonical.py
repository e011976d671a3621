"""Canonical JSON text (RFC 8785) on the standard library alone, and the rule for numbers behind it.

The hub writes the same text faster; this is for code that runs without the hub.
"""

from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring
from math import isfinite

SAFE_INTEGER = 2**53 - 1
"""The greatest integer up to which every one is a double of its own (RFC 7493 §2.2)."""

_DECIMAL_BELOW = 10**21  # from here on ECMAScript writes an exponent


def number_text(number: float) -> str:
    """The number as ECMAScript's Number::toString writes it (RFC 8785 §3.2.2.3).

    Raises ValueError for NaN and infinities.
    """
    if not isfinite(number):
        raise ValueError("NaN and Infinity are not JSON.")
    if number == 0:
        return "0"
    text = repr(number)  # the shortest digits that read back as the same double, as ECMAScript wants them
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text.removesuffix(".0")
    power = int(exponent)
    if -7 < power < 21:
        sign = "-" if number < 0 else ""
        digits = mantissa.removeprefix("-").replace(".", "")
        return sign + (digits.ljust(power + 1, "0") if power > 0 else "0." + "0" * (-power - 1) + digits)
    return f"{mantissa}e{power:+d}"


def is_exact(number: int) -> bool:
    """Whether the integer's decimal digits are the ECMAScript form of a double, so that none get lost."""
    if -SAFE_INTEGER <= number <= SAFE_INTEGER:
        return True
    return -_DECIMAL_BELOW < number < _DECIMAL_BELOW and str(number) == number_text(float(number))


def canonical_text(value: object) -> str:
    """The RFC 8785 text of a JSON value. Raises ValueError for what is not JSON or not exact."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, int):
        if not is_exact(value):
            raise ValueError("A double cannot hold the integer.")
        return str(int(value))
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, Mapping):
        members = sorted(value.items(), key=_utf16)
        return "{" + ",".join(f"{encode_basestring(k)}:{canonical_text(v)}" for k, v in members) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    raise ValueError(f"{type(value).__name__} is not JSON.")


def _utf16(member: tuple[str, object]) -> bytes:
    return member[0].encode("utf-16-be")
