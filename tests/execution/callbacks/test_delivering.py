"""The outcome reaches the address: whole, signed, at least once, and everybody can see where it stands."""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Event
from core.outbox.models import Delivery
from core.outbox.send import _sent, delivery_try
from core.outbox.services import delivery_claim
from core.outbox.tries import TRIES_MAX, WAITS_S
from execution.engine.expiry import payloads_expire
from execution.models import Run
from security.models import Persona, Token, User
from security.signing import signing_secret_create
from tests.execution.callbacks.conftest import deliver, make_due
from tests.receiver import Got, Receiver, receiving, status

pytestmark = pytest.mark.django_db
Called = Callable[..., dict[str, Any]]


def signature(secret: str, got: Got) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


@pytest.fixture
def read(client: Client, token_text: str) -> Callable[[str], dict[str, Any]]:
    """A run's `metadata.callback` as its caller reads it."""

    def do(run_id: str) -> dict[str, Any]:
        answer = client.get(f"/api/v1/runs/{run_id}", HTTP_AUTHORIZATION=f"Bearer {token_text}")
        return dict(answer.json()["metadata"]["callback"])

    return do


def kinds(run_id: str) -> list[str]:
    run = Run.objects.get(pk=run_id)
    return [e.kind for e in run.events.order_by("seq") if e.kind.startswith("CALLBACK")]


def test_the_outcome_is_posted_once_and_signed(
    called: Called, receiver: Receiver, secret: str, read: Any, client: Client, token_text: str
) -> None:
    made = called()
    assert (made["callback"]["state"], made["callback"]["attempts"]) == ("queued", 0)
    assert made["callback"]["to"] == f"http://127.0.0.1:{receiver.port}"
    assert (deliver(), deliver()) == (1, 0)
    [got] = receiver.got
    assert got.headers["webhook-signature"] == signature(secret, got)
    assert got.headers["webhook-id"] == made["callback"]["id"]
    assert abs(int(got.headers["webhook-timestamp"]) - time.time()) < 600
    assert got.headers["content-type"] == "application/json"
    whole = client.get(f"/api/v1/runs/{made['run_id']}", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    sent = orjson.loads(got.body)
    assert (sent["success"], sent["data"]) == (True, "hello")
    assert whole["metadata"].pop("callback")["state"] == "delivered"
    assert sent == {name: whole[name] for name in sent}
    assert read(made["run_id"])["delivered_at"]
    assert kinds(made["run_id"]) == ["CALLBACK_QUEUED", "CALLBACK_DELIVERED"]
    assert Event.objects.get(kind="callback.delivered").run_id == Run.objects.get().pk


def test_what_fails_is_posted_too(call: Any, fx: Any, secret: str, receiver: Receiver) -> None:
    body = {"arguments": {}, "callback_url": receiver.url}
    assert call("fx_boom", body=body).json()["success"] is False
    deliver()
    assert orjson.loads(receiver.got[0].body)["error"]["code"] == "EXECUTION_FAILED"


FAULTS = {
    "500": (status(500), "answered 500"),
    "redirect": (status(307, Location="http://169.254.169.254/"), "redirects are not followed"),
    "broken": (lambda handler: None, "its answer is not HTTP as it should be"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_receiver_that_fails_gets_it_again_later_under_the_same_id(
    called: Called, receiver: Receiver, read: Any, fault: str
) -> None:
    answer, words = FAULTS[fault]
    receiver.answers = [answer, status(204)]
    run_id = called()["run_id"]
    assert (deliver(), deliver()) == (1, 0)
    state = read(run_id)
    assert (state["state"], state["attempts"]) == ("queued", 1)
    assert words in state["error"]
    assert state["next_at"]
    make_due()
    deliver()
    state = read(run_id)
    assert (state["state"], state["attempts"], state["error"]) == ("delivered", 2, None)
    first, second = receiver.got
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
    assert kinds(run_id) == ["CALLBACK_QUEUED", "CALLBACK_TRIED", "CALLBACK_DELIVERED"]


def test_a_receiver_that_is_down_gets_it_when_it_is_up(called: Called, closed_port: int, read: Any) -> None:
    run_id = called(f"http://127.0.0.1:{closed_port}/hook")["run_id"]
    deliver()
    assert read(run_id)["error"] == "no connection"
    up = receiving(closed_port)
    later = next(up)
    make_due()
    deliver()
    up.close()
    assert [got.path for got in later.got] == ["/hook"]
    assert read(run_id)["state"] == "delivered"


def test_a_slow_receiver_ends_with_the_time(
    called: Called, receiver: Receiver, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.outbox.send.SEND_S", 0.2)
    receiver.answers = [lambda handler: receiver.over.wait(60) and None]
    run_id = called()["run_id"]
    deliver()
    assert read(run_id)["error"] == "no answer within 0.2 s"


def test_a_huge_answer_is_not_read(called: Called, receiver: Receiver, read: Any) -> None:
    def huge(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not receiver.over.is_set():
                handler.wfile.write(b"x" * 65536)
        except OSError:
            pass

    receiver.answers = [huge]
    run_id = called()["run_id"]
    deliver()
    assert read(run_id)["state"] == "delivered"


def test_it_ends_after_the_last_try_and_can_be_sent_again(
    called: Called, receiver: Receiver, read: Any, post: Any
) -> None:
    receiver.answers = [status(503)]
    run_id = called()["run_id"]
    tries = 0
    while deliver():
        tries += 1
        make_due()
    assert tries == TRIES_MAX == len(WAITS_S) + 1 == len(receiver.got)
    state = read(run_id)
    assert (state["state"], state["error"], state["next_at"]) == ("failed", "answered 503", None)
    assert Event.objects.filter(kind="callback.failed").count() == 1
    receiver.answers = [status(200)]
    answer = post(run_id, "redeliver")
    assert (answer.status_code, answer.json()["callback"]["state"]) == (202, "queued")
    deliver()
    assert read(run_id)["state"] == "delivered"
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 1
    assert Event.objects.filter(kind="callback.redelivered").count() == 1


def test_gone_is_gone(called: Called, receiver: Receiver, read: Any) -> None:
    receiver.answers = [status(410)]
    run_id = called()["run_id"]
    deliver()
    assert (read(run_id)["state"], read(run_id)["attempts"]) == ("failed", 1)


def test_a_sender_that_is_lost_between_send_and_record_makes_it_come_twice_and_not_never(
    called: Called, receiver: Receiver, read: Any
) -> None:
    """A process that is killed there is in tests/faults."""
    run_id = called()["run_id"]
    claimed = delivery_claim()
    assert claimed
    assert _sent(claimed).delivered
    assert len(receiver.got) == 1
    assert (read(run_id)["state"], deliver()) == ("queued", 0)
    make_due()
    deliver()
    assert len(receiver.got) == 2
    assert len({(got.body, got.headers["webhook-id"]) for got in receiver.got}) == 1
    assert read(run_id)["state"] == "delivered"


def test_a_late_sender_changes_nothing(called: Called, receiver: Receiver, read: Any) -> None:
    run_id = called()["run_id"]
    slow = delivery_claim()
    assert slow
    make_due()
    deliver()
    receiver.answers = [status(500)]
    delivery_try(slow)
    assert (read(run_id)["state"], read(run_id)["attempts"]) == ("delivered", 2)
    assert kinds(run_id) == ["CALLBACK_QUEUED", "CALLBACK_DELIVERED"]


def test_the_address_is_checked_again_when_it_is_sent(
    called: Called, receiver: Receiver, read: Any, post: Any, settings: Any
) -> None:
    run_id = called()["run_id"]
    settings.HTTP_ALLOW = []
    deliver()
    state = read(run_id)
    assert (state["state"], receiver.got) == ("failed", [])
    assert "loopback" in state["error"]
    assert post(run_id, "redeliver").json()["error"]["code"] == "CALLBACK_REFUSED"


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (lambda: Persona.objects.update(is_active=False), "researcher is switched off"),
        (lambda: Token.objects.update(revoked_at=timezone.now()), "was revoked"),
        (lambda: User.objects.update(is_active=False), "has left"),
    ],
)
def test_whose_right_has_ended_gets_nothing(
    called: Called, receiver: Receiver, end: Callable[[], object], why: str
) -> None:
    """The address was named by whoever had the token."""
    called()
    end()
    deliver()
    row = Delivery.objects.get()
    assert (receiver.got, row.state) == ([], "failed")
    assert why in row.error


def test_a_new_secret_and_the_old_one_sign_side_by_side(
    called: Called, receiver: Receiver, secret: str, admin: User, persona: Persona
) -> None:
    new = signing_secret_create(by=admin, persona=persona)
    called()
    deliver()
    [got] = receiver.got
    assert got.headers["webhook-signature"].split() == [signature(new, got), signature(secret, got)]


def test_a_secret_that_cannot_be_opened_is_waited_for(
    called: Called, receiver: Receiver, read: Any, settings: Any
) -> None:
    run_id = called()["run_id"]
    kept = settings.VAULT_KEYS
    settings.VAULT_KEYS = ["A" * 43 + "="]
    deliver()
    assert (read(run_id)["state"], receiver.got) == ("queued", [])
    assert "cannot open" in read(run_id)["error"]
    settings.VAULT_KEYS = ["A" * 43 + "=", *kept]
    make_due()
    deliver()
    assert read(run_id)["state"] == "delivered"


def test_one_owner_cannot_take_all_senders(called: Called, receiver: Receiver) -> None:
    for _ in range(3):
        called()
    assert delivery_claim()
    assert delivery_claim()
    assert delivery_claim() is None
    Delivery.objects.filter(claim=None).update(owner="another")
    assert delivery_claim()


def test_redelivery_needs_an_outcome_a_callback_and_a_payload(
    call: Any, called: Called, receiver: Receiver, post: Any
) -> None:
    plain = call("fx_echo", {"value": 1}).json()["metadata"]["run_id"]
    assert post(plain, "redeliver").json()["error"]["code"] == "CALLBACK_NONE"
    waiting = called(HTTP_PREFER="respond-async")
    assert waiting["callback"]["state"] == "waiting"
    assert post(waiting["run_id"], "redeliver").json()["error"]["code"] == "RUN_UNFINISHED"
    done = called()["run_id"]
    assert delivery_claim()
    assert post(done, "redeliver").status_code == 409
    payloads_expire(Run.objects.get(pk=done).created_at.replace(year=2199))
    assert post(done, "redeliver").json()["error"]["code"] == "PAYLOAD_EXPIRED"
    assert not Delivery.objects.exists()
    assert post(done, "redeliver", token="x").status_code == 401
