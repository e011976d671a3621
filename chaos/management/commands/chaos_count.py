"""`manage.py chaos_count`: waits until no run is open, and prints what became of all as JSON."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from execution.models import Run, RunEvent, Status
from execution.runs.events import LATE_RESULT
from execution.runs.invariants import invariants_check
from execution.runs.states import FINAL

LOOK_S = 0.5


class Command(BaseCommand):
    help = "Waits until every run has its outcome, or nobody can know it, and prints all as JSON."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", type=float, default=0.0, help="at most so many seconds (default 0)")

    def handle(self, *args: Any, wait: float, **options: Any) -> None:
        ends = time.monotonic() + wait
        closed = (*FINAL, Status.OUTCOME_UNKNOWN)
        while Run.objects.exclude(status__in=closed).exists() and time.monotonic() < ends:
            time.sleep(LOOK_S)
        rows = Run.objects.values_list("pk", "tool", "status", "error", "attempt")
        runs = {
            str(pk): {"tool": tool, "status": status, "code": (error or {}).get("code"), "attempts": attempt}
            for pk, tool, status, error, attempt in rows
        }
        late = RunEvent.objects.filter(kind=LATE_RESULT).count()
        self.stdout.write(json.dumps({"runs": runs, "late": late, "faults": invariants_check().faults}))
