"""Pages of sessions: what each remembers, and how a person ends it; a run's page links what follows from it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from audit.models import Event
from execution.engine.places import Place
from execution.memory.events import session_event_add
from execution.memory.models import Item, Session, Webhook
from execution.memory.services import memory_put
from execution.models import Run
from security.models import Persona, User
from security.permissions import actor_of

pytestmark = pytest.mark.django_db
Assign = Callable[[str], None]


@pytest.fixture
def session(admin: User, persona: Persona, assign: Assign, call: Callable[..., Any]) -> Session:
    """A session with memory in each scope, an event and a run."""
    assign("echo")
    call("echo", body={"arguments": {"text": "a"}, "context": {"session_id": "s"}})
    place = Place(persona.pk, "s", "loop")
    for scope in ("working", "short-term", "long-term"):
        memory_put(by=actor_of(admin), place=place, scope=scope, key="k", value=f"<b>{scope}</b>")
    with transaction.atomic():
        session_event_add(place, "file:changed", {"p": 1}, run_id=Run.objects.get().pk, tool="echo")
    return Session.objects.get()


def test_a_session_shows_memory_events_and_runs(eyes: Client, session: Session) -> None:
    Webhook.objects.create(persona=session.persona, url="https://a.org/secret-path", events=["file:*"])
    page = eyes.get(f"/sessions/{session.pk}/").content.decode()
    assert "https://a.org" in page
    assert "secret-path" not in page
    for scope in ("working", "short-term", "long-term"):
        assert f"&lt;b&gt;{scope}&lt;/b&gt;" in page
    assert "file:changed" in page
    assert str(Run.objects.get().pk) in page
    listed = eyes.get("/sessions/?q=rese").content.decode()
    assert f"/sessions/{session.pk}/" in listed
    assert f"/sessions/{session.pk}/" not in eyes.get("/sessions/?q=nothing").content.decode()
    assert f"/sessions/{session.pk}/" in eyes.get(f"/runs/{Run.objects.get().pk}/").content.decode()


def test_a_person_ends_a_session(eyes: Client, admin: User, session: Session) -> None:
    assert "long-term" in eyes.get(f"/sessions/{session.pk}/end/").content.decode().lower()
    assert eyes.post(f"/sessions/{session.pk}/end/").status_code == 302
    assert [item.space.scope for item in Item.objects.all()] == ["long-term"]
    assert Event.objects.get(kind="session.ended").actor_name == admin.username


def test_who_may_only_look_ends_nothing(eyes_with: Callable[..., Client], session: Session) -> None:
    viewer = eyes_with("memory.view_session")
    page = viewer.get(f"/sessions/{session.pk}/").content.decode()
    assert "End the session" not in page
    assert "Latest runs" not in page
    assert viewer.post(f"/sessions/{session.pk}/end/").status_code == 404
    assert Item.objects.count() == 3
    assert eyes_with("execution.view_run").get(f"/sessions/{session.pk}/").status_code == 404


def test_a_run_shows_what_follows_from_it_and_what_was_checked(eyes: Client, session: Session) -> None:
    run = Run.objects.get()
    answer = {
        "passed": False,
        "critical_failed": False,
        "can_proceed": True,
        "degraded_mode": True,
        "results": [
            {
                "type": "resource",
                "description": "The <i>printer</i> works.",
                "critical": False,
                "passed": False,
                "reason": "It is down.",
                "error": None,
            }
        ],
    }
    Run.objects.update(preconditions=answer)
    copy = Run.objects.get()
    copy.pk, copy.parent_id, copy.root, copy.depth = None, run.pk, run.pk, 1
    copy.id = Run._meta.pk.get_default()  # type: ignore[union-attr]
    copy.save(force_insert=True)
    page = eyes.get(f"/runs/{run.pk}/").content.decode()
    assert "The &lt;i&gt;printer&lt;/i&gt; works." in page
    assert "It is down." in page
    assert f"/runs/{copy.pk}/" in page
    assert f"/runs/{run.pk}/" in eyes.get(f"/runs/{copy.pk}/").content.decode()
