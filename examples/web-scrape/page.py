"""The first element of a page that a simple CSS selector names: tags, ids, classes, and descendants."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_PART = re.compile(r"([#.]?)([A-Za-z0-9_-]+)")
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)


@dataclass
class _Element:
    tag: str
    id: str | None
    classes: frozenset[str]
    wanted: bool = False
    text: list[str] = field(default_factory=list)


class _Finder(HTMLParser):
    def __init__(self, steps: list[list[tuple[str, str]]]) -> None:
        super().__init__()
        self._steps = steps
        self._open: list[_Element] = []
        self.found: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        element = _Element(tag, given.get("id"), frozenset((given.get("class") or "").split()))
        taken = any(each.wanted for each in self._open)
        element.wanted = self.found is None and not taken and self._matches([*self._open, element])
        if tag not in _VOID:
            self._open.append(element)
        elif element.wanted:
            self.found = ""

    def handle_data(self, data: str) -> None:
        for each in self._open:
            if each.wanted:
                each.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        at = max((i for i, each in enumerate(self._open) if each.tag == tag), default=None)
        if at is None:
            return
        for each in self._open[at:]:
            self._end(each)
        del self._open[at:]

    def close(self) -> None:
        super().close()
        for each in self._open:
            self._end(each)

    def _end(self, element: _Element) -> None:
        if element.wanted and self.found is None:
            self.found = " ".join("".join(element.text).split())

    def _matches(self, chain: list[_Element]) -> bool:
        """Whether the last element fits the last step, and elements above it the steps before, in order."""
        *above, last = self._steps
        if not _fits(chain[-1], last):
            return False
        around = iter(chain[:-1])
        return all(any(_fits(each, step) for each in around) for step in above)


def _fits(element: _Element, parts: list[tuple[str, str]]) -> bool:
    of = {"": lambda name: element.tag == name.lower(), "#": lambda name: element.id == name}
    of["."] = lambda name: name in element.classes
    return all(of[kind](name) for kind, name in parts)


def first_text(page: str, selector: str) -> str | None:
    """The text of the first element that fits, white space joined; None where none does."""
    steps = [_PART.findall(step) for step in selector.split()]
    if not steps or any(
        "".join(k + n for k, n in parts) != step for parts, step in zip(steps, selector.split(), strict=True)
    ):
        return None
    finder = _Finder(steps)
    finder.feed(page)
    finder.close()
    return finder.found
