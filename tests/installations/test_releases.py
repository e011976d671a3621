"""Releases live side by side: put in use, rolled back, deprecated, withdrawn, removed, and back again."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from core.actors import Actor
from core.errors import Conflict, Denied, InvalidRequest, ToolHubError
from registry.installations.approval import installation_approve
from registry.installations.models import Installation
from registry.installations.worker import installations_work
from registry.models import Archive, Assignment, Package, Release, Tool
from registry.releases.activation import release_activate
from registry.releases.difference import releases_compare
from registry.releases.lifecycle import (
    release_deprecate,
    release_quarantine,
    release_restore,
    release_yank,
)
from registry.releases.overlay import tool_overlay_edit
from registry.releases.uninstall import package_uninstall
from registry.services import assignment_create
from security.models import Persona, User
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)
Call = Callable[..., Any]


@pytest.fixture
def two(install: Install) -> tuple[Release, Release]:
    """1.0.0 and 1.1.0, which has a second tool and is in use."""
    for version, tools in (
        ("1.0.0", [packages.tool()]),
        ("1.1.0", [packages.tool(), packages.tool("welcome")]),
    ):
        assert install(version=version, tools=tools).status == "published"
    first, second = Release.objects.filter(package__name="greetings").order_by("pk")
    return first, second


@pytest.fixture
def call(client: Client, token_text: str, admin: User, persona: Persona) -> Call:
    """What the API answers to a call of a tool: status and the error's code."""

    def act(name: str) -> tuple[int, str]:
        package = Package.objects.get(name="greetings")
        if not Assignment.objects.filter(persona=persona, package=package).exists():
            assignment_create(by=admin, persona=persona, package=package)
        answer = client.post(
            f"/api/v1/tools/{name}/execute",
            {"arguments": {"name": "Ada"}},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token_text}", "Prefer": "respond-async"},
        )
        return answer.status_code, (answer.json().get("error") or {}).get("code", "")

    return act


def used(name: str) -> str | None:
    active = Tool.objects.select_related("active").get(name=name).active
    return active.version if active else None


def test_the_newest_is_in_use_and_the_older_stays_callable_by_number(
    two: tuple[Release, Release], call: Call
) -> None:
    assert (used("greet"), used("welcome")) == ("1.1.0", "1.1.0")
    assert call("greet") == (202, "")
    assert call("greet@1.0.0") == (202, "")
    assert call("greet@1.2.0") == (404, "VERSION_NOT_FOUND")


def test_a_roll_back_takes_away_what_the_older_one_did_not_have_and_back_again_returns_it(
    admin: User, two: tuple[Release, Release], call: Call
) -> None:
    first, second = two
    release_activate(by=admin, release=first)
    assert (used("greet"), used("welcome")) == ("1.0.0", None)
    assert call("welcome") == (404, "TOOL_NOT_FOUND")
    release_activate(by=admin, release=second)
    assert (used("greet"), used("welcome")) == ("1.1.0", "1.1.0")
    event = Event.objects.filter(kind="release.activated").order_by("id")
    assert event.count() == 2


def test_published_without_being_put_in_use_it_waits(install: Install) -> None:
    assert install().status == "published"
    assert install(version="2.0.0", choices={"activate": False}).status == "published"
    assert used("greet") == "1.0.0"


def test_a_deprecated_release_warns_and_a_withdrawn_one_refuses_each_with_its_reason(
    admin: User, two: tuple[Release, Release], call: Call, client: Client, token_text: str
) -> None:
    first, second = two
    release_deprecate(by=admin, release=second, reason="Move to 2.")
    assert call("greet") == (202, "")
    answer = client.get("/api/v1/tools/greet", headers={"Authorization": f"Bearer {token_text}"}).json()
    warned = [check["reason"] for check in answer["decision"]["checks"] if check["verdict"] == "warn"]
    assert warned == ["greet 1.1.0 is deprecated. Move to 2."]
    with pytest.raises(Conflict):
        release_yank(by=admin, release=second, reason="It lies.")
    release_yank(by=admin, release=first, reason="It lies.")
    assert call("greet@1.0.0") == (403, "VERSION_YANKED")
    with pytest.raises(Conflict):
        release_activate(by=admin, release=first)
    release_restore(by=admin, release=first)
    assert call("greet@1.0.0") == (202, "")


def test_what_is_in_quarantine_waits_for_a_person(
    admin: User, two: tuple[Release, Release], call: Call, client: Client, token_text: str
) -> None:
    """Also the release in use, and whatever else is done with it meanwhile."""
    first, second = two
    release_quarantine(by=admin, release=second, reason="Who signed this?")
    assert call("greet") == (403, "QUARANTINED")
    assert call("greet@1.0.0") == (202, "")
    answer = client.get("/api/v1/tools/greet", headers={"Authorization": f"Bearer {token_text}"}).json()
    (failed,) = [check for check in answer["decision"]["checks"] if check["verdict"] == "fail"]
    assert failed["reason"] == "greet 1.1.0 is in quarantine. Who signed this?"
    for act in (release_deprecate, release_yank):
        with pytest.raises(Conflict):
            act(by=admin, release=second, reason="Away with it.")
    with pytest.raises(Denied):
        release_restore(by=Actor("system", "cli", "operator"), release=second)
    release_activate(by=admin, release=first)
    with pytest.raises(Conflict):
        release_activate(by=admin, release=second)
    release_restore(by=admin, release=second)
    release_activate(by=admin, release=second)
    assert call("greet") == (202, "")
    kinds = Event.objects.filter(kind__in=["release.quarantined", "release.restored"]).order_by("id")
    assert list(kinds.values_list("kind", flat=True)) == ["release.quarantined", "release.restored"]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 301])
def test_a_reason_is_needed(admin: User, two: tuple[Release, Release], reason: str) -> None:
    with pytest.raises(InvalidRequest):
        release_deprecate(by=admin, release=two[0], reason=reason)


def test_who_lacks_the_permission_changes_nothing(viewer: User, two: tuple[Release, Release]) -> None:
    before = Event.objects.count()
    for act in (
        lambda: release_activate(by=viewer, release=two[0]),
        lambda: release_yank(by=viewer, release=two[0], reason="x"),
        lambda: package_uninstall(by=viewer, package=two[0].package),
        lambda: tool_overlay_edit(by=viewer, tool=Tool.objects.get(name="greet"), overlay={}),
    ):
        with pytest.raises(Denied):
            act()
    assert used("greet") == "1.1.0"
    assert Event.objects.count() == before


def test_uninstalled_its_tools_are_gone_and_its_runs_stay(
    admin: User, two: tuple[Release, Release], call: Call, client: Client, token_text: str
) -> None:
    package = two[0].package
    assert call("greet") == (202, "")
    with pytest.raises(ToolHubError) as refused:
        package_uninstall(by=admin, package=package)
    assert refused.value.code == "IN_USE"
    [run] = refused.value.data["needed_by"]["open runs"]
    package_uninstall(by=admin, package=package, force=True)
    headers = {"Authorization": f"Bearer {token_text}"}
    assert client.get("/api/v1/tools/greet", headers=headers).status_code == 404
    assert client.get(f"/api/v1/runs/{run}", headers=headers).status_code in {200, 202}
    assert not Archive.objects.filter(pk=two[0].digest).exists()
    assert Release.objects.filter(digest=two[0].digest).exists()


def test_the_same_release_can_come_back_and_another_under_its_version_cannot(
    admin: User, install: Install, two: tuple[Release, Release]
) -> None:
    package_uninstall(by=admin, package=two[0].package)
    other = install(version="1.0.0", code=packages.GREET + "\n")
    assert (other.status, other.error["code"]) == ("failed", "ALREADY_REGISTERED")
    again = install(version="1.0.0", tools=[packages.tool()])
    assert again.status == "published", again.error
    assert again.release_id == two[0].pk
    assert used("greet") == "1.0.0"
    assert Archive.objects.filter(pk=two[0].digest).exists()


def test_a_builtin_package_is_a_part_of_the_hub(admin: User, published: None) -> None:
    with pytest.raises(ToolHubError) as refused:
        package_uninstall(by=admin, package=Package.objects.get(name="toolhub-data"), force=True)
    assert refused.value.code == "IN_USE"


def test_an_overlay_leaves_release_and_digest_and_says_what_changed(
    admin: User, two: tuple[Release, Release]
) -> None:
    tool = Tool.objects.get(name="greet")
    before = two[1].digest
    tool_overlay_edit(by=admin, tool=tool, overlay={"category": "network", "tags": ["polite"], "notes": ""})
    tool.refresh_from_db()
    assert (tool.category, tool.overlay) == ("network", {"category": "network", "tags": ["polite"]})
    two[1].refresh_from_db()
    assert two[1].digest == before
    release_activate(by=admin, release=two[0])
    tool.refresh_from_db()
    assert tool.category == "network"
    tool_overlay_edit(by=admin, tool=tool, overlay={})
    tool.refresh_from_db()
    assert tool.category == "data"


def test_a_tool_of_a_taken_name_needs_another_in_the_review(
    admin: User, published: None, fetch: Install, install: Install
) -> None:
    one = fetch(tools=[packages.tool("echo")])
    assert one.report["tools"][0]["clash"] == "another package"
    with pytest.raises(InvalidRequest) as refused:
        install(tools=[packages.tool("echo")])
    assert refused.value.errors[0]["pointer"] == "/names/echo"
    done = install(tools=[packages.tool("echo")], choices={"names": {"echo": "greet_echo"}})
    assert done.status == "published", done.error
    assert used("greet_echo") == "1.0.0"


def test_the_difference_names_each_place_and_marks_what_asks_for_care() -> None:
    old = packages.manifest(tools=[packages.tool()])
    wider = packages.tool(requiredCapabilities=["file:read"])
    wider["description"] = "Greets."
    new = packages.manifest("1.1.0", tools=[wider, packages.tool("other")])
    changes = {(one.tool, one.pointer): (one.kind, one.careful) for one in releases_compare(old, new)}
    place = "/_meta/io.toolhub~1contract/requiredCapabilities"
    assert changes == {
        ("", "/version"): ("changed", False),
        ("greet", place): ("added", True),
        ("greet", "/description"): ("changed", False),
        ("other", ""): ("added", True),
    }


def test_the_difference_of_rules_and_conditions_is_told_one_by_one() -> None:
    keeps = {"type": "custom", "description": "It is day.", "expression": "true"}
    left = {"type": "permission", "description": "It may.", "permission": "file:read"}
    rule = {"expression": "arguments.name != ''", "message": "Name it."}
    old = packages.tool(preconditions=[keeps, left], validators=[rule])
    night = {**keeps, "critical": False}
    new = packages.tool(preconditions=[night], validators=[{**rule, "expression": "true"}])
    contract = "/_meta/io.toolhub~1contract"
    made = releases_compare(packages.manifest(tools=[old]), packages.manifest(tools=[new]))
    assert [(one.pointer, one.kind, one.about) for one in made] == [
        (f"{contract}/preconditions/1", "removed", "It may."),
        (f"{contract}/preconditions/0/critical", "added", "It is day."),
        (f"{contract}/validators/0/expression", "changed", "Name it."),
    ]
    assert all(one.careful for one in made)
    turned = packages.tool(preconditions=[left, keeps], validators=[rule])
    (order,) = releases_compare(packages.manifest(tools=[old]), packages.manifest(tools=[turned]))
    assert (order.pointer, order.kind) == (f"{contract}/preconditions", "changed")


def test_old_installations_keep_their_release(two: tuple[Release, Release]) -> None:
    assert set(Installation.objects.values_list("release_id", flat=True)) == {two[0].pk, two[1].pk}


def test_a_review_against_a_release_that_is_not_in_use_any_more_is_made_anew(
    admin: User, fetch: Install, install: Install
) -> None:
    assert install().status == "published"
    waiting = fetch(version="1.1.0")
    assert install(version="2.0.0").status == "published"
    with pytest.raises(ToolHubError) as refused:
        installation_approve(by=admin, installation=waiting, digest=waiting.digest)
    assert refused.value.code == "WRONG_STEP"
    installations_work()
    waiting.refresh_from_db()
    assert (waiting.status, waiting.report["compared_with"]) == ("awaiting_review", "2.0.0")
    assert used("greet") == "2.0.0"


def test_files_that_differ_from_those_in_use_are_named(fetch: Install, install: Install) -> None:
    first = {**packages.files(), "old.txt": b"1", "same.txt": b"1"}
    assert install(packages.zip_write(first)).status == "published"
    second = {**packages.files("1.1.0", code=packages.GREET + "\n"), "new.txt": b"1", "same.txt": b"1"}
    assert fetch(packages.zip_write(second)).report["changed_files"] == [
        "~ greetings.py",
        "+ new.txt",
        "- old.txt",
    ]


def test_what_another_package_needs_is_removed_only_by_force_and_it_says_who_is_hit(
    admin: User, install: Install
) -> None:
    install()
    other = {
        "name": "parties",
        "tools": [packages.tool("invite")],
        "dependencies": {"tools": {"greet": "^1.0"}},
    }
    assert install(**other).status == "published"
    package = Package.objects.get(name="greetings")
    with pytest.raises(ToolHubError) as refused:
        package_uninstall(by=admin, package=package)
    assert (refused.value.code, refused.value.data["needed_by"]["packages"]) == ("IN_USE", ["parties"])
    affected = package_uninstall(by=admin, package=package, force=True)
    assert affected.as_dict()["packages"] == ["parties"]
    assert used("greet") is None
