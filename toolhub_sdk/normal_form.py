"""Unicode normal forms in linear time: the one place that calls `unicodedata.normalize`.

The library sorts each run of combining marks by insertion, which is quadratic: 60,000 marks took 2.7 s in one
call that no other thread can interrupt. UAX #15 (Stream-Safe Text Format) allows 30 marks in a row, which is
more than any writing system uses. Marks beyond that are dropped; ADR 28 has the reasons.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal
from urllib.parse import SplitResult, urlsplit

Form = Literal["NFC", "NFKC"]
MARKS_MAX = 30
"""Combining marks in a row (UAX #15, D4)."""
PIECE = 4096
"""Characters that one call of the library gets, where the text can be cut."""
# No class of their own, but their compatibility decomposition begins with a combining mark.
MARKS_INSIDE = "\u0f73\u0f75\u0f81\uff9e\uff9f"
# Characters that never combine with what comes before them: a text may be cut there.
_CUT = re.compile("[\0-\x7f\u3041-\u3096\u3400-\u9fff\uac00-\ud7a3\ufb50-\ufdff]")


def normalised(form: Form, text: str) -> str:
    """The text in a normal form, without the marks beyond 30 in a row. Linear in the text; idempotent."""
    return text if text.isascii() else "".join(_piece(form, piece) for piece in _pieces(text))


def has_long_run(text: str) -> bool:
    """Whether more than 30 combining marks stand in a row: `normalised` would drop some."""
    return not text.isascii() and _run_pattern(beyond_bmp=True).search(text) is not None


def url_split(text: str) -> SplitResult:
    """As `urllib.parse.urlsplit`, which normalises the host. Raises ValueError where that is not linear."""
    if has_long_run(text):
        raise ValueError(f"more than {MARKS_MAX} combining marks in a row")
    return urlsplit(text)


def _piece(form: Form, text: str) -> str:
    if text.isascii():
        return text
    text = unicodedata.normalize(form, _run_pattern(max(text) > "\uffff").sub(r"\1", text))
    # Decomposing can add a few marks to a run.
    return _run_pattern(max(text, default="") > "\uffff").sub(r"\1", text)


def _pieces(text: str) -> Iterator[str]:
    """The text in parts that are normalised separately: one call would hold the interpreter too long."""
    start = 0
    while start < len(text):
        cut = _CUT.search(text, start + PIECE)
        end = cut.start() if cut else len(text)
        yield text[start:end]
        start = end


@functools.cache
def _run_pattern(beyond_bmp: bool) -> re.Pattern[str]:
    """Matches more than 30 marks in a row; group 1 holds the first 30.

    Marks beyond the Basic Multilingual Plane make the pattern 20 times slower, so most texts do without.
    """
    # The last combining mark of Unicode lies below U+1F000.
    last = 0x1F000 if beyond_bmp else 0x10000
    marks = "".join(filter(unicodedata.combining, map(chr, range(0x300, last)))) + MARKS_INSIDE
    # The first mark stands alone, so that the library skips to it quickly.
    return re.compile(f"([{marks}][{marks}]{{{MARKS_MAX - 1}}})[{marks}]+")
