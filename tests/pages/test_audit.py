"""The pages of the ledger."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from audit.ledger import Entry, record
from audit.models import Event
from audit.views import EventDetail
from core.actors import Actor
from core.pages import ConsoleView
from security.event_kinds import PERSON_SIGNED_IN
from security.models import Persona, User
from security.services import grant_create, persona_create


@pytest.fixture
def made(admin: User, persona: Persona) -> Event:
    """The event of a persona that was made."""
    return Event.objects.get(kind="persona.created")


def shown(eyes: Client, query: str) -> list[str]:
    """Kind and subject of the events that the list shows."""
    return [f"{event.kind} {event.subject_id}" for event in eyes.get(f"/audit/{query}").context["page"].rows]


def test_the_list_is_narrowed_by_kind_actor_subject_and_text(
    eyes: Client, admin: User, persona: Persona
) -> None:
    grant_create(by=admin, persona=persona, capability="a:b", reason="why")
    other = persona_create(by=admin, name="other")
    assert shown(eyes, "") == [
        f"persona.created {other.pk}",
        f"grant.created {persona.pk}",
        f"persona.created {persona.pk}",
    ]
    assert shown(eyes, "?kind=grant.created") == [f"grant.created {persona.pk}"]
    assert len(shown(eyes, f"?actor_kind=person&actor_id={admin.pk}")) == 3
    assert shown(eyes, "?actor_kind=persona") == []
    assert shown(eyes, f"?subject_kind=persona&subject_id={other.pk}") == [f"persona.created {other.pk}"]
    assert len(shown(eyes, "?q=ADMI")) == 3
    assert shown(eyes, "?q=nobody") == []


def test_a_refused_call_is_in_the_list(eyes: Client, call: Callable[..., Any], published: None) -> None:
    call("echo", {"text": "not assigned"})
    assert "run.refused echo" in shown(eyes, "?kind=run.refused")


def test_an_event_shows_its_text_and_that_the_leaf_fits(eyes: Client, made: Event) -> None:
    body = eyes.get(f"/audit/{made.pk}/").content.decode()
    # RFC 6962 §2.1, computed here without the hub's code.
    expected = hashlib.sha256(b"\x00" + made.canonical.encode()).hexdigest()
    assert body.count(expected) >= 2
    assert "fits the one on record" in body
    assert "researcher" in body


def test_a_text_that_was_changed_past_the_hub_is_told(
    eyes: Client, made: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit.views.leaf_hash", lambda text: hashlib.sha256(b"other" + text).digest())
    assert "does not fit its leaf" in eyes.get(f"/audit/{made.pk}/").content.decode()


def test_an_event_of_a_run_links_to_it(
    eyes: Client, assign: Callable[[str], None], call: Callable[..., Any]
) -> None:
    assign("echo")
    call("echo", {"text": "one"})
    event = Event.objects.get(kind="run.outcome")
    assert f'href="/runs/{event.run_id}/"' in eyes.get(f"/audit/{event.pk}/").content.decode()


def test_the_ledger_cannot_be_written_through_its_pages() -> None:
    assert issubclass(EventDetail, ConsoleView)
    assert not hasattr(EventDetail, "post")


def test_what_has_a_number_in_the_ledger_is_called_by_its_name(eyes: Client, persona: Persona) -> None:
    page = eyes.get("/audit/?subject_kind=persona").content.decode()
    assert f">persona {persona.name}</a>" in page
    event = Event.objects.filter(subject_kind="persona").latest("pk")
    assert f">persona {persona.name}</a>" in eyes.get(f"/audit/{event.pk}/").content.decode()


@pytest.mark.parametrize("hours", [1, 2, 7, 13, 24])
def test_the_list_is_narrowed_by_time(eyes: Client, db: None, hours: int) -> None:
    """Also where numbers are missing, as after transactions that were taken back."""
    now = timezone.now()
    Event.objects.bulk_create(
        Event(
            pk=1_000_000 - 5_003 * ago, at=now - timedelta(hours=ago - 0.5), kind="run.outcome", actor_kind="system",
            actor_name="hub", subject_kind="tool", subject_id=f"t{ago}", canonical="{}", leaf=b"",
        )
        for ago in range(20, 0, -1)
    )  # fmt: skip
    assert shown(eyes, f"?since={hours}") == [f"run.outcome t{ago}" for ago in range(1, min(hours, 20) + 1)]
    assert len(shown(eyes, "?since=soon")) == 20


@pytest.mark.django_db
def test_no_time_fits_an_empty_ledger(eyes: Client) -> None:
    assert shown(eyes, "?since=1") == []


def test_a_person_is_called_by_name_and_a_phone_tells_what_an_event_is_about(
    eyes: Client, admin: User
) -> None:
    said = {"person": "admin", "how": ["password"]}
    with transaction.atomic():
        record(
            Entry(PERSON_SIGNED_IN, Actor("person", str(admin.pk), "admin"), "person", str(admin.pk), said)
        )
    page = eyes.get("/audit/?kind=person.signed_in").content.decode()
    assert ">person admin</a>" in page
    assert '<span class="on-phone">person admin,' in page
