"""Reaping: what becomes of a run whose lease is over."""

import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from core.duties.rows import all_or_each, each
from core.failpoints import failpoint
from execution.engine.bells import ring
from execution.engine.events import event_next
from execution.engine.notices import run_wake
from execution.engine.outcomes import failure
from execution.engine.settle import run_locked, run_settle
from execution.engine.states import transition
from execution.engine.wait import attempts_repeated
from execution.models import Attempt, Run, Status
from execution.run_events import LEASE_LOST, RETRY
from execution.side_effects import SideEffect

log = logging.getLogger(__name__)
ATTEMPTS_MAX = 3
# Between two looks of the reaper so many seconds count at most.
LOOK_MOST_S = 2.0


@dataclass
class _Quiet:
    """A run's lease as it was last seen, and for how many seconds it has not changed."""

    mark: tuple[UUID | None, int]
    seen: float
    seconds: float = 0.0


class Reaper:
    """Knows for how long each running run has been without a beat, by this process's own monotonic clock.

    No wall clock counts: neither the database's nor a machine's takes a live run when somebody sets it.
    Time in which this process did not look does not count: it may have stood still together with the workers.
    """

    def __init__(self) -> None:
        self._quiet: dict[UUID, _Quiet] = {}

    def over(self) -> list[UUID]:
        """Look at all running runs; those whose lease is over."""
        now = time.monotonic()
        before, self._quiet = self._quiet, {}
        rows = Run.objects.filter(status=Status.RUNNING).values_list("pk", "lease_token", "beats")
        for run_id, token, beats in rows:
            quiet = before.get(run_id)
            if quiet is None or quiet.mark != (token, beats):
                quiet = _Quiet((token, beats), now)
            quiet.seconds += min(now - quiet.seen, LOOK_MOST_S)
            quiet.seen = now
            self._quiet[run_id] = quiet
        return [run_id for run_id, quiet in self._quiet.items() if quiet.seconds >= settings.LEASE_S]

    def unbeaten(self, run_id: UUID) -> QuerySet[Run]:
        """The run, while its lease is as it was seen."""
        token, beats = self._quiet[run_id].mark
        return Run.objects.filter(pk=run_id, status=Status.RUNNING, lease_token=token, beats=beats)


REAPER = Reaper()


def runs_reap() -> int:
    """Takes runs from lost workers; returns how many. At most 100 a call."""
    over = REAPER.over()
    return each("reaper", Run.objects.filter(pk__in=over), _reap_one, atomic=False) if over else 0


def _reap_one(run_id: UUID) -> bool:
    """Takes one run from its worker; false where somebody was first."""
    unbeaten = REAPER.unbeaten(run_id)
    run = unbeaten.select_related("tool_version").first()
    if run is None:
        return False
    attempt = Attempt.objects.get(run=run, number=run.attempt)
    lost = run.attempt - attempts_repeated(run)
    if not _is_unknown(run, attempt) and lost >= ATTEMPTS_MAX:
        said = f"The worker died in each of {lost} attempts."
        none = SideEffect.NONE  # of what was begun, the attempts tell
        outcome = failure("WORKER_LOST", said, at=datetime.now(UTC), side_effect=none)
        sources = [Status.RUNNING]
        reaped = run_settle(run, outcome, sources=sources, who="reaper", before=_mark_lost, among=unbeaten)
    else:
        with transaction.atomic():
            locked = run_locked(run, [Status.RUNNING], run.lease_token, unbeaten)
            reaped = locked is not None and _mark_lost(locked)
            if locked is not None:
                _take(locked, attempt)
                failpoint("reap.before")
    failpoint("reap.after")
    return reaped


def _is_unknown(run: Run, attempt: Attempt) -> bool:
    """Whether nobody knows what the lost attempt did."""
    return bool(attempt.started_at) and not (run.tool_version.is_pure or run.tool_version.is_idempotent)


def _mark_lost(run: Run) -> bool:
    """The attempt is lost, and the run's event says so; in the transaction that holds the run."""
    mine = Attempt.objects.filter(run=run, number=run.attempt)
    effect = SideEffect.POSSIBLE if mine.filter(started_at__isnull=False).exists() else SideEffect.NONE
    effect = SideEffect.NONE if run.tool_version.is_pure else effect
    mine.update(status="lost", finished_at=Now(), side_effect=effect)
    event_next(run, LEASE_LOST, {"attempt": run.attempt, "worker": mine.get().worker})
    return True


def _take(run: Run, attempt: Attempt) -> None:
    here = Run.objects.filter(pk=run.pk, lease_token=run.lease_token)
    if _is_unknown(run, attempt):
        changes: dict[str, Any] = {"events_count": run.events_count}
        transition(here, source=Status.RUNNING, target=Status.OUTCOME_UNKNOWN, who="reaper", **changes)
        run_wake(run.pk)
        log.error("run %s of %s: outcome unknown", run.pk, run.tool)
    else:
        event_next(run, RETRY, {"attempt": run.attempt + 1})
        # A lost run of a web process goes to the workers.
        changes = {
            "due_at": Now(),
            "lease_token": None,
            "inline": False,
            "events_count": run.events_count,
        }
        transition(here, source=Status.RUNNING, target=Status.PENDING, who="reaper", **changes)
        transaction.on_commit(lambda: ring(run.queue))


def inline_release(older_than_s: float = 60.0) -> int:
    """Gives runs that a web process accepted and never claimed (it died) to the workers."""
    old = Run.objects.filter(
        inline=True, status=Status.PENDING, created_at__lt=Now() - timedelta(seconds=older_than_s)
    )
    return all_or_each(
        "inline", old, lambda keys: old.filter(pk__in=keys).update(inline=False, due_at=F("created_at"))
    )
