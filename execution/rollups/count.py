"""Counting runs themselves: for rollups, and for what no rollup has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When

from execution.engine.selectors import STATUS_GROUPS, first_id_at
from execution.engine.states import FINAL
from execution.models import Run, Status
from execution.rollups.times import bucket

# What is counted beside the numbers: times taken, or calls by tool.
Detail = Literal["times", "tools"]
# Where a run finds the teams of its tool, of the tool's package, and of its persona.
OWNERS = ("tool_version__tool__team", "tool_version__tool__package__team", "persona__team")
Owners = tuple[int | None, ...]


@dataclass
class Figures:
    """Calls, and how they ended; `open` have no outcome yet. `times` as models.py has them; by the name of a
    tool, `tools` has its calls, and `failed` those that were unsuccessful, if any.
    """

    calls: int = 0
    completed: int = 0
    unsuccessful: int = 0
    open: int = 0
    times: dict[str, int] = field(default_factory=dict)
    tools: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)

    def add(self, other: "Figures") -> None:
        """Takes the other's in."""
        self.calls += other.calls
        self.completed += other.completed
        self.unsuccessful += other.unsuccessful
        self.open += other.open
        _add(self.times, other.times)
        _add(self.tools, other.tools)
        _add(self.failed, other.failed)

    def add_kept(self, row: Mapping[str, Any]) -> None:
        """Takes in what is kept of a half-hour, as models.py has it, with any of the details."""
        self.calls += row["calls"]
        self.completed += row["completed"]
        self.unsuccessful += row["unsuccessful"]
        _add(self.times, row.get("times", {}))
        # A day has some ten thousands of these.
        tools, failed = self.tools, self.failed
        for name, (calls, unsuccessful) in row.get("tools", {}).items():
            tools[name] = tools.get(name, 0) + calls
            if unsuccessful:
                failed[name] = failed.get(name, 0) + unsuccessful

    def count(self, status: str, count: int, number: int | None, tool: str) -> None:
        """Takes in runs of one kind."""
        failed = count * (status in STATUS_GROUPS["unsuccessful"])
        self.calls += count
        self.completed += count * (status == Status.COMPLETED)
        self.unsuccessful += failed
        self.open += count * (status not in FINAL)
        if number is not None:
            self.times[str(number)] = self.times.get(str(number), 0) + count
        if tool:
            self.tools[tool] = self.tools.get(tool, 0) + count
        if tool and failed:
            self.failed[tool] = self.failed.get(tool, 0) + failed


def _add(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


@dataclass(frozen=True)
class Piece:
    """A time, with the number of the step that it belongs to."""

    begin: datetime
    end: datetime
    step: int = 0


def counted(rows: QuerySet[Run], pieces: Sequence[Piece], *details: Detail) -> dict[int, Figures]:
    """By step what was called in its pieces, which follow each other in time. One query."""
    found: dict[int, Figures] = {}
    for step, status, number, tool, count in _groups(rows, pieces, details):
        found.setdefault(step, Figures()).count(status, count, number, tool)
    return found


def counted_by_owners(piece: Piece) -> dict[Owners, Figures]:
    """What was called in a piece, by OWNERS, in all details. One query."""
    found: dict[Owners, Figures] = {}
    groups = _groups(Run.objects.all(), [piece], ("times", "tools"), OWNERS)
    for _, status, number, tool, *owners, count in groups:
        found.setdefault(tuple(owners), Figures()).count(status, count, number, tool)
    return found


def _groups(
    rows: QuerySet[Run], pieces: Sequence[Piece], details: Sequence[Detail], by: Sequence[str] = ()
) -> Iterable[tuple[Any, ...]]:
    """(step, status, bucket, tool, *by, count) of each kind of runs."""
    if not pieces:
        return ()
    rows = (
        rows.filter(within(pieces))
        .order_by()
        .annotate(
            step=_step(pieces),
            number=bucket() if "times" in details else Value(None, IntegerField()),
            named=F("tool") if "tools" in details else Value(""),
        )
    )
    return rows.values_list("step", "status", "number", "named", *by).annotate(n=Count("pk"))


def within(pieces: Sequence[Piece]) -> Q:
    """The condition on runs that were made in the pieces, which follow each other in time."""
    times = _joined(pieces)
    parts = [Q(pk__gte=first_id_at(begin), pk__lt=first_id_at(end)) for begin, end in times]
    return Q(*parts, _connector=Q.OR)


def _joined(pieces: Sequence[Piece]) -> list[tuple[datetime, datetime]]:
    """The times that the pieces fill, as few as can be."""
    times: list[tuple[datetime, datetime]] = []
    for piece in pieces:
        if times and times[-1][1] == piece.begin:
            times[-1] = times[-1][0], piece.end
        else:
            times.append((piece.begin, piece.end))
    return times


def _step(pieces: Sequence[Piece]) -> Case | Value:
    if len({piece.step for piece in pieces}) == 1:
        return Value(pieces[0].step, IntegerField())
    ends = [When(pk__lt=first_id_at(piece.end), then=Value(piece.step)) for piece in pieces]
    return Case(*ends, output_field=IntegerField())
