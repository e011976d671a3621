"""GET tools/{name}: the tool with the decision on calling it, or 404."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.actors import SYSTEM
from registry.models import Release, ToolVersion, VersionState
from registry.releases.publish import release_publish

pytestmark = pytest.mark.django_db
Assign = Callable[[str], None]
Get = Callable[..., Any]


@pytest.fixture
def get(client: Client, token_text: str) -> Get:
    return lambda name: client.get(f"/api/v1/tools/{name}", HTTP_AUTHORIZATION=f"Bearer {token_text}")


def test_a_tool_comes_with_the_decision_on_calling_it(get: Get, assign: Assign) -> None:
    assign("echo")
    response = get("echo")
    assert response.status_code == 200
    body = response.json()
    assert body["id"] == "toolhub-data/echo@1.0.0"
    assert body["decision"]["allowed"] is True
    assert [check["name"] for check in body["decision"]["checks"]][:3] == ["token", "persona", "assignment"]


def test_a_tool_that_may_be_seen_but_not_called_says_why(get: Get, assign: Assign) -> None:
    assign("echo")
    ToolVersion.objects.filter(tool__name="echo").update(state=VersionState.QUARANTINED)
    decision = get("echo").json()["decision"]
    assert decision["allowed"] is False


@pytest.mark.parametrize("name", ["echo@1.0.0", "echo@1.0", "echo@1"])
def test_a_version_can_be_named(get: Get, assign: Assign, name: str) -> None:
    assign("echo")
    assert get(name).json()["version"] == "1.0.0"


def test_a_version_that_is_not_active_can_be_read(get: Get, assign: Assign) -> None:
    assign("echo")
    newer = {**Release.objects.get(package__name="toolhub-data").manifest, "version": "1.1.0"}
    release_publish(by=SYSTEM, manifest=newer, files={})
    assert get("echo").json()["version"] == "1.1.0"
    assert get("echo@1.0.0").json()["version"] == "1.0.0"


def test_a_version_that_is_not_there_is_told_to_who_sees_the_tool(get: Get, assign: Assign) -> None:
    assign("echo")
    response = get("echo@9")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "VERSION_NOT_FOUND")


@pytest.mark.parametrize("suffix", ["", "@1.0.0", "@9"])
def test_unassigned_and_unknown_look_alike(get: Get, published: None, suffix: str) -> None:
    unassigned, unknown = get(f"echo{suffix}"), get(f"nope{suffix}")
    assert (unassigned.status_code, unknown.status_code) == (404, 404)
    assert unassigned.content == unknown.content.replace(b"nope", b"echo")
    assert unassigned.json()["error"]["code"] == "TOOL_NOT_FOUND"


@pytest.mark.parametrize(
    "name", ["%00", "a%00b", "x" * 300, "%F0%9F%98%80", "..", "echo%2F..", "'%20OR%201=1"]
)
def test_a_hostile_name_is_a_name_that_does_not_exist(get: Get, published: None, name: str) -> None:
    assert get(name).status_code == 404


def test_head_answers_as_get_without_a_body(client: Client, token_text: str, assign: Assign) -> None:
    assign("echo")
    response = client.head("/api/v1/tools/echo", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert (response.status_code, response.content) == (200, b"")
    missing = client.head("/api/v1/tools/nope", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert (missing.status_code, missing.content) == (404, b"")
