"""GET tools: what a persona sees, and why it sees nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.actors import SYSTEM
from core.keyset import cursor_make
from registry.api import CURSOR
from registry.models import Assignment, Package
from registry.releases.publish import release_publish
from registry.services import assignment_create, assignment_delete
from security.models import Persona, User
from security.services import persona_switch

pytestmark = pytest.mark.django_db
Assign = Callable[[str], None]
Get = Callable[..., Any]


@pytest.fixture
def get(client: Client, token_text: str) -> Get:
    def do(query: str = "", status: int = 200) -> Any:
        response = client.get(f"/api/v1/tools{query}", HTTP_AUTHORIZATION=f"Bearer {token_text}")
        assert response.status_code == status, response.content
        return response.json()

    return do


def names(answer: Any) -> list[str]:
    return [tool["name"] for tool in answer["tools"]]


def test_a_persona_without_tools_hears_why(get: Get, published: None) -> None:
    answer = get()
    assert answer["tools"] == []
    assert answer["next"] is None
    assert "No tool is assigned to researcher" in answer["reason"]


def test_only_what_is_assigned_is_shown(get: Get, assign: Assign) -> None:
    assign("echo")
    answer = get()
    assert names(answer) == ["echo"]
    assert answer["reason"] is None


def test_a_package_brings_all_its_tools_by_name(get: Get, assign: Assign) -> None:
    assign("toolhub-data")
    assign("echo")
    assert names(get()) == ["echo", "hash", "json_parse"]


def test_what_was_assigned_to_another_persona_is_not_shown(get: Get, admin: User, published: None) -> None:
    other = Persona.objects.create(name="other")
    assignment_create(by=admin, persona=other, package=Package.objects.get(name="toolhub-data"))
    assert names(get()) == []


def test_an_assignment_that_is_taken_back_is_gone_on_the_next_call(
    get: Get, admin: User, assign: Assign
) -> None:
    assign("echo")
    assignment_delete(by=admin, assignment=Assignment.objects.get())
    assert names(get()) == []


def test_a_tool_has_what_mcp_knows_and_what_its_contract_declares(get: Get, assign: Assign) -> None:
    assign("echo")
    tool = get()["tools"][0]
    assert tool["id"] == "toolhub-data/echo@1.0.0"
    assert (tool["category"], tool["version"], tool["state"]) == ("data", "1.0.0", "active")
    assert (tool["sideEffects"], tool["determinism"]) == ("pure", "deterministic")
    assert tool["inputSchema"]["required"] == ["text"]
    assert tool["annotations"]["readOnlyHint"] is True


def test_a_category_narrows_the_list(get: Get, assign: Assign) -> None:
    assign("toolhub-data")
    assign("current_time")
    assert names(get("?category=system")) == ["current_time"]
    assert names(get("?category=data")) == ["echo", "hash", "json_parse"]


def test_a_category_without_tools_is_not_told_as_a_missing_assignment(get: Get, assign: Assign) -> None:
    assign("echo")
    answer = get("?category=network")
    assert answer["tools"] == []
    assert answer["reason"]
    assert "No tool is assigned" not in answer["reason"]


def test_a_category_that_nobody_knows_is_422(get: Get, published: None) -> None:
    assert get("?category=weather", 422)["error"]["code"] == "INVALID_REQUEST"


def test_a_long_list_comes_in_pages(get: Get, admin: User, persona: Persona) -> None:
    made = [f"t{n:03}" for n in range(205)]
    manifest = {
        "name": "many",
        "version": "1.0.0",
        "runtime": {"type": "builtin", "entry": "x"},
        "tools": [{"name": name, "inputSchema": {"type": "object"}} for name in made],
    }
    release = release_publish(by=SYSTEM, manifest=manifest, files={})
    assignment_create(by=admin, persona=persona, package=release.package)
    seen, after = [], ""
    for size in (100, 100, 5):
        answer = get(f"?after={after}")
        assert len(answer["tools"]) == size
        seen += names(answer)
        after = answer["next"]
    assert after is None
    assert seen == made
    assert get(f"?after={cursor_make(CURSOR, 'zzz')}")["tools"] == []
    assert get("?after=zzz", 422)["errors"][0]["pointer"] == "/after"


def test_a_page_begins_after_a_name_that_need_not_exist(get: Get, assign: Assign) -> None:
    assign("toolhub-data")
    assert names(get(f"?after={cursor_make(CURSOR, 'f')}")) == ["hash", "json_parse"]


@pytest.mark.parametrize("after", ["%00", "a%00b"])
def test_a_hostile_place_to_go_on_from_is_no_error_of_the_hubs(
    client: Client, token_text: str, after: str
) -> None:
    response = client.get(f"/api/v1/tools?after={after}", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert 200 <= response.status_code < 500


def test_head_answers_as_get_without_a_body(client: Client, token_text: str) -> None:
    response = client.head("/api/v1/tools", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert (response.status_code, response.content) == (200, b"")


def test_without_a_token_nothing_is_shown(client: Client, published: None) -> None:
    assert client.get("/api/v1/tools").status_code == 401


def test_a_persona_that_is_switched_off_is_told_why_its_list_is_empty(
    client: Client, admin: User, persona: Persona, token_text: str, assign: Assign
) -> None:
    assign("echo")
    persona_switch(by=admin, persona=persona, on=False)
    body = client.get("/api/v1/tools", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    assert body["tools"] == []
    assert (
        body["reason"] == "The persona researcher is switched off. An operator or an admin can switch it on."
    )
