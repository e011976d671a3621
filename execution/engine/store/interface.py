"""What the engine needs done by statements. One class per database keeps it; one suite holds both to it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import models

from audit.models import Event
from execution.engine.due import Choice
from execution.engine.facts import Facts
from execution.engine.outcomes import Outcome
from execution.engine.store.known import Proof
from execution.models import Run
from registry.selectors import ResolvedTool
from security.principals import PersonaPrincipal

Clock = Mapping[str, float]
"""Columns that the database's clock fills, each with the seconds that it is ahead."""
Known = tuple[PersonaPrincipal, ResolvedTool, Proof]


class Store(ABC):
    """The operations of a run's life that are statements."""

    @abstractmethod
    def caller_read(self, token_text: str, tool: str) -> tuple[PersonaPrincipal, ResolvedTool] | None:
        """Who calls and the tool's active version; None where the ordinary way must look."""

    @abstractmethod
    def caller_known(self, token_text: str, tool: str) -> Known | None:
        """The same by what this process read before, with the proof that `rows_write` compares."""

    @abstractmethod
    def rows_write(
        self,
        groups: Sequence[Sequence[models.Model]],
        *,
        clock: Clock | None = None,
        proof: Proof | None = None,
    ) -> bool:
        """Write rows of several models, each group of one model: all or none.

        False, with nothing written, where what `proof` says does not hold any more. Raises IntegrityError for
        an idempotency key that was used meanwhile.
        """

    @abstractmethod
    def waiting_counts(self, queue: str, persona_id: int, most: int) -> tuple[int, int]:
        """Count the runs that wait in a queue, and the persona's among them; each up to about `most`."""

    @abstractmethod
    def choose(self, queue: str) -> Choice | None:
        """The fairest due run of a queue whose caps are free, passing over what others have locked.

        Fair: the persona with the fewest running runs first, then the tool with the fewest, then age. In the
        caller's transaction.
        """

    @abstractmethod
    def names_lock(self, names: Sequence[str]) -> None:
        """Lock names, in this order, until the caller's transaction ends."""

    @abstractmethod
    def begin(self, run_id: UUID, worker: str, *, alone: bool) -> tuple[Run, Facts] | None:
        """Claim and start a pending run, with attempt and events, and read what its rights rest on.

        The row has its lease's token. None where the run is not pending any more, or its default session is
        full. `alone` says that no transaction of the caller's may have changed rights.
        """

    @abstractmethod
    def finish(self, run: Run, token: UUID, outcome: Outcome, event_at: datetime, ledger: Event) -> bool:
        """Write the outcome of a running run with attempt, event and ledger. False when nothing fits.

        `run.events_count` is what it was before this outcome; a run that has got another event is left.
        """
