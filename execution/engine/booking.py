"""Books what an attempt took on the limits that its run counts against."""

from core.json.canonical import canonical
from execution.engine.outcomes import Outcome
from execution.models import Run
from security.policy.usage import usage_book


def attempt_book(run: Run, outcome: Outcome) -> None:
    """Its time, and its arguments and result in canonical form; in the transaction that ends it."""
    if run.metered:
        size = len(canonical(run.arguments)) + len(outcome.encoded)
        usage_book(run.metered, duration_ms=outcome.duration_ms, size=size)
