"""The forms of a text in which signs are looked for: as it is, decoded, and with lookalikes made plain."""

import html
import posixpath
import re
from collections.abc import Callable
from urllib.parse import unquote

from toolhub_sdk.normal_form import normalised

DECODED_TIMES = 3
# Two bytes for a `.`, `/` or `\`, which decoders of UTF-8 refuse and old servers took.
_OVERLONG = (("%c0%ae", "."), ("%c0%af", "/"), ("%c1%9c", "\\"), ("%u002e", "."), ("%u2215", "/"))
_ZEROS = re.compile(r"&#([xX]?)0+(?=[0-9a-fA-F])")
_NO_CHARACTER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
# Written in the midst of words to hide them.
_UNSEEN = dict.fromkeys(
    [*range(1, 9), 11, 12, *range(14, 32), 127, 0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), 0xFEFF]
)


def plain(text: str) -> list[str]:
    """As it is, and without characters that nobody sees."""
    return list(dict.fromkeys((text, _plainer(text))))


def decoded(text: str) -> list[str]:
    """Also with percent signs decoded, three times at most."""
    found = plain(text)
    if "%" not in text:
        return found
    for _ in range(DECODED_TIMES):
        lower = found[-1]
        for written, meant in _OVERLONG:
            lower = lower.replace(written, meant).replace(written.upper(), meant)
        after = _plainer(unquote(lower, errors="replace"))
        if after == found[-1]:
            break
        found.append(after)
    return found


def resolved(text: str) -> list[str]:
    """As decoded, and with `.` and `..` resolved."""
    found = decoded(text)
    return list(dict.fromkeys((*found, posixpath.normpath(found[-1])))) if ".." in found[-1] else found


def unescaped(text: str) -> list[str]:
    """As decoded, and with HTML's character references read."""
    found = decoded(text) if "%3" in text else plain(text)
    return list(dict.fromkeys((*found, _references_read(found[-1])))) if "&" in text else found


FORMS: dict[str, Callable[[str], list[str]]] = {
    "path": resolved,
    "url": decoded,
    "sql": decoded,
    "command": plain,
    "html": unescaped,
}


def _plainer(text: str) -> str:
    return text if text.isascii() and text.isprintable() else normalised("NFKC", text).translate(_UNSEEN)


def _references_read(text: str) -> str:
    """The text with HTML's character references read.

    The library reads the number of a reference in time quadratic in its digits, and fails beyond 4,300.
    """
    return html.unescape(_NO_CHARACTER.sub("\ufffd", _ZEROS.sub(r"&#\1", text)))
