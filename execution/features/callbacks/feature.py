"""The part of callbacks in a run's life."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

from core.outbox.models import Delivery
from core.outbox.services import delivery_add
from execution.engine.events import event_add
from execution.engine.features import CALLBACK, Conflicts, Feature, Held, Plan, Traits
from execution.engine.outcomes import Outcome
from execution.engine.requests import CallRequest
from execution.features.callbacks.accept import callback_check
from execution.features.callbacks.state import RUN_OUTCOME, callback_view
from execution.models import Run
from execution.run_events import CALLBACK_QUEUED
from registry.selectors import ResolvedTool
from security.principals import PersonaPrincipal


class CallbacksFeature(Feature):
    """Owes the outcome to the address that the caller named."""

    traits: ClassVar[Traits] = frozenset({CALLBACK})
    members: ClassVar[tuple[str, ...]] = ("callback",)

    def before_accept(self, principal: PersonaPrincipal, found: ResolvedTool, request: CallRequest) -> None:
        """The address may be posted to, and the persona can sign. Raises ToolHubError (422)."""
        callback_check(principal.persona_id, request.callback_url)

    def at_outcome(self, run: Run, outcome: Outcome, conflicts: Conflicts) -> Plan | None:
        """The message is owed by the transaction that writes the outcome."""
        return Plan(after=[_owe])

    def at_expiry(self, run_ids: Sequence[UUID]) -> None:
        """A callback that is still owed is dropped."""
        Delivery.objects.filter(kind=RUN_OUTCOME, subject__in=run_ids).delete()

    def shown(self, run: Run) -> Mapping[str, Any]:
        """Where the callback stands."""
        return {"callback": callback_view(run)}


def _owe(run: Run, held: Held) -> None:
    url = run.request[CALLBACK]
    delivery_add(kind=RUN_OUTCOME, subject=run.pk, owner=f"persona:{run.persona_id}", url=url)
    event_add(run.pk, CALLBACK_QUEUED)
