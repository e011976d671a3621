"""The pages of callbacks: the secret is shown once, the run says where its callback stands."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from core.outbox.models import Delivery
from core.outbox.send import delivery_try
from core.outbox.services import delivery_claim
from core.outbox.signing import secret_key
from execution.models import Run
from security.models import Persona, SigningSecret, User
from security.sealing import unseal
from security.signing import signing_secret_create
from tests.pages.conftest import Eyes
from tests.receiver import Receiver, receiver, status

__all__ = ["receiver"]

pytestmark = pytest.mark.django_db
NEW = "/personas/researcher/signing/"


@pytest.fixture
def run(
    admin: User, persona: Persona, assign: Callable[[str], None], call: Callable[..., Any], receiver: Receiver
) -> Run:
    """A run whose callback is owed."""
    signing_secret_create(by=admin, persona=persona)
    assign("toolhub-data")
    answer = call("echo", body={"arguments": {"text": "a"}, "callback_url": f"{receiver.url}?key=hidden"})
    return Run.objects.get(pk=answer.json()["metadata"]["run_id"])


def test_a_signing_secret_is_asked_for_made_and_shown_once(eyes: Client, persona: Persona) -> None:
    assert "cannot name a callback_url" in eyes.get("/personas/researcher/").content.decode()
    assert "Make a signing secret?" in eyes.get(NEW).content.decode()
    assert not SigningSecret.objects.exists()
    answer = eyes.post(NEW)
    text = unseal(SigningSecret.objects.get().sealed).decode()
    assert text in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert len(secret_key(text)) == 32
    assert text.encode() not in eyes.get("/personas/researcher/").content
    assert text not in SigningSecret.objects.get().sealed
    event = Event.objects.get(kind="signing_secret.created")
    assert text not in event.canonical
    assert "24 hours" in eyes.get(NEW).content.decode()


def test_only_who_may_makes_a_signing_secret(
    persona: Persona, eyes_with: Eyes, nothing_recorded: Any
) -> None:
    assert eyes_with("security.view_persona").post(NEW).status_code in (403, 404)
    assert not SigningSecret.objects.exists()
    nothing_recorded()


def test_a_run_shows_its_callback_and_sends_it_again(eyes: Client, run: Run, receiver: Receiver) -> None:
    receiver.answers = [status(500), status(204)]
    page = f"/runs/{run.pk}/"
    assert "Callback" in eyes.get(page).content.decode()
    first = delivery_claim()
    assert first
    delivery_try(first)
    body = eyes.get(page).content.decode()
    assert "answered 500" in body
    assert "Next try" in body
    assert f"http://127.0.0.1:{receiver.port}" in body
    assert "Send the callback again?" in eyes.get(f"{page}redeliver/").content.decode()
    assert eyes.post(f"{page}redeliver/").status_code == 302
    again = delivery_claim()
    assert again
    delivery_try(again)
    body = eyes.get(page).content.decode()
    assert "delivered" in body
    assert "Delivered the callback on attempt <b>1</b>" in body
    assert Event.objects.filter(kind="callback.redelivered", actor_name="admin").count() == 1


def test_only_who_may_sends_a_callback_again(run: Run, eyes_with: Eyes) -> None:
    Delivery.objects.update(state="failed")
    viewer = eyes_with("execution.view_run")
    assert "Send again" not in viewer.get(f"/runs/{run.pk}/").content.decode()
    assert viewer.post(f"/runs/{run.pk}/redeliver/").status_code in (403, 404)
    assert Delivery.objects.get().state == "failed"


def test_a_callback_that_cannot_be_sent_again_is_told(eyes: Client, run: Run, settings: Any) -> None:
    settings.HTTP_ALLOW = []
    answer = eyes.post(f"/runs/{run.pk}/redeliver/", follow=True)
    assert "Not sent again" in answer.content.decode()
