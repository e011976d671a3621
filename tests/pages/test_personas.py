"""The pages of personas: every change goes through a service, is audited, and is refused to others."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import Event
from registry.collections.services import collection_create
from registry.models import Assignment, Package, Tool
from security.models import Grant, Persona, Token, User
from security.services import grant_create, persona_create, token_create
from security.tokens import principal_find

HERE = "/personas/researcher/"


def test_a_persona_is_made_and_recorded(eyes: Client) -> None:
    answer = eyes.post("/personas/new/", {"name": "clerk", "title": "The clerk", "description": ""})
    assert answer["Location"] == "/personas/clerk/"
    assert "The clerk" in eyes.get("/personas/clerk/").content.decode()
    assert Event.objects.get(kind="persona.created").actor_name == "admin"


@pytest.mark.parametrize(
    ("name", "says"), [("Big Name", "Use a small letter"), ("", "required"), ("researcher", "exists already")]
)
def test_a_bad_name_is_told_at_the_field(eyes: Client, persona: Persona, name: str, says: str) -> None:
    answer = eyes.post("/personas/new/", {"name": name})
    assert answer.status_code == 422
    assert says in str(answer.context["form"].errors["name"])
    assert 'aria-invalid="true"' in answer.content.decode()
    assert Persona.objects.count() == 1


def test_the_list_counts_what_a_persona_has(
    eyes: Client, admin: User, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("echo")
    grant_create(by=admin, persona=persona, capability="a:b", reason="why")
    token_create(by=admin, persona=persona, name="here")
    (row,) = eyes.get("/personas/").context["page"].rows
    assert (row.assignment_count, row.grant_count, row.token_count) == (1, 1, 1)


def test_the_list_is_narrowed_by_text(eyes: Client, admin: User, persona: Persona) -> None:
    persona_create(by=admin, name="clerk", title="Invoices")
    assert [row.name for row in eyes.get("/personas/?q=invo").context["page"].rows] == ["clerk"]


def test_a_tool_is_assigned_by_name_and_a_package_by_its_prefix(
    eyes: Client, persona: Persona, published: None
) -> None:
    assert eyes.post(f"{HERE}assignments/", {"target": "echo"}).status_code == 302
    assert eyes.post(f"{HERE}assignments/", {"target": "package:toolhub-system"}).status_code == 302
    assert set(persona.assignments.values_list("tool__name", "package__name")) == {
        ("echo", None),
        (None, "toolhub-system"),
    }
    assert Event.objects.filter(kind="assignment.created").count() == 2


@pytest.mark.parametrize(
    ("target", "says"), [("nothing", "There is no tool"), ("echo", "already"), ("", "required")]
)
def test_a_bad_assignment_is_told_at_the_field(
    eyes: Client, persona: Persona, assign: Callable[[str], None], target: str, says: str
) -> None:
    assign("echo")
    answer = eyes.post(f"{HERE}assignments/", {"target": target})
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert Assignment.objects.count() == 1


def test_the_picker_proposes_what_is_not_assigned_yet(
    eyes: Client, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("echo")
    body = eyes.get(f"{HERE}assignable/?target=e").content.decode()
    assert 'value="current_time"' in body
    assert 'value="echo"' not in body


def test_taking_an_assignment_back_is_asked_first(
    eyes: Client, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("echo")
    address = f"{HERE}assignments/{Assignment.objects.get().pk}/remove/"
    assert "Take echo from researcher?" in eyes.get(address).content.decode()
    assert Assignment.objects.exists()
    assert eyes.post(address).status_code == 302
    assert not Assignment.objects.exists()
    assert Event.objects.filter(kind="assignment.deleted").count() == 1


def test_a_capability_is_granted_until_a_time_in_utc(eyes: Client, persona: Persona) -> None:
    until = (timezone.now() + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M")
    form = {"capability": "network:api.example.org", "reason": "prices", "expires_at": until}
    assert eyes.post(f"{HERE}grants/", form).status_code == 302
    grant = Grant.objects.get()
    assert grant.expires_at is not None
    assert grant.expires_at.strftime("%Y-%m-%dT%H:%M") == until


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"capability": "a:*:b", "reason": "x"}, "capability"),
        ({"capability": "a:b", "reason": " "}, "reason"),
        ({"capability": "a:b", "reason": "x", "expires_at": "2020-01-01T00:00"}, "expires_at"),
        ({"capability": "a:b", "reason": "x", "expires_at": "soon"}, "expires_at"),
    ],
)
def test_a_bad_grant_is_told_at_its_field(
    eyes: Client, persona: Persona, form: dict[str, str], field: str, nothing_recorded: Callable[[], None]
) -> None:
    answer = eyes.post(f"{HERE}grants/", form)
    assert answer.status_code == 422
    assert field in answer.context["forms"].grant.errors
    assert f'id="grant_{field}_error"' in answer.content.decode()
    assert not Grant.objects.exists()
    nothing_recorded()


def test_revoking_a_capability_is_asked_first(eyes: Client, admin: User, persona: Persona) -> None:
    grant = grant_create(by=admin, persona=persona, capability="a:b", reason="why")
    address = f"{HERE}grants/{grant.pk}/revoke/"
    assert "Revoke a:b from researcher?" in eyes.get(address).content.decode()
    assert Grant.objects.exists()
    eyes.post(address)
    assert not Grant.objects.exists()


def test_a_token_is_shown_once_and_works(
    eyes: Client, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("echo")
    answer = eyes.post(f"{HERE}tokens/", {"name": "laptop", "days": "30"})
    text = re.search(r"thp_[A-Za-z0-9_-]{43}", answer.content.decode())
    assert text
    assert "no-store" in answer["Cache-Control"]
    assert "/api/v1/tools/echo/execute" in answer.content.decode()
    found = principal_find(text.group())
    assert found
    assert (found[0].persona, found[1]) == ("researcher", "valid")
    assert text.group() not in eyes.get(HERE).content.decode()
    assert text.group() not in Event.objects.get(kind="token.created").canonical


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"name": "x", "days": "0"}, "days"),
        ({"name": "", "days": "5"}, "name"),
        ({"name": "x", "days": "y"}, "days"),
    ],
)
def test_a_bad_token_is_told_at_its_field(
    eyes: Client, persona: Persona, form: dict[str, str], field: str
) -> None:
    answer = eyes.post(f"{HERE}tokens/", form)
    assert answer.status_code == 422
    assert f'id="token_{field}_error"' in answer.content.decode()
    assert not Token.objects.exists()


def test_revoking_a_token_says_who_answers_for_it(eyes: Client, persona: Persona, token_text: str) -> None:
    token = Token.objects.get()
    address = f"{HERE}tokens/{token.pk}/revoke/"
    assert "admin is responsible for it" in eyes.get(address).content.decode()
    eyes.post(address)
    token.refresh_from_db()
    assert token.state == "revoked"


def test_switching_off_says_what_it_touches(eyes: Client, persona: Persona, token_text: str) -> None:
    body = eyes.get(f"{HERE}switch/").content.decode()
    assert "Calls with its 1 valid token are refused" in body
    eyes.post(f"{HERE}switch/", {"on": "no"})
    persona.refresh_from_db()
    assert not persona.is_active


def test_switching_off_twice_leaves_it_off(eyes: Client, persona: Persona) -> None:
    eyes.post(f"{HERE}switch/", {"on": "no"})
    eyes.post(f"{HERE}switch/", {"on": "no"})
    persona.refresh_from_db()
    assert not persona.is_active
    assert Event.objects.filter(kind="persona.switched_off").count() == 1


def test_what_it_may_call_gives_the_reason_for_a_no(
    eyes: Client, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("echo")
    assert "echo is assigned: by name." in eyes.get(HERE).content.decode()
    eyes.post(f"{HERE}switch/", {"on": "no"})
    body = eyes.get(HERE).content.decode()
    assert "The persona researcher is switched off." in body
    assert "Switch the persona on." in body


def test_a_package_assignment_shows_its_tools_with_the_way(
    eyes: Client, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("toolhub-system")
    rows = eyes.get(HERE).context["decisions"]
    assert [(row.tool.name, row.decision.allowed) for row in rows] == [("current_time", True)]
    assert "with the package toolhub-system" in eyes.get(HERE).content.decode()


def test_a_row_of_another_persona_is_not_found_under_this_one(
    eyes: Client, admin: User, persona: Persona
) -> None:
    other = persona_create(by=admin, name="other")
    grant = grant_create(by=admin, persona=other, capability="a:b", reason="why")
    token, _ = token_create(by=admin, persona=other, name="there")
    for address in (f"{HERE}grants/{grant.pk}/revoke/", f"{HERE}tokens/{token.pk}/revoke/"):
        assert eyes.get(address).status_code == 404
        assert eyes.post(address).status_code == 404
    token.refresh_from_db()
    assert Grant.objects.exists()
    assert token.state == "valid"


def _acts(persona: Persona, admin: User) -> dict[str, dict[str, str]]:
    """Every address that changes a persona, with a form that would do it."""
    grant = grant_create(by=admin, persona=persona, capability="x:y", reason="why")
    token, _ = token_create(by=admin, persona=persona, name="there")
    row = Assignment.objects.create(persona=persona, tool=Tool.objects.get(name="hash"), assigned_by=admin)
    return {
        "/personas/new/": {"name": "new"},
        f"{HERE}switch/": {"on": "no"},
        f"{HERE}assignments/": {"target": "echo"},
        f"{HERE}assignments/{row.pk}/remove/": {},
        f"{HERE}grants/": {"capability": "a:b", "reason": "why"},
        f"{HERE}grants/{grant.pk}/revoke/": {},
        f"{HERE}tokens/": {"name": "x", "days": "5"},
        f"{HERE}tokens/{token.pk}/revoke/": {},
    }


def _state() -> tuple[object, ...]:
    """All that those acts could change."""
    tables = (Persona, Grant, Token, Assignment, Package, Event)
    return tuple(list(table.objects.order_by("pk").values()) for table in tables)


def test_who_may_only_look_changes_nothing(
    eyes_with: Callable[..., Client], admin: User, persona: Persona, published: None
) -> None:
    acts = _acts(persona, admin)
    viewer = eyes_with("security.view_persona")
    before = _state()
    for address, form in acts.items():
        assert viewer.post(address, form).status_code == 404, address
    assert _state() == before
    body = viewer.get(HERE).content.decode()
    for words in ("Switch off", "Assign<", "Grant a capability", "Make a token", "/revoke/", "/remove/"):
        assert words not in body


def test_each_act_needs_just_its_own_permission(
    eyes_with: Callable[..., Client], admin: User, persona: Persona, published: None
) -> None:
    acts = _acts(persona, admin)
    needed = (
        "security.add_persona",
        "security.change_persona",
        "registry.add_assignment",
        "registry.delete_assignment",
        "security.add_grant",
        "security.delete_grant",
        "security.add_token",
        "security.delete_token",
    )
    for permission, (address, form) in zip(needed, acts.items(), strict=True):
        before = _state()
        answer = eyes_with(permission).post(address, form)
        assert answer.status_code in {200, 302}, address
        assert _state() != before, address


def test_a_capability_is_granted_under_a_condition_and_the_page_says_which(
    eyes: Client, persona: Persona
) -> None:
    here = reverse("grant_new", args=[persona.name])
    wishes = {"capability": "file:write", "reason": "reports", "condition": "path", "argument": "/path"}
    wrong = eyes.post(here, {**wishes, "values": "data"})
    assert wrong.status_code == 422
    assert "A folder is an absolute path" in wrong.content.decode()
    assert eyes.post(here, {**wishes, "values": "/data\n/tmp"}).status_code == 302
    [grant] = persona.grants.all()
    assert grant.conditions == [{"kind": "path", "argument": "/path", "values": ["/data", "/tmp"]}]
    page = eyes.get(reverse("persona", args=[persona.name])).content.decode()
    assert "/path lies within /data, /tmp" in page
    several = {
        "capability": "net",
        "reason": "reports",
        "condition": "host",
        "argument": "/url",
        "values": "*.example.org",
        "condition_3": "path",
        "argument_3": "/file",
        "values_3": "/data",
        "condition_4": "cel",
        "values_4": "arguments.amount < 10",
    }
    wrong = eyes.post(here, {**several, "values_3": "data"})
    assert list(wrong.context["forms"].grant.errors) == ["values_3"]
    assert list(eyes.post(here, {**several, "values_4": "(("}).context["forms"].grant.errors) == ["values_4"]
    assert not persona.grants.filter(capability="net").exists()
    assert eyes.post(here, several).status_code == 302
    page = eyes.get(reverse("persona", args=[persona.name])).content.decode()
    for words in ("/url is at *.example.org", "/file lies within /data", "arguments.amount &lt; 10"):
        assert f"only where <code>{words}</code>" in page, words
    granted = persona.grants.get(capability="net").conditions
    assert [one["kind"] for one in granted] == ["host", "path", "cel"]
    other = {"capability": "db:read", "reason": "x", "condition": "cel"}
    assert eyes.post(here, {**other, "values": "arguments.limit <"}).status_code == 422
    assert eyes.post(here, {**other, "values": "arguments.limit < 100"}).status_code == 302


def test_a_bare_name_may_be_that_of_a_package_as_the_guide_for_authors_says(
    eyes: Client, persona: Persona, published: None
) -> None:
    assert eyes.post(f"{HERE}assignments/", {"target": "toolhub-system"}).status_code == 302
    assert Assignment.objects.get().package == Package.objects.get(name="toolhub-system")
    page = eyes.get(HERE).content.decode()
    assert "The package toolhub-system is assigned." in page


def test_a_name_of_two_kinds_is_asked_about(
    eyes: Client, persona: Persona, published: None, admin: User
) -> None:
    collection_create(by=admin, name="toolhub-system")
    answer = eyes.post(f"{HERE}assignments/", {"target": "toolhub-system"})
    assert answer.status_code == 422
    assert "write package:toolhub-system or collection:toolhub-system" in answer.content.decode()
    assert not Assignment.objects.exists()
