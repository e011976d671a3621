"""Owes a run's callback, together with its outcome."""

from core.outbox.services import delivery_add
from execution.engine.events import event_add
from execution.features.callbacks.state import RUN_OUTCOME
from execution.models import Run
from execution.run_events import CALLBACK_QUEUED


def callback_owe(run: Run) -> None:
    """Owes the message, in the transaction that writes the outcome; nothing for a run without callback."""
    url = run.request.get("callback_url")
    if url:
        delivery_add(kind=RUN_OUTCOME, subject=run.pk, owner=f"persona:{run.persona_id}", url=url)
        event_add(run.pk, CALLBACK_QUEUED)
