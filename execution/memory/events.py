"""Events of sessions: written with the outcome that they follow from, read in order, sent to webhooks."""

from typing import Any
from uuid import UUID

from django.db.models import F

from core.outbox.services import delivery_add
from execution.engine.places import Place
from execution.memory.models import Session, SessionEvent, Webhook, WebhookCall
from execution.memory.store import session_touch
from toolhub_sdk.memory import is_named

SESSION_EVENT = "session.event"


def session_event_add(place: Place, name: str, payload: Any, *, run_id: UUID, tool: str) -> SessionEvent:
    """Appends an event to the session and owes it to the persona's webhooks, in the caller's transaction."""
    session = session_touch(place)
    # The session's row is locked: nobody else counts meanwhile.
    Session.objects.filter(pk=session.pk).update(events_count=F("events_count") + 1)
    seq = session.events_count + 1
    event = SessionEvent.objects.create(
        session=session, seq=seq, name=name, payload=payload, run_id=run_id, tool=tool
    )
    for webhook in Webhook.objects.filter(persona_id=place.persona_id):
        if is_named(name, webhook.events):
            call = WebhookCall.objects.create(event=event, webhook=webhook)
            owner = f"persona:{place.persona_id}"
            delivery_add(kind=SESSION_EVENT, subject=call.pk, owner=owner, url=webhook.url)
    return event


def events_after(session: Session, after: int, count: int) -> list[SessionEvent]:
    """The session's events after a number, in order."""
    return list(session.events.filter(seq__gt=after)[:count])
