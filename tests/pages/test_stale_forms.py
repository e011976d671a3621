"""A form that was opened before somebody else's change: it is refused, and shows both values."""

from collections.abc import Callable

import pytest
from django.test import Client

from audit.models import Event
from registry.models import Tool
from registry.releases.overlay import tool_overlay_edit
from security.models import Persona, User
from security.policy.selectors import standing_of
from security.policy.services import isolation_set
from security.policy.tiers import tier_create, tier_set
from tests.forms import VERSION, form_on, forms_read


def test_an_approval_that_somebody_set_meanwhile_stays(eyes: Client, published: None) -> None:
    first, second = form_on(eyes, "/tools/echo/edit/"), form_on(eyes, "/tools/echo/edit/")
    assert first.send(eyes, approval="yes").status_code == 302
    events = Event.objects.count()
    answer = second.send(eyes, notes="only the notes")
    assert answer.status_code == 409
    assert Tool.objects.get(name="echo").asks_approval
    assert Event.objects.count() == events
    body = answer.content.decode()
    assert "Somebody changed the settings of echo in the meantime." in body
    assert "a person approves each call" in body
    assert "only the notes" in body


def test_a_save_after_both_values_were_shown_counts(eyes: Client, published: None) -> None:
    first, second = form_on(eyes, "/tools/echo/edit/"), form_on(eyes, "/tools/echo/edit/")
    first.send(eyes, notes="first")
    shown = second.send(eyes, notes="second")
    (again,) = [
        one for one in forms_read(shown.content.decode(), second.action) if one.action == second.action
    ]
    assert again.fields["notes"] == ["second"]
    assert again.fields[VERSION] != second.fields[VERSION]
    assert again.send(eyes).status_code == 302
    assert Tool.objects.get(name="echo").overlay["notes"] == "second"


def test_a_mistake_does_not_make_a_stale_form_fresh(eyes: Client, published: None) -> None:
    first, second = form_on(eyes, "/tools/echo/edit/"), form_on(eyes, "/tools/echo/edit/")
    first.send(eyes, approval="yes")
    shown = second.send(eyes, tags="x" * 50)
    assert shown.status_code == 409 or shown.status_code == 422
    (again,) = [
        one for one in forms_read(shown.content.decode(), second.action) if one.action == second.action
    ]
    if shown.status_code == 422:
        assert again.send(eyes, tags="").status_code == 409
    assert Tool.objects.get(name="echo").asks_approval


def test_a_change_by_another_way_is_noticed_too(eyes: Client, admin: User, published: None) -> None:
    form = form_on(eyes, "/tools/echo/edit/")
    tool_overlay_edit(by=admin, tool=Tool.objects.get(name="echo"), overlay={"approval": True})
    assert form.send(eyes, notes="a").status_code == 409


def test_a_tier_and_an_isolation_that_somebody_set_meanwhile_stay(
    eyes: Client, admin: User, persona: Persona
) -> None:
    gold = tier_create(by=admin, name="gold")
    page, action = "/personas/researcher/", "/personas/researcher/standing/"
    form = form_on(eyes, page, action)
    tier_set(by=admin, persona=persona, tier=gold)
    isolation_set(by=admin, persona=persona, isolation="strict")
    answer = form.send(eyes)
    assert answer.status_code == 409
    assert "gold" in answer.content.decode()
    standing = standing_of(Persona.objects.get())
    assert (standing.tier, standing.isolation) == ("gold", "strict")


def test_a_question_is_asked_again_when_its_thing_has_changed(
    eyes: Client, admin: User, persona: Persona
) -> None:
    form = form_on(eyes, "/personas/researcher/switch/")
    isolation_set(by=admin, persona=persona, isolation="strict")
    answer = form.send(eyes)
    assert answer.status_code == 409
    assert "Switch researcher off?" in answer.content.decode()
    assert Persona.objects.get().is_active
    (again,) = [one for one in forms_read(answer.content.decode(), form.action) if one.action == form.action]
    assert again.send(eyes).status_code == 302
    assert not Persona.objects.get().is_active


@pytest.mark.parametrize("bad", ["", "x", "*"])
def test_a_version_that_nobody_gave_out_is_stale(eyes: Client, published: None, bad: str) -> None:
    form = form_on(eyes, "/tools/echo/edit/")
    assert form.send(eyes, **{VERSION: bad}, notes="a").status_code == 409


def test_a_version_shows_nothing_of_what_it_stands_for(
    eyes: Client, published: None, assign: Callable[[str], None]
) -> None:
    (version,) = form_on(eyes, "/tools/echo/edit/").fields[VERSION]
    assert len(version) == 32
