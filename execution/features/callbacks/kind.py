"""How a run's outcome is made into a message, and who hears of each try: the run's events and the ledger."""

from typing import Any

import orjson

from audit.ledger import Entry, record
from core.actors import SYSTEM
from core.http.urls import url_read
from core.outbox.kinds import Message, NotNow, Try, Undeliverable
from core.outbox.models import Delivery
from execution import event_kinds
from execution.engine.events import event_add, iso
from execution.engine.results import envelope
from execution.features.callbacks.state import RUN_OUTCOME
from execution.models import Run
from execution.run_events import CALLBACK_DELIVERED, CALLBACK_FAILED, CALLBACK_TRIED
from security.sealing import Unsealable
from security.signing import signing_keys
from security.tokens import principal_of


class RunOutcome:
    """The result of a run as `GET runs/{id}` has it, but for the state of the callback itself."""

    name = RUN_OUTCOME

    def message(self, delivery: Delivery) -> Message:
        """The result's bytes, which never change, and the persona's keys."""
        run = Run.objects.select_related("tool_version", "persona").get(pk=delivery.subject)
        if run.payload_expired_at:
            raise Undeliverable("the run's result was removed with age")
        if why := _ended(run):
            raise Undeliverable(why)
        try:
            keys = signing_keys(run.persona_id)
        except Unsealable as error:
            raise NotNow("the hub cannot open the persona's signing secret") from error
        if not keys:
            raise NotNow("the persona has no signing secret")
        told = envelope(run)
        # Where the callback itself stands would change from try to try.
        del told["metadata"]["callback"]
        return Message(orjson.dumps(told), keys)

    def told(self, delivery: Delivery, news: Try) -> None:
        """An event of the run for each try; one in the ledger for the last."""
        run = Run.objects.only("tool").get(pk=delivery.subject)
        data: dict[str, Any] = {"attempt": news.attempt, "status": news.status}
        if news.error:
            data["error"] = news.error
        if news.next_at:
            event_add(run.pk, CALLBACK_TRIED, {**data, "next_at": iso(news.next_at)})
            return
        event_add(run.pk, CALLBACK_DELIVERED if news.delivered else CALLBACK_FAILED, data)
        kind = event_kinds.CALLBACK_DELIVERED if news.delivered else event_kinds.CALLBACK_FAILED
        said = {"delivery": str(delivery.pk), "to": url_read(delivery.url).origin, **data}
        record(Entry(kind, SYSTEM, "tool", run.tool, said, run.pk))


def _ended(run: Run) -> str:
    """Why its address hears no more of the run: whoever had the token named it. Empty where it does."""
    if not run.persona.is_active:
        return f"the persona {run.persona.name} is switched off"
    if run.token_id is None:
        return ""
    principal, state = principal_of(run.token_id)
    if state == "revoked":
        return "the token of its call was revoked"
    return "" if principal.responsible_active else "the person responsible for its call has left"
