"""What must hold of all runs at any time: each accepted run has at most one outcome, and none gets lost."""

from dataclasses import dataclass

from django.db.models import Count

from audit.models import Event
from execution.engine.states import FINAL
from execution.event_kinds import RUN_ACCEPTED, RUN_OUTCOME
from execution.models import Run, Status


@dataclass(frozen=True)
class Findings:
    """Counts over all runs. Everything below `open_runs` must be 0."""

    runs: int
    finished: int
    unknown: int
    open_runs: int
    without_accepted_event: int
    accepted_twice: int
    finished_without_outcome_event: int
    outcome_twice: int
    outcome_event_of_unfinished: int
    leaf_differs: int

    @property
    def faults(self) -> dict[str, int]:
        """The counts that should be 0 and are not."""
        wrong = list(self.__dataclass_fields__)[4:]
        return {name: getattr(self, name) for name in wrong if getattr(self, name)}


def invariants_check() -> Findings:
    """Counts over all runs and their ledger events. Reads whole tables: for tests and operators."""
    per_run = (
        Event.objects.filter(run_id__isnull=False, kind__in=(RUN_ACCEPTED.name, RUN_OUTCOME.name))
        .order_by()
        .values("run_id", "kind")
        .annotate(n=Count("pk"))
    )
    accepted = {row["run_id"]: row["n"] for row in per_run if row["kind"] == RUN_ACCEPTED.name}
    outcomes = {row["run_id"]: row["n"] for row in per_run if row["kind"] == RUN_OUTCOME.name}
    statuses = dict(Run.objects.values_list("pk", "status"))
    finished = {pk for pk, status in statuses.items() if status in FINAL}
    leaves = {
        run_id: bytes(leaf)
        for run_id, leaf in Event.objects.filter(kind=RUN_OUTCOME.name).values_list("run_id", "leaf")
    }
    told = Run.objects.filter(pk__in=finished).values_list("pk", "outcome_leaf")
    return Findings(
        runs=len(statuses),
        finished=len(finished),
        unknown=sum(status == Status.OUTCOME_UNKNOWN for status in statuses.values()),
        open_runs=len(statuses) - len(finished),
        without_accepted_event=len(statuses.keys() - accepted.keys()),
        accepted_twice=sum(n > 1 for n in accepted.values()),
        finished_without_outcome_event=len(finished - outcomes.keys()),
        outcome_twice=sum(n > 1 for n in outcomes.values()),
        outcome_event_of_unfinished=len(outcomes.keys() - finished),
        leaf_differs=sum(bytes(leaf or b"") != leaves.get(pk) for pk, leaf in told),
    )
