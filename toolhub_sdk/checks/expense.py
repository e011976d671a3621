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
# So many choices of an `enum` are as dear as a look: each error repeats them.
CHOICES = 100
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


def looks_of(graph: Graph) -> int:
    """How often one place may be looked at, long lists of choices counted as several looks.

    Raises TooExpensiveError where that is more than 4,000 times, or where a schema is itself.
    """
    walk = _Walk(graph)
    level = {_key(walk.at(0))}
    seen = set(level)
    for _ in range(DEPTH_MAX):
        following = {_key(part) for state in level for part in walk.parts(dict(state))}
        level = following - seen
        seen |= level
        if not level:
            break
    return walk.looks


def _key(counts: Mapping[int, int]) -> State:
    return frozenset(counts.items())


class _Walk:
    """Walks the graph state by state; `looks` is the greatest number of looks so far."""

    def __init__(self, graph: Graph) -> None:
        self._nodes = graph.nodes
        self._closed: dict[int, Counter[int]] = {}
        self._cost: dict[int, int] = {}
        self._open: set[int] = set()
        self._work = 0
        self.looks = 1

    def at(self, number: int) -> Counter[int]:
        """The schemas that apply where this one does, and how often."""
        if number in self._closed:
            return self._closed[number]
        node = self._nodes[number]
        if number in self._open or len(self._open) == CHAIN_MAX:
            raise TooExpensiveError(node.path, "The schema refers to itself, or on and on.")
        self._open.add(number)
        choices = node.schema.get("enum")
        counts = Counter({number: 1})
        cost = 1 + (len(choices) // CHOICES if isinstance(choices, list) else 0)
        for other in node.same_place:
            counts.update(self.at(other))
            cost += self._cost[other]
            self._look(cost, len(self._closed[other]), node)
        self._look(cost, 1, node)
        self._open.remove(number)
        self._closed[number], self._cost[number] = counts, cost
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
        cost = 0
        for step, times in steps:
            applied = self.at(step.target)
            for number, each in applied.items():
                counts[number] += each * times
            cost += self._cost[step.target] * times
            self._look(cost, len(applied), self._nodes[step.target])
        return counts

    def _look(self, cost: int, work: int, node: Node) -> None:
        self._work += work
        self.looks = max(self.looks, cost)
        if cost > LOOKS_MAX:
            raise TooExpensiveError(node.path, "Branches over branches: a value could take long to check.")
        if self._work > WORK_MAX:
            raise TooExpensiveError((), "The schema describes too many different places.")
