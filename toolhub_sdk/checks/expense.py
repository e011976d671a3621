"""How often a validator may have to look at one part of a value before it can say what does not fit.

Branches over branches (`anyOf` of references, again and again) make that number grow by powers. The schema
is walked as a validator would walk it, for every value at once: a state says which schemas apply at a place
and how often each.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from toolhub_sdk.checks.graph import Graph, Node, Path, Step

LOOKS_MAX = 4_000
WORK_MAX = 300_000
# References that lead to references.
CHAIN_MAX = 100
# Arguments are never nested deeper.
DEPTH_MAX = 64

State: TypeAlias = frozenset[tuple[int, int]]


class TooExpensiveError(ValueError):
    """Validation could take without end; `path` is the schema where that shows."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def expense_check(graph: Graph) -> None:
    """Raises TooExpensiveError where a place is looked at more than 4,000 times, or a schema is itself."""
    walk = _Walk(graph)
    level = {_key(walk.at(0))}
    seen = set(level)
    for _ in range(DEPTH_MAX):
        following = {_key(part) for state in level for part in walk.parts(dict(state))}
        level = following - seen
        seen |= level
        if not level:
            return


def _key(counts: Mapping[int, int]) -> State:
    return frozenset(counts.items())


class _Walk:
    def __init__(self, graph: Graph) -> None:
        self._nodes = graph.nodes
        self._closed: dict[int, Counter[int]] = {}
        self._open: set[int] = set()
        self._work = 0

    def at(self, number: int) -> Counter[int]:
        """The schemas that apply where this one does, and how often."""
        if number in self._closed:
            return self._closed[number]
        node = self._nodes[number]
        if number in self._open or len(self._open) == CHAIN_MAX:
            raise TooExpensiveError(node.path, "The schema refers to itself, or on and on.")
        self._open.add(number)
        counts = Counter({number: 1})
        for other in node.same_place:
            counts.update(self.at(other))
        self._open.remove(number)
        self._check(counts, node)
        self._closed[number] = counts
        return counts

    def parts(self, state: Mapping[int, int]) -> Iterator[Counter[int]]:
        """The states of the members and items that a value in this state can have."""
        for kind in ("members", "items"):
            named: dict[str | int, list[tuple[Step, int]]] = {}
            others: list[tuple[Step, int]] = []
            for number, times in state.items():
                for step in getattr(self._nodes[number], kind):
                    kept = others if step.name is None else named.setdefault(step.name, [])
                    kept.append((step, times))
            for name, steps in named.items():
                yield self._part([*steps, *(each for each in others if name not in each[0].others)])
            if others:
                yield self._part(others)

    def _part(self, steps: Sequence[tuple[Step, int]]) -> Counter[int]:
        counts: Counter[int] = Counter()
        for step, times in steps:
            for number, each in self.at(step.target).items():
                counts[number] += each * times
            self._check(counts, self._nodes[step.target])
        return counts

    def _check(self, counts: Counter[int], node: Node) -> None:
        self._work += len(counts)
        if counts.total() > LOOKS_MAX:
            raise TooExpensiveError(node.path, "Branches over branches: a value could take long to check.")
        if self._work > WORK_MAX:
            raise TooExpensiveError((), "The schema describes too many different places.")
