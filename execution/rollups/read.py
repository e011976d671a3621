"""What a person sees of the calls in some times: from rollups, and what they lack from the runs."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet

from execution.engine.selectors import VIEW, runs_seen
from execution.models import Run
from execution.rollups.count import OWNERS, Detail, Figures, Piece, counted
from execution.rollups.models import HALF_HOUR, Rollup, RollupPart
from execution.rollups.roll import half_hour, reopened
from security.models import User
from security.sharing.owned import given_beyond, owned_within, owner_changes
from security.sharing.reach import sees_all

_COLUMNS = ("calls", "completed", "unsuccessful")
# Of a part, as OWNERS of a run.
_PART_OWNERS = ("tool_team", "package_team", "persona_team")


def figures_read(person: User, steps: Sequence[Piece], detail: Detail) -> dict[int, Figures]:
    """By step what the person sees of its calls; steps follow each other. At most six queries."""
    if not person.has_perm(VIEW):
        return counted(runs_seen(person), steps, detail)
    if sees_all(person, VIEW):
        return _whole(steps, detail)
    found = _of_teams(person, steps, detail)
    for step, figures in counted(_given(person), steps, detail).items():
        found.setdefault(step, Figures()).add(figures)
    return found


def _whole(steps: Sequence[Piece], detail: Detail) -> dict[int, Figures]:
    rows = Rollup.objects.annotate(begin=F("begins_at"))
    return _summed(rows, steps, detail, Run.objects.all())


def _of_teams(person: User, steps: Sequence[Piece], detail: Detail) -> dict[int, Figures]:
    """Of what is nobody's and what their teams own."""
    rows = RollupPart.objects.filter(owned_within(person, *_turned(_PART_OWNERS)))
    runs = Run.objects.filter(owned_within(person, *_turned(OWNERS)))
    rows = rows.filter(rollup__owners=owner_changes().count())
    return _summed(rows.annotate(begin=F("rollup_id"), open=F("rollup__open")), steps, detail, runs)


def _turned(owners: tuple[str, str, str]) -> tuple[str, str, str]:
    tool, package, persona = owners
    return persona, tool, package


def _given(person: User) -> QuerySet[Run]:
    """Runs with a tool or persona that other teams own, which the person was given a right on."""
    beyond = given_beyond(person, "persona", "tool")
    return runs_seen(person).filter(Q(persona__in=beyond["persona"]) | Q(tool__in=beyond["tool"]))


def _summed(
    rows: QuerySet[Any], steps: Sequence[Piece], detail: Detail, runs: QuerySet[Run]
) -> dict[int, Figures]:
    """From rows of rollups that hold and lie within a step, and for the rest from runs."""
    places = _places(steps)
    rows = rows.filter(begin__gte=steps[0].begin, begin__lt=steps[-1].end) if places else rows.none()
    kept = [row for row in rows.values("begin", "open", *_COLUMNS, detail) if row["begin"] in places]
    old = reopened({row["begin"]: row["open"] for row in kept})
    found: dict[int, Figures] = {}
    for row in kept:
        if row["begin"] not in old:
            found.setdefault(places[row["begin"]], Figures()).add_kept(row)
    there = {row["begin"] for row in kept} - old
    for step, figures in counted(runs, _rest(steps, there), detail).items():
        found.setdefault(step, Figures()).add(figures)
    return found


def _places(steps: Sequence[Piece]) -> dict[datetime, int]:
    """The half-hours that lie within a step, in order, and its number."""
    found = {}
    for step in steps:
        begin = half_hour(step.begin)
        begin += HALF_HOUR * (begin < step.begin)
        while begin + HALF_HOUR <= step.end:
            found[begin] = step.step
            begin += HALF_HOUR
    return found


def _rest(steps: Sequence[Piece], there: Collection[datetime]) -> list[Piece]:
    """What of the steps lies outside of the half-hours that are there: each lies within one of them."""
    pieces, cuts = [], sorted(there)
    for step in steps:
        begin = step.begin
        for cut in cuts[bisect_left(cuts, step.begin) : bisect_left(cuts, step.end)]:
            if begin < cut:
                pieces.append(Piece(begin, cut, step.step))
            begin = cut + HALF_HOUR
        if begin < step.end:
            pieces.append(Piece(begin, step.end, step.step))
    return pieces
