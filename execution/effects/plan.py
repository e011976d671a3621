"""Works out what follows from an outcome. No transaction may be open: conditions and values are CEL."""

from collections.abc import Mapping

from execution.effects.steps import OWN, Fault, Plan, Step
from execution.models import Run
from execution.runs.outcomes import Outcome


def plan_make(run: Run, outcome: Outcome, failed: Mapping[int, str]) -> Plan:
    """The steps of an outcome, up to the first that cannot be worked out or is known to have `failed`."""
    plan = Plan()
    if outcome.memory:
        own = Step(OWN, "memory", "What the tool changed in memory.", changes=outcome.memory)
        if OWN in failed:
            plan.fault = Fault(OWN, own.kind, own.description, failed[OWN])
        else:
            plan.steps.append(own)
    return plan
