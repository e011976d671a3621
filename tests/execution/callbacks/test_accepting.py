"""A callback_url is checked before the call is accepted; what is refused makes no run."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import Event
from core.outbox.models import Delivery
from execution.models import Run
from tests.receiver import Receiver

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]


def tried(call: Call, url: Any) -> Any:
    return call("fx_echo", body={"arguments": {"value": 1}, "callback_url": url})


REFUSED = {
    "http://127.0.0.1:9/": "callback_url leads to 127.0.0.1, which is loopback.",
    "https://169.254.169.254/latest": "leads to 169.254.169.254, which is link-local",
    "https://[::ffff:10.0.0.1]/": "an IPv4 address in IPv6 form",
    "https://user:secret@example.org/": "callback_url holds a user name or password.",
    "http://1.1.1.1/": "is http: only https is allowed",
    "https://1.1.1.1:25/": "names port 25",
    "ftp://example.org/": "is no http or https address",
    "https://nobody.invalid/": "the name nobody.invalid does not resolve",
    "": "is no http or https address",
}


@pytest.mark.parametrize("url", REFUSED)
def test_an_address_that_may_not_be_posted_to_is_refused_with_its_reason(
    call: Call, fx: Any, secret: str, url: str
) -> None:
    answer = tried(call, url)
    body = answer.json()
    assert (answer.status_code, body["error"]["code"]) == (422, "CALLBACK_REFUSED")
    assert REFUSED[url] in body["detail"]
    assert "secret" not in answer.content.decode()
    assert body["errors"][0]["pointer"] == "/callback_url"
    assert not Run.objects.exists()
    assert Event.objects.filter(kind="run.refused").count() == 1


@pytest.mark.parametrize("url", [1, ["https://example.org/"]])
def test_an_address_is_a_string(call: Call, fx: Any, url: Any) -> None:
    answer = tried(call, url)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/callback_url")


def test_a_persona_that_cannot_sign_is_told_who_can_help(call: Call, fx: Any, receiver: Receiver) -> None:
    answer = tried(call, receiver.url)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "CALLBACK_UNSIGNED")
    assert "admin" in error["suggestions"][0]


def test_a_key_that_was_used_with_another_callback_is_a_conflict(
    called: Call, call: Call, receiver: Receiver
) -> None:
    first = called(HTTP_IDEMPOTENCY_KEY="once")
    assert called(HTTP_IDEMPOTENCY_KEY="once")["run_id"] == first["run_id"]
    assert Delivery.objects.count() == 1
    body = {"arguments": {"value": "hello"}}
    assert call("fx_echo", body=body, HTTP_IDEMPOTENCY_KEY="once").status_code == 409


def test_a_run_without_callback_pays_nothing_for_it(call: Call, fx: Any) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = call("fx_echo", {"value": 1})
    assert answer.json()["metadata"]["callback"] is None
    assert not [q for q in queries if "outbox" in q["sql"] or "signingsecret" in q["sql"]]
