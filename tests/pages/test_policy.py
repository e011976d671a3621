"""The pages of restrictions, pauses and standing."""

from collections.abc import Callable

import pytest
from django.test import Client

from audit.models import Event
from security.models import Persona, User
from security.policy.limits import limit_create
from security.policy.models import Restriction, Standing
from security.policy.services import pause_begin, restriction_create
from security.policy.tiers import flag_create, flag_require

Assign = Callable[[str], None]


def test_a_restriction_is_made_and_shown_where_it_holds(eyes: Client, assign: Assign) -> None:
    assign("echo")
    form = {"capability": "", "persona": "researcher", "tool": "echo", "reason": "a leak", "expires_at": ""}
    assert eyes.post("/policy/new/", form)["Location"] == "/policy/"
    for page in ("/policy/", "/personas/researcher/", "/tools/echo/callers/"):
        assert "a leak" in eyes.get(page).content.decode()
    assert Event.objects.get(kind="restriction.created").actor_name == "admin"


@pytest.mark.parametrize(
    ("path", "form", "field"),
    [
        ("new", {"reason": "r"}, "capability"),
        ("new", {"reason": "", "tool": "echo"}, "reason"),
        ("new", {"reason": "r", "tool": "no_such"}, "tool"),
        ("new", {"reason": "r", "persona": "nobody"}, "persona"),
        ("pause", {"reason": "r", "persona": "researcher", "tool": "echo"}, "tool"),
        ("pause", {"reason": "r", "expires_at": "2020-01-01T00:00"}, "expires_at"),
    ],
)
def test_a_rule_that_does_not_fit_is_told_at_its_field(
    eyes: Client, published: None, persona: Persona, path: str, form: dict[str, str], field: str
) -> None:
    answer = eyes.post(f"/policy/{path}/", form)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not Restriction.objects.exists()


def test_a_pause_is_told_on_its_page_and_ended_after_a_question(
    eyes: Client, admin: User, persona: Persona, published: None
) -> None:
    assert eyes.post("/policy/pause/", {"persona": "researcher", "reason": "an incident"}).status_code == 302
    row = Restriction.objects.get()
    assert "is paused by admin" in eyes.get("/personas/researcher/").content.decode()
    assert "is paused by" not in eyes.get("/tools/echo/").content.decode()
    pause_begin(by=admin, reason="all of it")
    assert "The whole hub" in eyes.get("/tools/echo/").content.decode()
    assert "End the pause of researcher?" in eyes.get(f"/policy/{row.pk}/lift/").content.decode()
    assert Restriction.objects.count() == 2
    eyes.post(f"/policy/{row.pk}/lift/")
    assert Restriction.objects.count() == 1


def test_the_least_isolation_is_changed_on_the_personas_page(eyes: Client, persona: Persona) -> None:
    assert eyes.post("/personas/researcher/standing/", {"isolation": "strict"}).status_code == 302
    assert Standing.objects.get().isolation == "strict"
    assert eyes.post("/personas/researcher/standing/", {"isolation": "much"}).status_code == 422
    assert Standing.objects.get().isolation == "strict"


def test_doors_are_shut_without_their_permission(
    eyes_with: Callable[..., Client], admin: User, persona: Persona
) -> None:
    row = pause_begin(by=admin, reason="r")
    others = eyes_with("policy.view_restriction", "security.view_persona")
    assert others.get("/policy/").status_code == 200
    assert others.post("/policy/new/", {"tool": "echo", "reason": "r"}).status_code == 404
    assert others.post("/policy/pause/", {"reason": "r"}).status_code == 404
    assert others.post(f"/policy/{row.pk}/lift/").status_code == 404
    assert others.post("/personas/researcher/standing/", {"isolation": "strict"}).status_code == 404
    assert (Restriction.objects.count(), Standing.objects.count()) == (1, 0)


def test_a_tools_page_says_what_policy_holds_for_everybody(
    eyes: Client, admin: User, persona: Persona, published: None
) -> None:
    assert 'id="policy"' not in eyes.get("/tools/echo/").content.decode()
    flag_require(by=admin, tool="echo", flag=flag_create(by=admin, name="beta"))
    restriction_create(by=admin, tool="echo", reason="a leak")
    restriction_create(by=admin, capability="file:delete", reason="of other tools")
    limit_create(by=admin, tool="echo", kind="rate", measure="calls", amount=5, window_s=1)
    page = eyes.get("/tools/echo/").content.decode()
    assert "/policy/flags/beta/" in page
    assert "a leak" in page
    assert "of other tools" not in page
    assert "5 calls a second" in page
