"""Packages managed over REST, by an agent with the capability and a responsible person with the permission."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.installations.models import Installation
from registry.installations.worker import installations_work
from registry.models import Package, Release
from registry.services import assignment_create
from security.models import Persona, User
from security.services import grant_create
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)
Ask = Callable[..., Any]


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    """Asks the API; gives the answer."""

    def act(method: str, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        raw = isinstance(body, bytes)
        answer = client.generic(
            method,
            f"/api/v1{path}",
            body if raw else b"" if body is None else json.dumps(body),
            content_type="application/zip" if raw else "application/json",
            headers={"Authorization": f"Bearer {token_text}", **headers},
        )
        assert answer.status_code == status, answer.content
        if answer.get("Content-Type", "").startswith("application/zip"):
            return answer.content
        return answer.json() if answer.content else None

    return act


@pytest.fixture
def may(admin: User, persona: Persona) -> None:
    """The persona manages packages."""
    grant_create(by=admin, persona=persona, capability="toolhub:packages", reason="CI publishes")


def test_a_persona_without_the_capability_hears_which_it_lacks(ask: Ask) -> None:
    for method, path, body in (
        ("GET", "/packages", None),
        ("GET", "/installations", None),
        ("POST", "/installations", packages.zipped()),
        ("DELETE", "/packages/greetings", None),
    ):
        answer = ask(method, path, body, status=403)
        assert answer["error"]["code"] == "CAPABILITY_MISSING"
        assert "toolhub:packages" in answer["detail"]
    assert not Installation.objects.exists()


def test_from_upload_to_removal(ask: Ask, may: None) -> None:
    one = ask("POST", "/installations", packages.zipped(), status=202)
    assert (one["success"], one["status"]) == (None, "queued")
    assert {"success", "tool_name", "version", "dependencies", "warnings", "errors"} <= set(one)
    assert "report" not in ask("GET", "/installations")["installations"][0]
    installations_work()
    one = ask("GET", f"/installations/{one['id']}")
    assert (one["status"], one["tool_name"], one["version"]) == ("awaiting_review", "greetings", "1.0.0")
    assert [tool["name"] for tool in one["report"]["tools"]] == ["greet"]
    lines = ask("GET", f"/installations/{one['id']}/log")["lines"]
    assert lines[0]["step"] == "fetch"
    assert ask("GET", f"/installations/{one['id']}/log?after={lines[-1]['seq']}") == {"lines": []}
    ask("POST", f"/installations/{one['id']}/approve", {"digest": "0" * 64}, status=409)
    ask("POST", f"/installations/{one['id']}/approve", {"digest": one["digest"]}, status=202)
    installations_work()
    one = ask("GET", f"/installations/{one['id']}")
    assert (one["success"], one["status"], one["errors"]) == (True, "published", [])
    package = ask("GET", "/packages/greetings")
    assert (package["version"], package["tools"]) == ("1.0.0", ["greet"])
    [release] = package["releases"]
    assert (release["state"], release["active"], release["digest"]) == ("active", True, one["digest"])
    assert ask("GET", f"/releases/{release['id']}")["manifest"] == packages.manifest()
    assert ask("GET", f"/releases/{release['id']}/package") == packages.zipped()
    assert ask("GET", "/packages/greetings/dependencies")["edges"] == []
    ask("DELETE", "/packages/greetings", status=204)
    assert ask("GET", "/packages")["packages"] == []
    assert ask("GET", "/packages?state=removed")["packages"][0]["installed"] is False


def test_releases_are_changed_by_their_id(ask: Ask, may: None, install: Install) -> None:
    install()
    install(version="1.1.0")
    first, second = Release.objects.filter(package__name="greetings").order_by("pk")
    assert ask("POST", f"/releases/{first.pk}/activate")["active"] is True
    assert ask("POST", f"/releases/{second.pk}/yank", {"reason": "It lies."})["state"] == "yanked"
    assert ask("POST", f"/releases/{second.pk}/yank", {}, status=422)["errors"][0]["pointer"] == ""
    # An agent loosens nothing: a person lets a withdrawn release be called again.
    ask("POST", f"/releases/{second.pk}/restore", status=428)
    assert ask("POST", f"/releases/{first.pk}/deprecate", {"reason": "Old."})["reason"] == "Old."
    assert ask("POST", f"/releases/{second.pk}/quarantine", {"reason": "Odd."})["state"] == "quarantined"
    ask("POST", f"/releases/{second.pk}/restore", status=428)  # an agent reviews nothing
    changes = ask("GET", "/packages/greetings/compare?from=1.0.0&to=1.1.0")["changes"]
    assert [change["pointer"] for change in changes] == ["/version"]
    ask("GET", "/packages/greetings/compare?from=1.0.0&to=9.9.9", status=404)
    assert ask("PUT", "/tools/greet/overlay", {"tags": ["polite"]}) == {"tags": ["polite"]}
    ask("PUT", "/tools/greet/overlay", {"digest": "x"}, status=422)


@pytest.mark.parametrize(
    ("source", "pointer"),
    [
        ({"type": "ftp", "location": "x"}, "/source/type"),
        ({"type": "git"}, "/source"),
        ({"type": "git", "location": "ext::sh -c id"}, "/location"),
        ({"type": "git", "location": "https://example.org/r", "ref": "--upload-pack=x"}, "/ref"),
        ({"type": "url", "location": "https://example.org/p.zip"}, "/digest"),
        ({"type": "url", "location": "file:///etc/passwd", "digest": "0" * 64}, "/location"),
        ({"type": "git", "location": "https://example.org/r", "hooks": "x"}, "/source/hooks"),
    ],
)
def test_a_bad_source_is_refused_with_a_pointer(ask: Ask, may: None, source: Any, pointer: str) -> None:
    answer = ask("POST", "/installations", {"source": source}, status=422)
    assert answer["errors"][0]["pointer"] == pointer
    assert not Installation.objects.exists()


def test_a_failed_installation_is_tried_again_from_its_step_or_cancelled(ask: Ask, may: None) -> None:
    bad = packages.zipped(code=packages.GREET.replace("Hello", "Bye"))
    one = ask("POST", "/installations", bad, status=202)
    installations_work()
    one = ask("GET", f"/installations/{one['id']}")
    ask("POST", f"/installations/{one['id']}/retry", status=409)
    ask("POST", f"/installations/{one['id']}/approve", {"digest": one["digest"]}, status=202)
    installations_work()
    one = ask("GET", f"/installations/{one['id']}")
    assert (one["success"], one["step"], one["error"]["code"]) == (False, "self_test", "SELF_TEST_FAILED")
    assert ask("POST", f"/installations/{one['id']}/retry", status=202)["status"] == "queued"
    installations_work()
    assert ask("GET", f"/installations/{one['id']}")["status"] == "failed"
    assert ask("POST", f"/installations/{one['id']}/cancel", status=202)["status"] == "cancelled"
    ask("POST", f"/installations/{one['id']}/retry", status=409)


def test_a_body_that_is_no_zip_fails_in_its_first_step(ask: Ask, may: None) -> None:
    one = ask("POST", "/installations", base64.b64encode(b"no zip"), status=202)
    installations_work()
    one = ask("GET", f"/installations/{one['id']}")
    assert (one["step"], one["error"]["code"]) == ("fetch", "PACKAGE_REFUSED")


def test_versions_are_listed_put_back_and_told_to_callers_and_old_runs_show_theirs(
    ask: Ask, may: None, install: Install, admin: User, persona: Persona
) -> None:
    for version in ("1.0.0", "1.1.0"):
        install(version=version)
    assignment_create(by=admin, persona=persona, package=Package.objects.get(name="greetings"))
    call = {"arguments": {"name": "Ada"}}
    old = ask("POST", "/tools/greet/execute", call, status=202, Prefer="respond-async")
    versions = ask("GET", "/tools/greet/versions")["versions"]
    assert [(one["version"], one["active"]) for one in versions] == [("1.1.0", True), ("1.0.0", False)]
    release = versions[1]["release"]
    ask("POST", f"/releases/{release}/activate")
    ask("POST", f"/releases/{release}/deprecate", {"reason": "Move to 1.1."})
    versions = ask("GET", "/tools/greet/versions")["versions"]
    assert [(one["active"], one["state"], one["reason"]) for one in versions] == [
        (False, "active", ""),
        (True, "deprecated", "Move to 1.1."),
    ]
    new = ask("POST", "/tools/greet/execute", call, status=202, Prefer="respond-async")
    assert new["metadata"]["version"] == "1.0.0"
    assert new["metadata"]["warnings"] == ["greet 1.0.0 is deprecated. Move to 1.1."]
    ask("DELETE", "/packages/greetings", status=409)
    ask("DELETE", "/packages/greetings?force=true", status=204)
    ask("GET", "/tools/greet", status=404)
    ask("GET", "/tools/greet/versions", status=404)
    shown = ask("GET", f"/runs/{old['metadata']['run_id']}")
    assert (shown["metadata"]["tool"], shown["metadata"]["version"]) == ("greet", "1.1.0")


def test_the_versions_of_a_tool_are_for_who_may_see_it(ask: Ask, install: Install) -> None:
    install()
    ask("GET", "/tools/greet/versions", status=404)
