"""Names and addresses by which the hub knows somebody or something: one normal form each, in ASCII.

The normal form is stored and compared to the letter. Databases and Unicode fold more letters than ASCII has
(U+0131 to i, U+017F to s, U+212A to k), and each database others: whoever compares by them takes one person
for another.
"""

import re
import unicodedata
from collections.abc import Iterable

NAME_MAX, ADDRESS_MAX = 150, 254
_NAME = re.compile(r"[A-Za-z0-9._@+-]+")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})+")
_LOCAL = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
# Controls, surrogates, line ends, and what is invisible or turns the direction of a text.
_UNFIT = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Scripts need them inside words: zero-width non-joiner and joiner.
_JOINERS = "\u200c\u200d"


class NotPlain(ValueError):
    """A text that cannot be a name or an address. The message says what was expected, and where it fails."""


def name_normal(text: str) -> str:
    """Return the normal form of a name: small letters, digits, dots, hyphens, _, @ and +.

    Raises NotPlain.
    """
    _ascii_check(text)
    if not 1 <= len(text) <= NAME_MAX or not _NAME.fullmatch(text):
        raise NotPlain(f"expected 1 to {NAME_MAX} letters, digits, dots, hyphens, _, @ or +")
    return text.lower()


def address_normal(text: str) -> str:
    """Return the normal form of an e-mail address: ASCII, small letters. Raises NotPlain.

    A quoted local part is refused: two parsers may read it in two ways.
    """
    _ascii_check(text, "; write an international domain in its ASCII form (xn--…)")
    local, _, domain = text.lower().rpartition("@")
    if len(text) > ADDRESS_MAX or len(local) > 64 or not _LOCAL.fullmatch(local):
        raise NotPlain("expected an address such as ada@example.org")
    return f"{local}@{domain_normal(domain)}"


def domain_normal(text: str) -> str:
    """Return the normal form of a domain: ASCII, small letters, no dot at the end. Raises NotPlain."""
    _ascii_check(text, "; write an international domain in its ASCII form (xn--…)")
    normal = text.lower()
    if len(normal) > 253 or not _DOMAIN.fullmatch(normal):
        raise NotPlain("expected a domain such as example.org")
    return normal


def is_twin(name: str, other: str) -> bool:
    """Return whether two different names in ASCII have the same letters, but for capitals."""
    return name != other and name.isascii() and other.isascii() and name.lower() == other.lower()


def twin_of(name: str, others: Iterable[str]) -> str | None:
    """Return the first of `others` that differs from `name` in capitals only."""
    return next((other for other in others if is_twin(name, other)), None)


def unfit_character(text: str) -> str:
    """Return the first character that no name may hold, as U+0000; empty where there is none."""
    for char in text:
        if unicodedata.category(char) in _UNFIT and char not in _JOINERS:
            return f"U+{ord(char):04X}"
    return ""


def _ascii_check(text: str, fix: str = "") -> None:
    for place, char in enumerate(text, 1):
        if not char.isascii():
            raise NotPlain(f"expected ASCII only; character {place} is U+{ord(char):04X}{fix}")
