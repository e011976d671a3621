"""A review: what it shows, who may answer it, how long it waits, and what of it is kept."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from audit.models import Event
from core.actors import SYSTEM
from core.errors import Denied, InvalidRequest, ToolHubError
from registry.installations import cleaning, services
from registry.installations.approval import installation_approve
from registry.installations.care import installations_tidy
from registry.installations.models import Installation, Staged
from registry.installations.reasons import reason_of
from registry.installations.review_text import review_text
from registry.installations.services import installation_get, installation_start
from registry.installations.source_form import Source
from registry.installations.worker import installations_work
from registry.models import Archive, Tool
from security.facts import GrantFact, Standing
from security.models import Persona, User
from security.principals import PersonaPrincipal
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def second(admin: User) -> User:
    """Another person who may install."""
    person = User.objects.create_user("second", password="correct horse battery")
    for name in ("add_release", "change_release"):
        person.user_permissions.add(Permission.objects.get(codename=name))
    return person


def again(one: Installation) -> Installation:
    return installation_get(str(one.pk))


def rule_of(one: Installation) -> str:
    event = Event.objects.filter(kind="installation.approved").latest("id")
    return str(json.loads(event.canonical)["data"]["four_eyes"])


def test_alone_one_may_publish_what_one_brought_and_the_record_says_so(admin: User, fetch: Install) -> None:
    one = fetch()
    installation_approve(by=admin, installation=one, digest=one.digest)
    assert rule_of(one) == "alone"


def test_with_a_second_person_who_brought_it_cannot_publish_it(
    admin: User, second: User, fetch: Install
) -> None:
    one = fetch()
    with pytest.raises(Denied) as refused:
        installation_approve(by=admin, installation=one, digest=one.digest)
    assert "second can" in refused.value.message
    assert again(one).status == "awaiting_review"
    installation_approve(by=second, installation=one, digest=one.digest)
    assert rule_of(one) == "other"


def test_an_agent_is_no_second_pair_of_eyes_for_its_responsible_person(
    admin: User, second: User, persona: Persona, fetch: Install
) -> None:
    one = fetch()
    grants = (GrantFact("toolhub:packages", None),)
    agent = PersonaPrincipal(persona.pk, persona.name, True, 1, admin.pk, "admin", True, grants, Standing())
    with pytest.raises(Denied):
        installation_approve(by=agent, installation=one, digest=one.digest)
    brought = installation_start(by=agent, source=Source("upload", "x.zip"), content=packages.zipped())
    installations_work()
    with pytest.raises(Denied):
        installation_approve(by=admin, installation=again(brought), digest=one.digest)


def test_who_cannot_sign_in_is_nobody(admin: User, second: User, fetch: Install) -> None:
    second.is_active = False
    second.save()
    one = fetch()
    installation_approve(by=admin, installation=one, digest=one.digest)
    assert rule_of(one) == "alone"


def test_the_rule_can_be_switched_off_and_an_operator_stands_outside_it(
    admin: User, second: User, fetch: Install, settings: Any
) -> None:
    one = fetch()
    settings.FOUR_EYES = False
    installation_approve(by=admin, installation=one, digest=one.digest)
    assert rule_of(one) == "off"
    settings.FOUR_EYES = True
    other = fetch(version="2.0.0")
    installation_approve(by=SYSTEM, installation=other, digest=other.digest)
    assert rule_of(other) == "operator"


def test_a_review_that_nobody_answers_is_given_up_and_leaves_nothing(
    admin: User, fetch: Install, settings: Any
) -> None:
    settings.REVIEW_DAYS = 3
    one = fetch()
    assert one.review_ends_at is not None
    assert timedelta(days=2.9) < one.review_ends_at - timezone.now() < timedelta(days=3)
    assert installations_tidy() == 0
    Installation.objects.filter(pk=one.pk).update(review_ends_at=timezone.now() - timedelta(seconds=1))
    assert installations_tidy() == 1
    one = again(one)
    assert (one.status, one.error["message"]) == ("cancelled", "Nobody decided on it within 3 days.")
    assert {step["status"] for step in one.steps} == {"done", "failed"}
    assert not Staged.objects.exists()
    assert not Archive.objects.exists()
    assert Event.objects.filter(kind="installation.expired").count() == 1


def test_one_that_an_older_hub_left_waiting_is_given_up_too(fetch: Install) -> None:
    one = fetch()
    rows = Installation.objects.filter(pk=one.pk)
    rows.update(review_ends_at=None)
    assert installations_tidy() == 0
    rows.update(created_at=timezone.now() - timedelta(days=15))
    assert installations_tidy() == 1


def test_one_person_does_not_take_all_the_room(
    admin: User, second: User, fetch: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "OPEN_MAX_OWN", 2)
    fetch(), fetch()
    with pytest.raises(ToolHubError) as refused:
        fetch()
    assert (refused.value.code, "of your installations" in refused.value.message) == ("OVERLOADED", True)
    upload = Source("upload", "x.zip")
    installation_start(by=second, source=upload, content=packages.zipped())
    monkeypatch.setattr(services, "OPEN_MAX", 3)
    with pytest.raises(ToolHubError):
        installation_start(by=second, source=upload, content=packages.zipped())


def test_of_what_failed_the_newest_is_kept_within_bounds(
    fetch: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, size = fetch(name="Not a name"), len(packages.zipped(name="Not a name"))
    monkeypatch.setattr(cleaning, "FAILED_BYTES_MAX", size * 2)
    second, third = fetch(name="Not a name"), fetch(name="Not a name")
    assert set(Staged.objects.values_list("pk", flat=True)) == {second.pk, third.pk}
    assert again(first).status == "failed"


def test_a_name_that_a_review_gave_is_kept_for_the_next_version(
    admin: User, published: None, fetch: Install, install: Install
) -> None:
    install(tools=[packages.tool("echo")], choices={"names": {"echo": "greet_echo"}})
    next_one = fetch(version="1.1.0", tools=[packages.tool("echo")])
    tool = next_one.report["tools"][0]
    assert (tool["name"], tool["called"], tool["clash"]) == ("echo", "greet_echo", None)
    assert "echo → greet_echo" in review_text(next_one)
    installation_approve(by=admin, installation=next_one, digest=next_one.digest)
    installations_work()
    assert again(next_one).status == "published", again(next_one).error
    assert str(Tool.objects.get(name="greet_echo").active) == "greet_echo 1.1.0"
    assert Tool.objects.get(name="echo").package.name == "toolhub-data"


def test_a_kept_name_that_another_tool_of_the_package_brings_is_asked_for(
    admin: User, published: None, fetch: Install, install: Install
) -> None:
    install(tools=[packages.tool("echo")], choices={"names": {"echo": "greet_echo"}})
    one = fetch(version="1.1.0", tools=[packages.tool("echo"), packages.tool("greet_echo")])
    assert [tool["clash"] for tool in one.report["tools"]] == ["another tool of the package"] * 2
    with pytest.raises(InvalidRequest):
        installation_approve(by=admin, installation=one, digest=one.digest)
    installation_approve(by=admin, installation=one, digest=one.digest, names={"greet_echo": "greet_other"})


def test_it_says_how_each_tool_fits_the_models_what_it_asks_for_and_why(fetch: Install) -> None:
    tool = packages.tool(
        requiredCapabilities=["network:api.example.org", "memory:read", "file:write"],
        network={"allow": ["api.example.org:443"]},
        filesystem={"write": ["out.txt"]},
        sideEffects="impure",
    )
    tool["description"] = "Greets somebody by name. It looks into memory for the last greeting."
    tool["inputSchema"]["properties"]["name"]["pattern"] = "^[A-Z]"
    one = fetch(tools=[tool], dependencies={"tools": {"echo": "^1.0", "nothing": "*"}})
    assert one.status == "awaiting_review", one.error
    [shown] = one.report["tools"]
    assert shown["reasons"] == {
        "network:api.example.org": "to reach api.example.org:443",
        "memory:read": "It looks into memory for the last greeting.",
        "file:write": "to write out.txt",
    }
    fits = {fit["provider"]: fit for fit in shown["fits"]}
    assert {"openai", "anthropic", "gemini", "mcp"} <= set(fits)
    assert fits["mcp"]["unfit"] is None
    assert any(fit["count"] == len(fit["changes"]) > 0 for fit in fits.values())
    assert one.report["needs"] == [
        {"tool": "echo", "range": "^1.0", "version": None},
        {"tool": "nothing", "range": "*", "version": None},
    ]
    assert "asks for the tool echo ^1.0: not here" in review_text(one)


@pytest.mark.parametrize("capability", ["file:read", "network:example.org", "system:clock"])
def test_a_capability_that_nothing_explains_has_no_reason(capability: str) -> None:
    assert reason_of(capability, "Greets somebody by name.", {}) == ""
