"""`manage.py chaos_count`: waits until no run is open, and prints what became of all as JSON."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.outbox.models import Delivery, State
from execution.engine.invariants import invariants_check
from execution.engine.states import FINAL
from execution.features.callbacks.state import RUN_OUTCOME
from execution.memory.models import Item
from execution.models import IdempotencyKey, Run, RunEvent, Schedule, Status
from execution.run_events import LATE_RESULT

LOOK_S = 0.5


class Command(BaseCommand):
    help = "Waits until every run has its outcome, or nobody can know it, and prints all as JSON."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", type=float, default=0.0, help="at most so many seconds (default 0)")

    def handle(self, *args: Any, wait: float, **options: Any) -> None:
        Schedule.objects.update(enabled=False, next_at=None)
        ends = time.monotonic() + wait
        while _is_open() and time.monotonic() < ends:
            time.sleep(LOOK_S)
        found = {
            "runs": {str(run.pk): _view(run) for run in Run.objects.all()},
            "late": RunEvent.objects.filter(kind=LATE_RESULT).count(),
            "faults": invariants_check().faults,
            "counted": sum(int(item.value or 0) for item in Item.objects.filter(key="n")),
            "due_times": IdempotencyKey.objects.filter(key__startswith="schedule:").count(),
        }
        self.stdout.write(json.dumps(found))


def _is_open() -> bool:
    """Whether a run has no outcome yet, or a message about one is still to be sent."""
    closed = (*FINAL, Status.OUTCOME_UNKNOWN)
    owed = Delivery.objects.filter(kind=RUN_OUTCOME, state=State.QUEUED)
    return Run.objects.exclude(status__in=closed).exists() or owed.exists()


def _view(run: Run) -> dict[str, Any]:
    return {
        "tool": run.tool,
        "status": run.status,
        "code": (run.error or {}).get("code"),
        "attempts": run.attempt,
        "scheduled": run.token_id is None and run.parent_id is None,
        "parent": str(run.parent_id) if run.parent_id else None,
        "callback": bool(run.request.get("callback_url")),
    }
