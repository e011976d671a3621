"""Where the callback of a run stands."""

from dataclasses import dataclass
from typing import Any

from core.http.urls import url_read
from core.outbox.models import Delivery, State
from execution.engine.events import iso
from execution.models import Run

RUN_OUTCOME = "run.outcome"


@dataclass(frozen=True)
class Callback:
    """A run's callback: `to` is its address without path and query; no delivery before the outcome."""

    to: str
    delivery: Delivery | None

    @property
    def state(self) -> str:
        """waiting (no outcome yet), queued, delivered or failed."""
        return self.delivery.state if self.delivery else "waiting"

    def as_dict(self) -> dict[str, Any]:
        """`{state, id, to, attempts, delivered_at, next_at, error}`; `error` says why the last try failed."""
        known = self.delivery
        return {
            "state": self.state,
            "id": str(known.pk) if known else None,
            "to": self.to,
            "attempts": known.attempts if known else 0,
            "delivered_at": iso(known.ended_at) if known and known.state == State.DELIVERED else None,
            "next_at": iso(known.next_at) if known and known.state == State.QUEUED else None,
            "error": (known.error or None) if known else None,
        }


def callback_of(run: Run) -> Callback | None:
    """A run's callback by one query; None, without any, for a run that has none."""
    url = run.request.get("callback_url")
    return Callback(url_read(url).origin, delivery_of(run)) if url else None


def callback_view(run: Run) -> dict[str, Any] | None:
    """A run's callback as its caller reads it."""
    callback = callback_of(run)
    return callback.as_dict() if callback else None


def delivery_of(run: Run) -> Delivery | None:
    """The delivery of a run's outcome; None while there is no outcome, or nobody named an address."""
    return Delivery.objects.filter(subject=run.pk, kind=RUN_OUTCOME).first()
