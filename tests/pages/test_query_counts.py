"""How many queries pages make: pinned, and the same however many rows there are."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import Event
from execution.engine.requests import CallRequest
from execution.entry.schedules.services import schedule_create
from execution.entry.tries.services import run_try
from execution.models import Run
from registry.collections.services import collection_create
from registry.installations.models import Installation
from registry.models import Package, Tool
from registry.services import assignment_create
from security.models import Persona, User
from security.services import grant_create, persona_create, token_create
from security.sharing.services import team_set
from security.sharing.teams import team_create

MOST = 15
# At most so many queries, session and person (2) and permissions (2) included. More needs a reason.
PINNED = {
    "/": 10,
    "/overview/charts/": 6,
    "/search/?q=e": 8,
    "/tools/": 6,
    "/tools/echo/": 12,
    "/tools/echo/try/": 7,
    "/tools/echo/edit/": 6,
    "/packages/": 6,
    "/packages/toolhub-data/": 12,
    "/collections/": 6,
    "/collections/box/": 12,
    "/personas/": 6,
    "/personas/researcher/": 15,
    "/personas/new/": 4,
    "/install/": 5,
    "/installations/": 6,
    "/runs/": 5,
    "/runs/?q=echo": 5,
    "/runs/{run}/": 12,
    "/approvals/": 9,
    "/policy/": 9,
    "/sessions/": 6,
    "/settings/": 4,
    "/schedules/": 5,
    "/schedules/new/": 4,
    "/audit/": 6,
    "/audit/{event}/": 7,
    "/api/docs": 4,
    "/settings/sandbox/": 4,
    "/settings/duties/": 6,
    "/teams/": 5,
    "/sharing/tool/echo/": 10,
    "/simulator/?persona=researcher&tool=echo": 15,
}


def more(admin: User, persona: Persona, count: int) -> None:
    """So many more personas, grants, tokens, runs, schedules and installations."""
    before = Persona.objects.count()
    package = Package.objects.get(name="toolhub-data")
    for number in range(before, before + count):
        other = persona_create(by=admin, name=f"other-{number}", title="Other")
        assignment_create(by=admin, persona=other, package=package)
        made = collection_create(by=admin, name=f"box-{number}", tools=list(Tool.objects.all()))
        assignment_create(by=admin, persona=persona, collection=made)
        grant_create(by=admin, persona=persona, capability=f"file:{number}", reason="to count")
        token_create(by=admin, persona=persona, name=f"token {number}", days=30)
        run_try(by=admin, persona=persona, tool="echo", request=CallRequest(arguments={"text": "hi"}))
        schedule_create(
            by=admin,
            name=f"schedule {number}",
            persona=persona,
            tool="echo",
            arguments={"text": "a"},
            cron="0 * * * *",
            time_zone="UTC",
        )
        Installation.objects.create(
            source_type="upload", location=f"{number}.zip", status="failed", asked_by={"name": "a"}
        )


def counted(eyes: Client) -> dict[str, int]:
    """The queries of each page."""
    places = {"run": Run.objects.latest("pk").pk, "event": Event.objects.latest("pk").pk}
    found = {}
    for path in PINNED:
        with CaptureQueriesContext(connection) as captured:
            assert eyes.get(path.format(**places)).status_code == 200, path
        found[path] = len(captured)
    return found


@pytest.fixture
def world(admin: User, persona: Persona, assign: Callable[[str], None], call: Callable[..., Any]) -> None:
    assign("toolhub-data")
    call("echo", {"text": "the first call is over"})
    box = collection_create(by=admin, name="box", tools=list(Tool.objects.all()))
    assignment_create(by=admin, persona=persona, collection=box)
    more(admin, persona, 2)


def test_pages_make_few_queries_however_much_there_is(
    eyes: Client, admin: User, persona: Persona, world: None
) -> None:
    counted(eyes)  # what is kept in the process is there from here on
    little = counted(eyes)
    more(admin, persona, 8)
    assert counted(eyes) == little
    assert {path: count for path, count in little.items() if count > PINNED[path]} == {}
    assert max(PINNED.values()) <= MOST


def test_a_member_of_a_team_costs_no_more_than_any_page_may(
    eyes: Client, admin: User, persona: Persona, world: None
) -> None:
    member = User.objects.create_user("kim", password="correct horse battery")
    member.groups.add(Group.objects.get(name="admin"))
    for name, package in (("data", "toolhub-data"), ("other", "toolhub-calculation")):
        team = team_create(by=admin, name=name)
        team_set(by=admin, thing=Package.objects.get(name=package), team=team)
        if name == "data":
            member.groups.add(team)
    seen = Client()
    seen.force_login(member)
    counted(seen)
    assert {path: count for path, count in counted(seen).items() if count > MOST} == {}


def test_every_page_of_the_navigation_is_counted(eyes: Client, db: None) -> None:
    entries: list[Any] = eyes.get("/").context["navigation"]
    assert {entry["url"] for entry in entries} <= set(PINNED)
