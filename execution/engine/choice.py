"""Choosing: the fairest due run whose caps are free.

Fair: the persona with the fewest running runs first, then the tool with the fewest, then age.
"""

from collections import Counter
from typing import Any

from django.conf import settings
from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Now

from execution.engine.caps import DEFAULT_SESSION, Choice
from execution.engine.store import hotpath, hotwork
from execution.models import Run, Status
from security.policy.selectors import restrictions_in_force


def choice_make(queue: str) -> Choice | None:
    """The run to claim next, in the claim's transaction; None when nothing is due or no cap is free."""
    return hotwork.run_choose(queue) if hotpath.is_served() else _choose(queue)


def _choose(queue: str) -> Choice | None:
    """By the ORM, as `hotwork.run_choose` does by one statement. There is one writer: nothing to lock."""
    due = Run.objects.filter(queue=queue, status=Status.PENDING, inline=False, due_at__lte=Now())
    kinds = list(due.order_by().values("persona_id", "tool").annotate(oldest=Min("due_at")))
    busy = _Busy() if kinds else None
    if busy is None or busy.is_full():
        return None
    kinds = _unpaused(kinds)
    kinds.sort(key=lambda kind: (busy.personas[kind["persona_id"]], busy.tools[kind["tool"]], kind["oldest"]))
    for kind in kinds:
        rows = due.filter(persona_id=kind["persona_id"], tool=kind["tool"]).order_by("due_at", "id")
        found = busy.free(rows, kind["persona_id"], kind["tool"])
        row = found.values_list("pk", "persona_id", "tool", "session", "at_once").first()
        if row is not None:
            return Choice(*row)
    return None


def _unpaused(kinds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The kinds of waiting work that no pause holds."""
    pauses = restrictions_in_force().filter(is_pause=True).values_list("persona_id", "tool")
    held = list(pauses)
    return [
        kind
        for kind in kinds
        if not any(who in {None, kind["persona_id"]} and tool in {"", kind["tool"]} for who, tool in held)
    ]


class _Busy:
    """How many runs are running, by persona, tool and session; in default sessions those of workers."""

    def __init__(self) -> None:
        self.personas: Counter[int] = Counter()
        self.tools: Counter[str] = Counter()
        self.sessions: Counter[tuple[int, str]] = Counter()
        running = Run.objects.filter(status=Status.RUNNING).order_by()
        for row in running.values("persona_id", "tool", "session", "inline").annotate(n=Count("pk")):
            self.personas[row["persona_id"]] += row["n"]
            self.tools[row["tool"]] += row["n"]
            is_default = row["session"] in DEFAULT_SESSION
            if not (is_default and row["inline"]):
                session = "" if is_default else row["session"]
                self.sessions[row["persona_id"], session] += row["n"]

    def is_full(self) -> bool:
        """Whether the hub's own cap is reached."""
        return 0 < settings.HUB_RUNS_MAX <= self.personas.total()

    def free(self, rows: QuerySet[Run], persona_id: int, tool: str) -> QuerySet[Run]:
        """Those of a persona's runs of a tool whose caps are free."""
        if 0 < settings.PERSONA_RUNS_MAX <= self.personas[persona_id]:
            return rows.none()
        most = settings.SESSION_RUNS_MAX
        full = {session for (of, session), n in self.sessions.items() if of == persona_id and 0 < most <= n}
        if "" in full:
            full.update(DEFAULT_SESSION)
        by_tool = Q(at_once=None) | Q(at_once__gt=self.tools[tool])
        return rows.filter(by_tool).exclude(session__in=full)
