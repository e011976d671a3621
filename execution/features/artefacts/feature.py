"""The part of artefacts in a run's life."""

from collections.abc import Sequence
from typing import ClassVar
from uuid import UUID

from execution.engine.features import FILES, Conflicts, Feature, Held, Plan, Traits
from execution.engine.outcomes import Outcome
from execution.features.artefacts.services import artefacts_keep, artefacts_remove
from execution.models import Run


class ArtefactsFeature(Feature):
    """Keeps the files that a tool left for its caller."""

    traits: ClassVar[Traits] = frozenset({FILES})

    def at_outcome(self, run: Run, outcome: Outcome, conflicts: Conflicts) -> Plan | None:
        """The files are kept by the transaction that writes the outcome."""

        def keep(run: Run, held: Held) -> None:
            artefacts_keep(run.pk, outcome.files)

        return Plan(after=[keep])

    def at_expiry(self, run_ids: Sequence[UUID]) -> None:
        """They go with the rest of the payload."""
        artefacts_remove(run_ids)
