"""Sending a callback again: for a receiver that was away too long, or lost what it got."""

from django.db import transaction

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, ToolHubError
from core.http.check import url_check
from core.http.errors import HttpFailed, HttpRefused
from core.outbox.services import delivery_again
from execution.engine.events import event_add
from execution.engine.selectors import finished_require, payload_require
from execution.event_kinds import CALLBACK_REDELIVERED
from execution.features.callbacks.accept import callback_refused
from execution.features.callbacks.state import delivery_of
from execution.models import Run
from execution.run_events import CALLBACK_QUEUED


def callback_redeliver(*, by: Actor, run: Run) -> None:
    """Owes a run's callback anew, at once and with all tries, under the same id.

    Raises ToolHubError: 409 without outcome, without callback, or while it is being sent; 410 when the
    payload was removed with age; 422 when the address may no longer be posted to.
    """
    finished_require(run)
    payload_require(run)
    delivery = delivery_of(run)
    if delivery is None:
        raise ToolHubError("The run names no callback_url.", code="CALLBACK_NONE")
    try:
        url_check(delivery.url)
    except (HttpRefused, HttpFailed) as error:
        raise callback_refused(error) from error
    with transaction.atomic():
        if not delivery_again(delivery):
            raise Conflict("The callback is being sent just now.")
        event_add(run.pk, CALLBACK_QUEUED, {"by": by.name})
        record(Entry(CALLBACK_REDELIVERED, by, "tool", run.tool, {"delivery": str(delivery.pk)}, run.pk))
