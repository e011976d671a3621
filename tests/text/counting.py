"""Counts work on a text without a clock.

Lines of Python are counted as the interpreter runs them. Python does not see inside functions in C; the two that
are known not to be linear are counted by models: Unicode normalisation sorts each run of combining marks by
insertion, and a search in a text reads it up to what it finds (`Counted`).
A policy test keeps other such
functions out of the product (test_normal_form.py).
"""

import itertools
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

Texts = dict[str, Callable[[int], str]]
MARKS = "\u0301\u0323"
HURTING: Texts = {
    "marks": lambda size: "a" + MARKS * (size // 2),
    "marks without a class": lambda size: "\u0f73" * size,
    "expanding": lambda size: "\ufdfa" * size,
    "host of marks": lambda size: "http://a" + MARKS * (size // 2),
    "percent signs": lambda size: "%25" * (size // 3),
    "encoded climbing": lambda size: "%252e%252e%252f" * (size // 15),
    "long reference": lambda size: "&#" + "9" * size,
    "zeros": lambda size: "&#" + "0" * size + "60;",
    "references": lambda size: "&lt;" * (size // 4),
    "half references": lambda size: "&" * size,
    "climbing": lambda size: "../" * (size // 3),
    "quotes": lambda size: "'\"" * (size // 2),
    "dollar tags": lambda size: "".join(f"$t{number}$ " for number in range(size // 8)),
    "comments": lambda size: "/*" * (size // 2),
    "brackets": lambda size: "<(" * (size // 2),
    "spaces": lambda size: "x" + " " * size + "x",
    "turning": lambda size: "\u202e" * size,
    "controls": lambda size: "\x07" * size,
    "address": lambda size: "http://" + "1." * (size // 2),
    "words": lambda size: "select or 1=1; " * (size // 15),
    "pointers": lambda size: "/~1" * (size // 3),
    "instructions": lambda size: "ignore all previous " * (size // 20),
}
"""Texts that are made to hurt, by size."""
LIBRARY_MAX = 20_000


class Counter:
    """The work so far, in steps."""

    def __init__(self) -> None:
        self.steps = 0


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter]:
    """Counts the lines of Python that this thread runs, and the work of Unicode normalisation."""
    counter = Counter()
    library = unicodedata.normalize

    def normalize(form: Any, text: str) -> str:
        decomposed = library("NFKD" if form == "NFKC" else "NFD", text) if len(text) < LIBRARY_MAX else text
        runs = itertools.groupby(decomposed, lambda char: unicodedata.combining(char) != 0)
        counter.steps += len(decomposed) // 64
        counter.steps += sum(sum(1 for _ in run) ** 2 // 64 for is_marks, run in runs if is_marks)
        return library(form, text)

    def line(frame: FrameType, event: str, _: Any) -> Any:
        counter.steps += event == "line"
        return line

    before = sys.gettrace()
    with monkeypatch.context() as patch:
        patch.setattr(unicodedata, "normalize", normalize)
        sys.settrace(line)
        try:
            yield counter
        finally:
            sys.settrace(before)


class Counted(str):
    """A text that counts how much of it searches read."""

    __slots__ = ()
    read = 0

    def find(self, *args: Any) -> int:
        found = str.find(self, *args)
        start, end = (*args[1:3], *(0, len(self))[len(args) - 1 :])[:2]
        Counted.read += (found if found >= 0 else end) - start
        return found
