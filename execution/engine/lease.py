"""The right to carry out one attempt of a run."""

import uuid
from dataclasses import dataclass

from execution.engine.events import Step
from execution.models import Run, RunEvent


@dataclass(frozen=True)
class Lease:
    """The right to carry a run out: whoever holds the token may start and finish this attempt.

    `events` are all that the run has, where the claim knows them.
    """

    run: Run
    token: uuid.UUID
    attempt: int
    events: tuple[RunEvent | Step, ...] | None = None
