"""The end of runs that nobody began in time."""

from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from core.duties.rows import each
from execution.engine.outcomes import failure
from execution.engine.settle import run_settle
from execution.models import Run, Status
from execution.side_effects import SideEffect

PASSED = "No worker began the run before its deadline. Nothing was done."


def _passed() -> QuerySet[Run]:
    return Run.objects.filter(status=Status.PENDING, attempt=0, deadline_at__lte=Now())


def deadlines_end() -> int:
    """The steward's duty: ends runs whose deadline passed before they were begun; returns how many."""
    return each("deadlines", _passed().order_by("deadline_at"), _end, atomic=False)


def _end(run_id: UUID) -> bool:
    run = _passed().select_related("tool_version").filter(pk=run_id).first()
    if run is None:
        return False
    at = timezone.now()
    outcome = failure("TIMEOUT", PASSED, at=at, status=Status.TIMEOUT, side_effect=SideEffect.NONE)
    return run_settle(run, outcome, sources=[Status.PENDING], who="steward", among=_passed())
