"""The statements of SQLite, through the ORM. There is one writer: a transaction may rest on what it reads.

They run on PostgreSQL, too, so that the suite can compare both stores on one database.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from audit.ledger import rows_write as ledger_write
from audit.models import Event
from execution.engine.due import DEFAULT_SESSION, Choice
from execution.engine.facts import Facts, facts_of
from execution.engine.outcomes import Outcome
from execution.engine.states import transition
from execution.engine.store.interface import Clock, Known, Store
from execution.engine.store.known import Proof
from execution.models import Attempt, Run, RunEvent, Status
from execution.run_events import CLAIMED, STARTED
from registry.selectors import ResolvedTool
from security.policy.selectors import restrictions_in_force
from security.principals import PersonaPrincipal

WAITING = (Status.PENDING, Status.WAITING_RETRY)


class SqliteStore(Store):
    """Each operation by a few statements in one transaction."""

    def caller_read(self, token_text: str, tool: str) -> tuple[PersonaPrincipal, ResolvedTool] | None:
        return None

    def caller_known(self, token_text: str, tool: str) -> Known | None:
        return None

    def rows_write(
        self,
        groups: Sequence[Sequence[models.Model]],
        *,
        clock: Clock | None = None,
        proof: Proof | None = None,
    ) -> bool:
        with transaction.atomic():
            for group in groups:
                for row, (column, ahead_s) in itertools.product(group, (clock or {}).items()):
                    if hasattr(row, column):
                        setattr(row, column, Now() + timedelta(seconds=ahead_s))
                type(group[0])._default_manager.bulk_create(group)
        return True

    def waiting_counts(self, queue: str, persona_id: int, most: int) -> tuple[int, int]:
        rows = Run.objects.filter(queue=queue, status__in=WAITING).order_by().values("pk")
        return rows[:most].count(), rows.filter(persona_id=persona_id)[:most].count()

    def choose(self, queue: str) -> Choice | None:
        return _choose(queue)

    def names_lock(self, names: Sequence[str]) -> None:
        """There is one writer."""

    def begin(self, run_id: UUID, worker: str, *, alone: bool) -> tuple[Run, Facts] | None:
        run = Run.objects.select_related("tool_version__tool__package", "persona").get(pk=run_id)
        at, number, token = timezone.now(), run.attempt + 1, uuid4()
        begun = {"attempt": number, "lease_token": token, "started_at": at, "beats": 0, "beat_at": at}
        begun["events_count"] = run.events_count + 2
        here = Run.objects.filter(pk=run_id, attempt=run.attempt)
        if not transition(here, source=Status.PENDING, target=Status.RUNNING, who="claim", **begun):
            return None
        for name, value in {"status": Status.RUNNING, **begun}.items():
            setattr(run, name, value)
        Attempt.objects.create(
            run=run, number=number, lease_token=token, worker=worker, claimed_at=at, started_at=at
        )
        told = ((CLAIMED, {"attempt": number, "worker": worker}), (STARTED, {"attempt": number}))
        RunEvent.objects.bulk_create(
            RunEvent(run_id=run.pk, seq=seq, kind=kind, at=at, data=data)
            for seq, (kind, data) in enumerate(told, start=run.events_count - 1)
        )
        return run, facts_of(run)

    def finish(self, run: Run, token: UUID, outcome: Outcome, event_at: datetime, ledger: Event) -> bool:
        with transaction.atomic():
            here = Run.objects.filter(pk=run.pk, lease_token=token, events_count=run.events_count)
            moved = transition(
                here,
                source=Status.RUNNING,
                target=outcome.status,
                who="finish",
                completed_at=event_at,
                duration_ms=outcome.duration_ms,
                result=outcome.data if outcome.status is Status.COMPLETED else None,
                result_hash=outcome.result_hash,
                error=outcome.error,
                resources=dict(outcome.resources),
                sandbox=outcome.sandbox,
                side_effect=outcome.side_effect or "",
                warnings=[*run.warnings, *outcome.warnings],
                outcome_leaf=ledger.leaf,
                events_count=run.events_count + 1,
            )
            if not moved:
                return False
            Attempt.objects.filter(run=run, lease_token=token).update(
                finished_at=outcome.ended_at,
                status=outcome.status,
                error_code=outcome.error_code,
                error=outcome.error,
                duration_ms=outcome.duration_ms,
                side_effect=outcome.side_effect or "",
            )
            RunEvent.objects.create(
                run_id=run.pk, seq=run.events_count + 1, kind=outcome.event, at=event_at, data={}
            )
            ledger_write([ledger])
        return True


def _choose(queue: str) -> Choice | None:
    """By the ORM, as `hotwork.run_choose` does by one statement. There is one writer: nothing to lock."""
    due = Run.objects.filter(queue=queue, status=Status.PENDING, inline=False, due_at__lte=Now())
    due = due.filter(Q(attempt__gt=0) | Q(deadline_at=None) | Q(deadline_at__gt=Now()))
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
