"""Checks the preconditions of a run that was begun, once, and keeps the answer in it."""

from datetime import UTC, datetime

from django.db import transaction

from core.errors import error_object
from execution.engine.events import event_add
from execution.engine.facts import rights_of
from execution.engine.lease import Lease
from execution.engine.outcomes import Outcome
from execution.features.preconditions.check import failed_descriptions, preconditions_check
from execution.models import Run, Status
from execution.run_events import PRECONDITIONS_CHECKED
from execution.side_effects import SideEffect


def preconditions_kept(lease: Lease) -> bool:
    """Checks them before the first attempt. False when the lease was lost meanwhile: nothing may start.

    The lease's run has the answer then. Later attempts go by the answer of the first.
    """
    run = lease.run
    if run.preconditions is None:
        rights = rights_of(run)
        principal = rights[0] if rights else None
        answer = preconditions_check(run.tool_version, run.persona_id, principal, run.arguments, run.request)
        if not _keep(lease, answer):
            return False
        run.preconditions = answer
    return True


def preconditions_refusal(run: Run) -> Outcome | None:
    """The outcome of a run that may not go on by the answer that it has, else None."""
    if run.preconditions is None or run.preconditions["can_proceed"]:
        return None
    failed = failed_descriptions(run.preconditions)
    error = error_object(
        "PRECONDITION_FAILED",
        f"What has to hold before {run.tool} does not: {' '.join(_reasons(run))}",
        suggestions=failed,
        details={"preconditions": run.preconditions},
    )
    now = datetime.now(UTC)
    return Outcome(Status.FAILED, now, now, 0.0, error=error, side_effect=SideEffect.NONE)


def _keep(lease: Lease, answer: dict[str, object]) -> bool:
    with transaction.atomic():
        mine = Run.objects.filter(pk=lease.run.pk, lease_token=lease.token, status=Status.RUNNING)
        if not mine.update(preconditions=answer):
            return False
        told = {"passed": answer["passed"], "failed": failed_descriptions(answer)}
        event_add(lease.run.pk, PRECONDITIONS_CHECKED, told)
    return True


def _reasons(run: Run) -> list[str]:
    results = (run.preconditions or {})["results"]
    return [one["reason"] for one in results if one["critical"] and not one["passed"]]
