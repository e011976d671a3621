"""Each route with each method, asked by everybody, answers as `routes.txt` says; a route without a line fails.

A failure says which lines are missing, with what everybody gets now, or which differ.
"""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client

from audit.models import Event
from execution.memory.models import Item, Session, Space, Webhook
from security.models import Persona
from tests.web.world import OWN_SESSION, ROLES, Route, World, routes

pytestmark = pytest.mark.django_db
TABLE = Path(__file__).parent / "routes.txt"
# The same for everybody: a cache may keep it.
PUBLIC = {"livez", "healthz", "readyz", "metrics", "manifest_schema", "error_codes", "openapi"}
REFUSED = {"sign-in", "401", "403", "404", "405", "422"}
# What a refusal itself leaves in the ledger.
TOLD = {"run.refused"}


def expected() -> dict[tuple[str, str], tuple[str, ...]]:
    """By method and route, what each of ROLES gets."""
    lines = [
        line.split() for line in TABLE.read_text(encoding="utf-8").splitlines() if line[:1] not in {"", "#"}
    ]
    return {(method, name): tuple(answers) for method, name, *answers in lines}


def asked() -> list[tuple[str, Route]]:
    return [(method, route) for route in routes() for method in route.methods]


def test_every_route_has_a_line_and_every_line_a_route(world: World) -> None:
    """A new route: look at what it answers now, and add the line if that is right."""
    table = expected()
    new = [(method, route) for method, route in asked() if (method.upper(), route.name) not in table]
    found = {(method, route): [ask(world, role, method, route) for role in ROLES] for method, route in new}
    lines = [
        f"{method.upper():8} {route.name:28} " + " ".join(f"{word:9}" for word in words)
        for (method, route), words in found.items()
    ]
    assert not new, "\n".join(["Without a line:", *lines])
    assert table.keys() == {(method.upper(), route.name) for method, route in asked()}
    assert all(len(answers) == len(ROLES) for answers in table.values())


def ask(world: World, role: str, method: str, route: Route) -> str:
    """What the role gets, in a word; everything that happened is undone, and nothing may have after a refusal."""
    token = world.tokens.get(role)
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token}"} if token else {}
    body = {} if method == "get" else {"data": world.body(route), "content_type": "application/json"}
    if not route.pattern.startswith(("api/", "mcp")) and body:
        form = urlencode(world.body(route))
        body = {"data": form, "content_type": "application/x-www-form-urlencoded"}
    with transaction.atomic():
        world.keep(role)
        client = world.client(role)
        before = Event.objects.count()
        answer = getattr(client, method)(world.address(route), **body, **headers)
        after = Event.objects.exclude(kind__in=TOLD).count()
        transaction.set_rollback(True)
    word = str(answer.status_code)
    if word == "302" and answer["Location"].startswith("/sign-in/"):
        word = "sign-in"
    if word in REFUSED:
        assert after <= before, (role, method, route.name, "was refused and did something")
    as_agent = bool(token) and route.pattern.startswith(("api/v1/", "mcp"))
    if word == "200" and role in world.people and not as_agent and route.name not in PUBLIC:
        # What a person may see, no cache keeps.
        word = "200" if "no-store" in answer.headers.get("Cache-Control", "") else "kept"
    return word


@pytest.mark.parametrize("role", ROLES)
def test_everybody_gets_what_the_table_says(world: World, role: str) -> None:
    column = ROLES.index(role)
    table = expected()
    differing = []
    for method, route in asked():
        said = table.get((method.upper(), route.name), ("?",) * len(ROLES))[column]
        found = ask(world, role, method, route)
        if found != said:
            differing.append(f"{method.upper()} {route.name}: {found}, not {said}")
    assert not differing, "\n".join(differing)


def test_no_other_personas_object_is_ever_shown(world: World) -> None:
    """Whatever the table says: with another's token, nothing under an id of the owner's is found or changed."""
    ids = {"run_id", "pk", "session_id", "loop_id", "key"}
    own = [
        (method, route)
        for method, route in asked()
        if route.pattern.startswith("api/v1/") and ids & set(route.parameters)
    ]
    assert len(own) > 20
    for method, route in own:
        # An agent has a memory and sessions of its own under the same names: it writes to those, or to none.
        mine = {"200", "204"} if "memory" in route.pattern or method == "delete" else set()
        assert ask(world, "agent", method, route) in {"403", "404", "422"} | mine, (method, route.name)


def test_what_an_agent_ends_or_writes_is_its_own(world: World, persona: Persona) -> None:
    headers = {"HTTP_AUTHORIZATION": f"Bearer {world.tokens['agent']}", "content_type": "application/json"}
    client = Client()

    def kept() -> list[int]:
        rows = (Session, Space, Item, Webhook)
        places = ("persona", "persona", "space__persona", "persona")
        return [
            model.objects.filter(**{place: persona}).count()
            for model, place in zip(rows, places, strict=True)
        ]

    before = kept()
    assert all(before)
    for address in ("sessions/s1", "sessions/s1/loops/l1", f"memory/working/k{OWN_SESSION}"):
        assert client.delete(f"/api/v1/{address}", **headers).status_code == 204
    client.put(f"/api/v1/memory/working/k{OWN_SESSION}", {"value": 666}, **headers)
    assert kept() == before
    assert Item.objects.get(space__persona=persona, key="k").value == 1
