"""Events of a session: read in order, private to the persona, posted to webhooks, signed, and again until taken."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db.models.functions import Now
from django.test import Client

from audit.models import Event
from core.outbox.models import Delivery
from core.outbox.signing import secret_key
from execution.memory.models import Session, SessionEvent, Webhook
from execution.memory.services import memory_expire
from security.models import Persona, User
from security.services import persona_create, token_create
from security.signing import signing_secret_create
from tests.execution.callbacks.conftest import deliver, make_due
from tests.execution.effects.conftest import Perform, memory, notice
from tests.receiver import Got, Receiver, status

pytestmark = pytest.mark.django_db
Ask = Callable[..., Any]


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    def do(method: str, path: str, body: Any = None, *, token: str = token_text) -> Any:
        sent = b"" if body is None else orjson.dumps(body)
        headers = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
        return client.generic(method, f"/api/v1/{path}", sent, "application/json", **headers)

    return do


@pytest.fixture
def secret(admin: User, persona: Persona) -> str:
    return signing_secret_create(by=admin, persona=persona)


def signature(secret: str, got: Got) -> str:
    """Worked out here as Standard Webhooks says, not by the code under test."""
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    return "v1," + base64.b64encode(hmac.new(secret_key(secret), signed, hashlib.sha256).digest()).decode()


def test_events_are_read_in_order_and_page_by_page(perform: Perform, ask: Ask) -> None:
    run = perform(*[notice(f"e{n}", payload=n) for n in range(45)], context={"session_id": "s"})
    for _ in range(2):
        perform(context={"session_id": "s"})
    page = ask("GET", "sessions/s/events").json()
    assert [one["seq"] for one in page["events"]] == list(range(1, 101))
    first = page["events"][0]
    assert (first["event"], first["payload"], first["tool"]) == ("e0", 0, "fx_echo")
    assert (first["run_id"], set(first)) == (
        run["metadata"]["run_id"],
        {"seq", "event", "payload", "tool", "run_id", "at"},
    )
    rest = ask("GET", f"sessions/s/events?after={page['next']}").json()
    assert ([one["seq"] for one in rest["events"]], rest["next"]) == (list(range(101, 136)), None)


def test_events_are_the_personas_own(perform: Perform, ask: Ask, admin: User) -> None:
    perform(notice("e"), context={"session_id": "s"})
    other = token_create(by=admin, persona=persona_create(by=admin, name="other"), name="t")[1]
    assert ask("GET", "sessions/s/events", token=other).status_code == 404
    assert ask("GET", "sessions/t/events").status_code == 404


def test_an_event_is_posted_signed_and_again_until_it_is_taken(
    perform: Perform, ask: Ask, secret: str, receiver: Receiver
) -> None:
    added = ask("POST", "webhooks", {"url": receiver.url, "events": ["file:*"]})
    assert (added.status_code, added.json()["events"]) == (201, ["file:*"])
    receiver.answers = [status(503), status(204)]
    perform(notice("file:changed", payload={"a": 1}), notice("other"), context={"session_id": "s"})
    assert deliver() == 1
    make_due()
    assert deliver() == 1
    assert deliver() == 0
    first, second = receiver.got
    body = json.loads(first.body)
    assert (body["session_id"], body["event"], body["payload"], body["seq"]) == (
        "s",
        "file:changed",
        {"a": 1},
        1,
    )
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
    for got in receiver.got:
        assert got.headers["webhook-signature"] == signature(secret, got)
    assert Event.objects.filter(kind="webhook.delivered").count() == 1


def test_an_effect_that_fails_posts_nothing_that_it_took_back(
    perform: Perform, ask: Ask, secret: str, receiver: Receiver
) -> None:
    ask("POST", "webhooks", {"url": receiver.url, "events": ["*"]})
    perform(memory("x", expression="result.missing"), notice("never"))
    assert (Delivery.objects.count(), SessionEvent.objects.count()) == (0, 0)


def test_each_webhook_that_names_the_event_gets_it(
    perform: Perform, ask: Ask, secret: str, receiver: Receiver
) -> None:
    for events in (["a"], ["a", "b"], ["*"], ["c*"]):
        ask("POST", "webhooks", {"url": receiver.url, "events": events})
    perform(notice("a"))
    assert Delivery.objects.count() == 3
    listed = ask("GET", "webhooks").json()["webhooks"]
    assert [one["events"] for one in listed] == [["a"], ["a", "b"], ["*"], ["c*"]]
    assert ask("DELETE", f"webhooks/{listed[0]['id']}").status_code == 204
    assert Delivery.objects.count() == 2
    assert ask("DELETE", f"webhooks/{listed[0]['id']}").status_code == 404
    assert deliver() == 2


def test_a_webhook_of_another_persona_is_not_there(
    ask: Ask, secret: str, receiver: Receiver, admin: User
) -> None:
    ask("POST", "webhooks", {"url": receiver.url, "events": ["*"]})
    other = token_create(by=admin, persona=persona_create(by=admin, name="other"), name="t")[1]
    assert ask("GET", "webhooks", token=other).json() == {"webhooks": []}
    assert ask("DELETE", f"webhooks/{Webhook.objects.get().pk}", token=other).status_code == 404
    assert Webhook.objects.count() == 1


def test_who_cannot_sign_has_no_webhooks(ask: Ask, receiver: Receiver) -> None:
    answer = ask("POST", "webhooks", {"url": receiver.url, "events": ["*"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "CALLBACK_UNSIGNED")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"url": "http://10.0.0.1/", "events": ["*"]}, "CALLBACK_REFUSED"),
        ({"url": "ftp://a.org/", "events": ["*"]}, "CALLBACK_REFUSED"),
        ({"url": "https://a.org/", "events": []}, "INVALID_REQUEST"),
        ({"events": ["*"]}, "INVALID_REQUEST"),
        ({"url": "https://a.org/", "events": ["*"], "more": 1}, "UNKNOWN_MEMBER"),
    ],
)
def test_what_does_not_fit_is_refused(ask: Ask, secret: str, body: Any, code: str) -> None:
    answer = ask("POST", "webhooks", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert Webhook.objects.count() == 0


def test_old_events_go(perform: Perform) -> None:
    perform(notice("old"))
    SessionEvent.objects.update(at=Now() - timedelta(days=91))
    perform()
    assert memory_expire() == 1
    assert SessionEvent.objects.get().seq == 2
    assert Session.objects.get().events_count == 2
