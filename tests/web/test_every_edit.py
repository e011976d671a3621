"""Each PUT and PATCH of the API: it honours If-Match, and answers with the ETag of what it edited.

A new one: wrap it in `editing(…, if_match(request), body)` (core/edits.py, core/etags.py), answer by `tagged`,
describe it by `versioned` (core/openapi.py), and let its GET answer the ETag.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from audit.models import Event
from execution.memory.models import Item
from registry.models import Tool
from registry.services import assignment_create
from security.models import Persona, User
from security.policy.services import isolation_set
from security.services import grant_create, persona_create, token_create
from tests.web.world import Route, World, routes

pytestmark = pytest.mark.django_db
DESCRIPTION = json.loads((Path(__file__).parents[2] / "toolhub" / "openapi.json").read_text(encoding="utf-8"))
STALE = '"' + "0" * 32 + '"'
# What each sends, and what it changes by it.
BODIES: dict[str, dict[str, Any]] = {
    "api_tool_overlay": {"notes": "Other."},
    "api_tool_flag": {"flag": "beta"},
    "api_capability": {"description": "Other."},
    "api_collection": {"description": "Other."},
    "api_flag": {"state": "off"},
    "api_grant": {"reason": "Other."},
    "api_limit": {"amount": 500},
    "api_memory_item": {"value": 2},
    "api_package_config": {},
    "api_persona": {"title": "Other."},
    "api_tier": {"description": "Other."},
    "api_collection_tool": {},
}
# Where the ETag of one that cannot be read itself comes from.
READ_AT = {"api_collection_tool": "/api/v1/collections/toolbox"}


@pytest.fixture
def manager(world: World, admin: User) -> dict[str, str]:
    """The headers of an agent that manages the hub for the admin."""
    manages = persona_create(by=admin, name="manager")
    for capability in ("toolhub:packages", "toolhub:personas"):
        grant_create(by=admin, persona=manages, capability=capability, reason="manages the hub")
    grant_create(by=admin, persona=manages, capability="file:read", reason="gives it")
    assignment_create(by=admin, persona=manages, tool=Tool.objects.get(name="fx_context"))
    return {"HTTP_AUTHORIZATION": f"Bearer {token_create(by=admin, persona=manages, name='manager')[1]}"}


def edits() -> list[tuple[str, Route]]:
    """Every PUT and PATCH of the API."""
    return [
        (method, one)
        for one in routes()
        for method in ("put", "patch")
        if method in one.methods and one.pattern.startswith("api/v1/") and "(?P<" not in one.pattern
    ]


def headers_of(route: Route, world: World, manager: dict[str, str]) -> dict[str, str]:
    """Memory is always the caller's own."""
    own = route.name == "api_memory_item"
    return {"HTTP_AUTHORIZATION": f"Bearer {world.tokens['owner']}"} if own else manager


def send(client: Client, method: str, url: str, body: Any, headers: dict[str, str]) -> Any:
    return getattr(client, method)(url, body, content_type="application/json", **headers)


def test_each_is_described_with_if_match() -> None:
    missing = [
        f"{method.upper()} {path}"
        for path, found in DESCRIPTION["paths"].items()
        for method, one in found.items()
        if method in {"put", "patch"}
        and (
            "If-Match" not in [each["name"] for each in one.get("parameters", ())]
            or "428" not in one["responses"]
        )
    ]
    assert not missing, f"Describe these by `versioned` (core/openapi.py): {missing}"


def test_each_honours_if_match(world: World, manager: dict[str, str], subtests: Any) -> None:
    client = Client()
    assert {one.name for _, one in edits()} == BODIES.keys(), "Say in BODIES what a new one sends."
    for method, route in edits():
        url, headers = world.address(route), headers_of(route, world, manager)
        body = BODIES[route.name]
        with subtests.test(route.name), transaction.atomic():
            tag = client.get(READ_AT.get(route.name, url), **headers)["ETag"]
            assert tag.startswith('"')
            before = Event.objects.count()
            for wrong in (STALE, f"W/{tag}", "", "nothing", '"*"', f"{STALE}, W/{tag}"):
                refused = send(client, method, url, body, {**headers, "HTTP_IF_MATCH": wrong})
                assert refused.status_code == 409, wrong
                error = refused.json()["error"]
                assert (error["code"], error["details"]["etag"]) == ("STALE_EDIT", tag)
            assert Event.objects.count() == before
            done = send(client, method, url, body, {**headers, "HTTP_IF_MATCH": f"{STALE}, {tag}"})
            assert done.status_code == 200, done.content
            assert done["ETag"] == client.get(READ_AT.get(route.name, url), **headers)["ETag"]
            transaction.set_rollback(True)


def test_each_takes_any_version_and_none(world: World, manager: dict[str, str], subtests: Any) -> None:
    client = Client()
    for method, route in edits():
        url, headers = world.address(route), headers_of(route, world, manager)
        for more in ({}, {"HTTP_IF_MATCH": "*"}, {"HTTP_IF_MATCH": " * "}):
            with subtests.test(route.name), transaction.atomic():
                assert send(client, method, url, BODIES[route.name], {**headers, **more}).status_code == 200
                transaction.set_rollback(True)


def test_a_stale_edit_answers_with_both_values(
    world: World, manager: dict[str, str], persona: Persona, admin: User
) -> None:
    client, url = Client(), "/api/v1/personas/researcher"
    tag = client.get(url, **manager)["ETag"]
    isolation_set(by=admin, persona=persona, isolation="strict")
    headers = {**manager, "HTTP_IF_MATCH": tag}
    answer = send(client, "patch", url, {"isolation": "", "title": ""}, headers)
    assert answer.status_code == 409
    assert answer.json()["error"]["details"]["fields"] == [
        {"field": "isolation", "now": "strict", "yours": ""}
    ]
    assert answer.json()["errors"] == [{"pointer": "/isolation", "message": 'Now "strict"; you sent "".'}]
    persona.refresh_from_db()
    assert persona.standing.isolation == "strict"


def test_a_value_of_memory_that_is_not_there_has_no_version(world: World) -> None:
    headers = {"HTTP_AUTHORIZATION": f"Bearer {world.tokens['owner']}", "HTTP_IF_MATCH": "*"}
    url = "/api/v1/memory/working/nothing?session_id=s1&loop_id=l1"
    for method in ("put", "delete"):
        assert send(Client(), method, url, {"value": 1}, headers).status_code == 409
    assert not Item.objects.filter(key="nothing").exists()


def test_deletes_honour_if_match(world: World, manager: dict[str, str], subtests: Any) -> None:
    """Those of what is read with an ETag, or stands in a list."""
    deletes = [one for one in routes() if "delete" in one.methods and one.pattern.startswith("api/v1/")]
    described = {
        (path.removeprefix("/"))
        for path, found in DESCRIPTION["paths"].items()
        if "delete" in found
        and "If-Match" in [each["name"] for each in found["delete"].get("parameters", ())]
    }
    assert len(described) > 10
    for route in deletes:
        url, headers = world.address(route), headers_of(route, world, manager)
        with subtests.test(route.name), transaction.atomic():
            path = url.removeprefix("/").partition("?")[0]
            if route.name not in WITHOUT_VERSION:
                answer = Client().delete(url, **{**headers, "HTTP_IF_MATCH": STALE})
                assert answer.status_code == 409, (path, answer.content)
            transaction.set_rollback(True)


# Deletes of what is never edited, or whose act says all that it needs.
WITHOUT_VERSION = {
    "api_package": "packages are uninstalled with what needs them, unless `force` says otherwise",
    "api_session": "agents write what a session remembers all the time",
    "api_session_loop": "as api_session",
    "api_webhook": "a webhook is never edited",
}
