"""Where the callback of a run stands."""

from typing import Any

from core.http.urls import url_read
from core.outbox.models import Delivery, State
from execution.models import Run
from execution.runs.events import iso

RUN_OUTCOME = "run.outcome"


def delivery_of(run: Run) -> Delivery | None:
    """The delivery of a run's outcome; None while there is no outcome, or nobody named an address."""
    return Delivery.objects.filter(subject=run.pk, kind=RUN_OUTCOME).first()


def callback_of(run: Run) -> dict[str, Any] | None:
    """`{state, id, to, attempts, delivered_at, next_at, error}`; None for a run without callback, for free.

    `state` is waiting (no outcome yet), queued, delivered or failed; `to` is the address without path and
    query; `error` says why the last try failed.
    """
    url = run.request.get("callback_url")
    if not url:
        return None
    delivery = delivery_of(run)
    known = delivery or Delivery(state="waiting")
    return {
        "state": known.state,
        "id": str(known.pk) if delivery else None,
        "to": url_read(url).origin,
        "attempts": known.attempts,
        "delivered_at": iso(known.ended_at) if known.state == State.DELIVERED else None,
        "next_at": iso(known.next_at) if known.state == State.QUEUED else None,
        "error": known.error or None,
    }
