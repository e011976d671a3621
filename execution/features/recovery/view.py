"""What an answer tells of a run's recovery."""

from typing import Any

from execution.engine.events import iso
from execution.models import Attempt, Recovery, Run


def recovery_view(run: Run) -> dict[str, Any] | None:
    """What was done when the last attempt had failed, and with which error; None where nothing was.

    A query for tools whose contract speaks of recovery, none for others.
    """
    if "recovery" not in run.tool_version.extras:
        return None
    row = Recovery.objects.select_related("child").filter(run=run).first()
    if row is None:
        return None
    error = Attempt.objects.get(run=run, number=run.attempt).error
    if row.child:
        return {"type": "fallback", "tool": row.child.tool, "run_id": str(row.child_id), "error": error}
    return {"type": "manual", "escalated_at": iso(row.escalated_at), "error": error}
