"""A package that is everybody's with a tool that a team keeps: others do not read its name there."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from audit.ledger import Entry, record
from audit.models import Event
from audit.selectors import events_seen
from registry.collections.services import collection_create, collection_delete, members_change
from registry.event_kinds import PACKAGE_UNINSTALLED
from registry.models import Archive, Tool
from security.models import Persona, User
from security.permissions import actor_of
from security.services import grant_create, token_create
from security.sharing.services import right_give, team_set
from security.sharing.teams import team_create

pytestmark = pytest.mark.django_db
LISTING = ("release.published", "collection.tools_changed", "collection.deleted")


@pytest.fixture
def kept(admin: User, published: None) -> Tool:
    """`echo`, of a team, in toolhub-data, which has none."""
    tool = Tool.objects.select_related("package__active").get(name="echo")
    team_set(by=admin, thing=tool, team=team_create(by=admin, name="core"))
    return tool


@pytest.fixture
def kim(db: None) -> User:
    person = User.objects.create_user("kim", password="correct horse battery")
    person.groups.add(Group.objects.get(name="viewer"))
    return person


def test_a_release_is_told_without_the_tools_that_are_kept(
    client: Client, admin: User, persona: Persona, kim: User, kept: Tool
) -> None:
    package: Any = kept.package
    Archive.objects.create(digest=package.active.digest, content=b"zip", size=3, files=[])
    grant_create(by=admin, persona=persona, capability="toolhub:packages", reason="reads")
    token, text = token_create(by=admin, persona=persona, name="kim's")
    token.responsible = kim
    token.save()
    client.force_login(kim)
    version = package.active.version
    rest: Any = {"headers": {"Authorization": f"Bearer {text}"}}
    api = f"/api/v1/releases/{package.active_id}"
    compare = f"/packages/{package.name}/compare/"

    def told() -> list[bool]:
        """Whether each names it."""
        answers = [
            client.get(api, **rest),
            client.get(f"/api/v1/packages/{package.name}", **rest),
            client.get(f"/packages/{package.name}/"),
            client.get(compare),
        ]
        assert [answer.status_code for answer in answers] == [200] * 4
        return ['"echo"' in a.content.decode() or "/tools/echo/" in a.content.decode() for a in answers]

    assert not any(told())
    assert "hash" in [tool["name"] for tool in client.get(api, **rest).json()["manifest"]["tools"]]
    files = (client.get(f"{api}/package", **rest), client.get(f"/packages/{package.name}/{version}/zip/"))
    assert [answer.status_code for answer in files] == [403, 404]
    assert not any(b"echo" in answer.content for answer in files)
    right_give(by=admin, thing=kept, to=kim, level="view")
    assert told() == [True, True, True, False]
    assert client.get(f"{api}/package", **rest).content == b"zip"


def test_events_that_list_tools_are_kept_from_who_does_not_see_one_of_them(
    admin: User, kim: User, kept: Tool
) -> None:
    tools = list(Tool.objects.filter(name__in=["echo", "hash"]).order_by("name"))
    made = collection_create(by=admin, name="both", tools=tools)
    members_change(by=admin, collection=made, remove=tools[:1])
    members_change(by=admin, collection=made, add=tools[:1])
    collection_delete(by=admin, collection=made)
    collection_delete(by=admin, collection=collection_create(by=admin, name="calm", tools=tools[1:]))
    events = Event.objects.filter(kind__in=LISTING)
    naming = set(events.filter(canonical__contains='"echo"').values_list("pk", flat=True))
    assert len(naming) == 5
    seen = set(events_seen(kim).filter(kind__in=LISTING).values_list("pk", flat=True))
    assert seen == set(events.values_list("pk", flat=True)) - naming
    assert events.filter(pk__in=seen, subject_id="calm").count() == 2
    assert naming <= set(events_seen(admin).values_list("pk", flat=True))


def test_the_event_of_a_removal_is_kept_from_who_does_not_see_a_persona_that_it_touched(
    admin: User, kim: User, persona: Persona, published: None
) -> None:
    rows = Event.objects.filter(kind="package.uninstalled")
    for name in ("toolhub-data", "toolhub-text"):
        touched = {"personas": [persona.name]} if name == "toolhub-data" else {}
        data = {"force": False, "affected": touched}
        record(Entry(PACKAGE_UNINSTALLED, actor_of(admin), "package", name, data))
    assert events_seen(kim).filter(pk__in=rows).count() == 2
    team_set(by=admin, thing=persona, team=team_create(by=admin, name="core"))
    seen = events_seen(User.objects.get(pk=kim.pk)).filter(pk__in=rows)
    assert [event.subject_id for event in seen] == ["toolhub-text"]
