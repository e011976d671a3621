"""The steps that a backtracking matcher such as Python's `re` takes on a text: work without a clock.

A small matcher over the parse tree that `re` itself uses. It backtracks in the same order and counts each
comparison. It is slow, and only good for texts of some hundred characters.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Continue = Callable[[int], bool]
SINGLE = {op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN}
REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}
CATEGORIES = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
}
NEGATED = {
    op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
    op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
    op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
}


class TooMuch(Exception):
    """The matcher passed its limit of steps."""


class Matcher:
    """Counts the steps of one pattern."""

    def __init__(self, pattern: str, flags: int = 0, *, most: int = 2_000_000) -> None:
        self.tree = parser.parse(pattern, flags)
        self.flags = self.tree.state.flags
        self.most = most
        self.steps = 0
        self.text = ""
        self.groups: dict[int, tuple[int, int]] = {}

    def work(self, text: str, *, searching: bool) -> int:
        """The steps to find all matches in the text; without `searching` to match it whole. Raises TooMuch."""
        self.text, self.steps, self.groups = text, 0, {}
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 100_000))
        try:
            if searching:
                self._all()
            else:
                self._items(list(self.tree), 0, 0, lambda at: at == len(text))
        finally:
            sys.setrecursionlimit(limit)
        return self.steps

    def first_end(self, text: str) -> int | None:
        """Where the first match ends; None where there is none."""
        self.text, self.steps, self.groups = text, 0, {}
        ends: list[int] = []
        for at in range(len(text) + 1):
            if self._items(list(self.tree), 0, at, lambda end: ends.append(end) is None):
                return ends[0]
        return None

    def _all(self) -> None:
        at = 0
        while at <= len(self.text):
            ends: list[int] = []
            self._items(list(self.tree), 0, at, lambda end, ends=ends: ends.append(end) is None)  # type: ignore[misc]
            at = max(at + 1, ends[0]) if ends else at + 1

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise TooMuch

    def _items(self, items: Sequence[Any], index: int, at: int, then: Continue) -> bool:
        if index == len(items):
            return then(at)
        kind, value = items[index]
        after: Continue = lambda end: self._items(items, index + 1, end, then)  # noqa: E731
        self._step()
        if kind in SINGLE:
            return self._is_one(kind, value, at) and after(at + 1)
        if kind in REPEATS:
            return self._repeat(kind, value, at, after)
        return self._compound(kind, value, at, after)

    def _compound(self, kind: Any, value: Any, at: int, after: Continue) -> bool:
        if kind is op.SUBPATTERN:
            return self._group(value, at, after)
        if kind is op.BRANCH:
            return any(self._items(list(branch), 0, at, after) for branch in value[1])
        if kind is op.AT:
            return self._is_at(value, at) and after(at)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            direction, inner = value
            start = at if direction > 0 else at - inner.getwidth()[0]
            found = start >= 0 and self._items(list(inner), 0, start, lambda _: True)
            return (found == (kind is op.ASSERT)) and after(at)
        if kind is op.ATOMIC_GROUP:
            ends: list[int] = []
            self._items(list(value), 0, at, lambda end: ends.append(end) is None)
            return bool(ends) and after(ends[0])
        if kind is op.GROUPREF:
            start, end = self.groups.get(value, (0, 0))
            return self.text.startswith(self.text[start:end], at) and after(at + end - start)
        raise NotImplementedError(kind)

    def _group(self, value: Any, at: int, after: Continue) -> bool:
        number, add, drop, inner = value
        before = self.flags

        def leave(end: int) -> bool:
            inside, self.flags = self.flags, before
            if number is not None:
                self.groups[number] = at, end
            found = after(end)
            self.flags = inside
            return found

        self.flags = (self.flags | add) & ~drop
        found = self._items(list(inner), 0, at, leave)
        self.flags = before
        return found

    def _repeat(self, kind: Any, value: Any, at: int, after: Continue) -> bool:
        least, most, inner = value
        items = list(inner)
        most = len(self.text) + 1 if most is op.MAXREPEAT else most
        if len(items) == 1 and items[0][0] in SINGLE and kind is not op.MIN_REPEAT:
            count = 0
            while count < most and self._is_one(*items[0], at + count):
                self._step()
                count += 1
            if kind is op.POSSESSIVE_REPEAT:
                return count >= least and after(at + count)
            for taken in range(count, least - 1, -1):
                self._step()
                if after(at + taken):
                    return True
            return False
        if kind is op.POSSESSIVE_REPEAT:
            return self._possessive(items, least, most, at, after)
        return self._tree(items, least, most, at, after, 0, greedy=kind is op.MAX_REPEAT)

    def _possessive(self, items: Sequence[Any], least: int, most: int, at: int, after: Continue) -> bool:
        count = 0
        while count < most:
            ends: list[int] = []
            self._items(items, 0, at, lambda end, ends=ends: ends.append(end) is None)  # type: ignore[misc]
            if not ends or ends[0] == at:
                break
            at, count = ends[0], count + 1
        return count >= least and after(at)

    def _tree(
        self,
        items: Sequence[Any],
        least: int,
        most: int,
        at: int,
        after: Continue,
        count: int,
        *,
        greedy: bool,
    ) -> bool:
        def once(end: int) -> bool:
            if end == at and count >= least:
                return False
            return self._tree(items, least, most, end, after, count + 1, greedy=greedy)

        def more() -> bool:
            return count < most and self._items(items, 0, at, once)

        if count < least:
            return more()
        return (more() or after(at)) if greedy else (after(at) or more())

    def _is_one(self, kind: Any, value: Any, at: int) -> bool:
        if at >= len(self.text):
            return False
        char = self.text[at]
        if kind is op.ANY:
            return char != "\n" or bool(self.flags & re.DOTALL)
        if kind is op.IN:
            return _is_in(value, char, self.flags)
        return _same(chr(value), char, self.flags) == (kind is op.LITERAL)

    def _is_at(self, where: Any, at: int) -> bool:
        text, end = self.text, len(self.text)
        lines = bool(self.flags & re.MULTILINE)
        if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return at == 0 or (lines and where is op.AT_BEGINNING and text[at - 1] == "\n")
        if where is op.AT_END_STRING:
            return at == end
        if where is op.AT_END:
            return at == end or text[at:] == "\n" or (lines and text[at] == "\n")
        word = CATEGORIES[op.CATEGORY_WORD]
        edge = (at > 0 and word(text[at - 1])) != (at < end and word(text[at]))
        return edge == (where is op.AT_BOUNDARY)


def _same(one: str, other: str, flags: int) -> bool:
    return one == other or bool(flags & re.IGNORECASE and one.lower() == other.lower())


def _is_in(parts: Sequence[Any], char: str, flags: int) -> bool:
    negated = parts[0][0] is op.NEGATE
    chars = {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
    return negated != any(_in_part(kind, value, one) for kind, value in parts for one in chars)


def _in_part(kind: Any, value: Any, char: str) -> bool:
    if kind is op.LITERAL:
        return chr(value) == char
    if kind is op.RANGE:
        return len(char) == 1 and value[0] <= ord(char) <= value[1]
    if kind is op.CATEGORY:
        return CATEGORIES[value](char) if value in CATEGORIES else not CATEGORIES[NEGATED[value]](char)
    return False


def adversaries(pattern: str, flags: int) -> Iterator[Callable[[int], str]]:
    """Texts that are made to hurt a pattern, each as a function of a size: every repeated part pumped, in each
    of a few surroundings, and then an end that fits nothing.
    """
    tree = parser.parse(pattern, flags)
    pumps: list[tuple[str, str]] = []
    _pumps(list(tree), "", pumps)
    whole = "".join(_sample(item) for item in tree)
    if whole:
        pumps.append(("", whole))
    seen = set()
    for before, pump in pumps:
        for head, body in ((before, pump), ("", before + pump), ("", pump)):
            for tail in ("\x07", ""):
                if body and (head, body, tail) not in seen:
                    seen.add((head, body, tail))
                    yield lambda size, h=head, b=body, t=tail: h + b * (size // len(b)) + t  # type: ignore[misc]


def _pumps(items: Sequence[Any], before: str, out: list[tuple[str, str]]) -> None:
    """Every repeated part's sample, with a sample of what comes before it."""
    for kind, value in items:
        if kind in REPEATS:
            most, inner = value[1], list(value[2])
            sample = "".join(_sample(item) for item in inner)
            if most is op.MAXREPEAT or most > 8:
                out.append((before, sample))
            _pumps(inner, before, out)
        elif kind is op.SUBPATTERN:
            _pumps(list(value[3]), before, out)
        elif kind is op.BRANCH:
            for branch in value[1]:
                _pumps(list(branch), before, out)
        elif kind is op.ATOMIC_GROUP:
            _pumps(list(value), before, out)
        before += _sample((kind, value))


def _sample(item: Any) -> str:
    """A short text that a part of a pattern matches."""
    kind, value = item
    if kind is op.LITERAL:
        return chr(value)
    if kind in (op.NOT_LITERAL, op.ANY):
        return "a"
    if kind is op.IN:
        return next((char for char in "a0 _-./\n\"'\\~A%é" if _is_in(value, char, 0)), chr(_first(value)))
    if kind in REPEATS:
        least, most, inner = value
        return "".join(_sample(one) for one in inner) * max(least, min(1, most))
    if kind is op.SUBPATTERN:
        return "".join(_sample(one) for one in value[3])
    if kind is op.BRANCH:
        return "".join(_sample(one) for one in value[1][0])
    if kind is op.ATOMIC_GROUP:
        return "".join(_sample(one) for one in value)
    return ""


def _first(parts: Sequence[Any]) -> int:
    for kind, value in parts:
        if kind is op.LITERAL:
            return int(value)
        if kind is op.RANGE:
            return int(value[0])
    return ord("a")
