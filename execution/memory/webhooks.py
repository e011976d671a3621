"""Webhooks of a persona: added and removed with its token, called for each event that they name."""

from typing import Any

import orjson
from django.db import transaction

from audit.ledger import Entry, record
from core.actors import SYSTEM, Actor
from core.errors import InvalidRequest, NotFound, ToolHubError
from core.http.check import url_check
from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import url_read
from core.outbox.kinds import Message, NotNow, Try, Undeliverable
from core.outbox.models import Delivery
from execution.engine.events import iso
from execution.event_kinds import WEBHOOK_ADDED, WEBHOOK_DELIVERED, WEBHOOK_FAILED, WEBHOOK_REMOVED
from execution.memory.events import SESSION_EVENT
from execution.memory.models import SessionEvent, Webhook, WebhookCall
from security.sealing import Unsealable
from security.signing import has_signing_secret, signing_keys

COUNT_MAX = 20
RESOLVE_S = 2.0


def webhook_add(*, by: Actor, persona_id: int, url: str, events: list[str]) -> Webhook:
    """Adds a webhook. Raises ToolHubError (422) for an address that may not be posted to, or a persona that
    cannot sign, and InvalidRequest when there are 20 already.
    """
    if not has_signing_secret(persona_id):
        message = "The persona has no signing secret: nobody could tell that a message is the hub's."
        raise ToolHubError(message, code="CALLBACK_UNSIGNED", errors=[_at(message)])
    try:
        url_check(url, seconds=RESOLVE_S)
    except (HttpRefused, HttpFailed) as error:
        message = f"The url {error}."
        raise ToolHubError(message, code="CALLBACK_REFUSED", errors=[_at(message)]) from error
    if Webhook.objects.filter(persona_id=persona_id).count() >= COUNT_MAX:
        raise InvalidRequest(f"A persona has at most {COUNT_MAX} webhooks.")
    with transaction.atomic():
        row = Webhook.objects.create(persona_id=persona_id, url=url, events=events)
        data = {"webhook": row.pk, "to": url_read(url).origin, "events": events}
        record(Entry(WEBHOOK_ADDED, by, "persona", str(persona_id), data))
    return row


def _at(message: str) -> dict[str, str]:
    return {"pointer": "/url", "message": message}


def webhook_remove(*, by: Actor, persona_id: int, pk: int) -> None:
    """Removes a webhook; what is owed to it is dropped. Raises NotFound."""
    with transaction.atomic():
        row = Webhook.objects.filter(pk=pk, persona_id=persona_id).first()
        if row is None:
            raise NotFound("There is no such webhook for this caller.")
        calls = list(row.calls.values_list("pk", flat=True))
        Delivery.objects.filter(kind=SESSION_EVENT, subject__in=calls).delete()
        data = {"webhook": row.pk, "to": url_read(row.url).origin}
        row.delete()
        record(Entry(WEBHOOK_REMOVED, by, "persona", str(persona_id), data))


def event_view(event: SessionEvent) -> dict[str, Any]:
    """An event as readers and receivers get it."""
    return {
        "seq": event.seq,
        "event": event.name,
        "payload": event.payload,
        "tool": event.tool,
        "run_id": str(event.run_id),
        "at": iso(event.at),
    }


class SessionEventSent:
    """A session's event as its receiver gets it: `{session_id, seq, event, payload, tool, run_id, at}`."""

    name = SESSION_EVENT

    def message(self, delivery: Delivery) -> Message:
        """The event's bytes, which never change, and the persona's keys."""
        call = WebhookCall.objects.select_related("event__session__persona").filter(pk=delivery.subject)
        found = call.first()
        if found is None:
            raise Undeliverable("the event was removed with age")
        session = found.event.session
        if not session.persona.is_active:
            raise Undeliverable(f"the persona {session.persona.name} is switched off")
        try:
            keys = signing_keys(session.persona_id)
        except Unsealable as error:
            raise NotNow("the hub cannot open the persona's signing secret") from error
        if not keys:
            raise NotNow("the persona has no signing secret")
        return Message(orjson.dumps({"session_id": session.name, **event_view(found.event)}), keys)

    def told(self, delivery: Delivery, news: Try) -> None:
        """One entry in the ledger for the last try."""
        if news.next_at:
            return
        kind = WEBHOOK_DELIVERED if news.delivered else WEBHOOK_FAILED
        data: dict[str, Any] = {"delivery": str(delivery.pk), "to": url_read(delivery.url).origin}
        data |= {"attempt": news.attempt, "status": news.status}
        if news.error:
            data["error"] = news.error
        record(Entry(kind, SYSTEM, "persona", delivery.owner.partition(":")[2], data))
