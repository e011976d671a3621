"""Collections: exactly these tools, assigned as a whole; over REST, and as agents and other teams try them."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import Event
from core.errors import Denied, InvalidRequest, NotFound
from registry.collections.models import Collection, CollectionPersonRight, CollectionTeamRight
from registry.collections.services import (
    MEMBERS_MAX,
    collection_create,
    collection_delete,
    collection_describe,
    members_change,
    members_of_package_remove,
)
from registry.models import Assignment, CollectionMember, Package, Tool, ToolVersion
from registry.personas.selectors import callers_of, decisions_of
from registry.releases.affected import affected_by
from registry.services import assignment_create
from security.models import Persona, Token, User
from security.permissions import actor_of
from security.services import grant_create, persona_create, persona_switch, token_create
from security.sharing.reach import rights_on
from security.sharing.services import right_give, team_set
from security.sharing.teams import team_create, team_join

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
MEMORY = ["memory_append", "memory_list", "memory_patch", "memory_read", "memory_write"]
TASKS = ["reply", "session_archive_read", "spawn_task", "task_list", "task_replay"]
# As in the seeds: all, what the main agent may, what writes memory, and a single one.
SETS = {
    "allTaskTools": ["current_time", *MEMORY, "session_archive_read", "task_list", "task_replay"],
    "mainAgentTools": ["current_time", "memory_list", "memory_read", *TASKS],
    "reflectionTools": ["memory_append", "memory_patch", "memory_read", "memory_write"],
    "sessionTools": ["session_archive_read"],
}


def tools(*names: str) -> list[Tool]:
    found = {tool.name: tool for tool in Tool.objects.select_related("package").filter(name__in=names)}
    return [found[name] for name in names]


@pytest.fixture
def sets(published: None, admin: User) -> dict[str, list[str]]:
    """The four collections of the seeds, of tools that each do what `echo` does."""
    echo = ToolVersion.objects.get(tool__name="echo")
    for name in (*MEMORY, *TASKS):
        tool = Tool.objects.create(name=name, package=echo.tool.package, category="data")
        echo.pk, echo.tool = None, tool
        echo.save()
        Tool.objects.filter(pk=tool.pk).update(active=echo.pk)
    for name, members in SETS.items():
        collection_create(by=admin, name=name, tools=tools(*members))
    return SETS


@pytest.fixture
def names(sets: dict[str, list[str]]) -> list[str]:
    """What is in mainAgentTools: current_time, memory_list, memory_read, reply, session_archive_read, …"""
    return SETS["mainAgentTools"]


@pytest.fixture
def ask(client: Client, token_text: str) -> Call:
    """`ask("collections")`: the persona's GET, or another method, with its answer."""

    def do(path: str, method: str = "GET", **body: Any) -> Any:
        data = {"data": body, "content_type": "application/json"} if method != "GET" else {}
        send = getattr(client, method.lower())
        return send(f"/api/v1/{path}", HTTP_AUTHORIZATION=f"Bearer {token_text}", **data)

    return do


def has(persona: Persona, name: str, by: User) -> None:
    assignment_create(by=by, persona=persona, collection=Collection.objects.get(name=name))


def test_four_collections_have_exactly_their_members(
    ask: Call, admin: User, persona: Persona, sets: dict[str, list[str]]
) -> None:
    for name in ("mainAgentTools", "allTaskTools", "reflectionTools"):
        has(persona, name, admin)
    for name, members in sets.items():
        answer = ask(f"collections/{name}").json()
        assert (answer["name"], answer["tools"]) == (name, members)
        assert [tool["name"] for tool in ask(f"tools?collection={name}").json()["tools"]] == members
    listed = ask("collections").json()["collections"]
    assert {row["name"]: row["tool_count"] for row in listed} == {
        name: len(members) for name, members in sets.items()
    }


def test_what_a_persona_sees_is_the_union_and_each_call_says_by_what(
    ask: Call, call: Call, admin: User, persona: Persona, sets: dict[str, list[str]], names: list[str]
) -> None:
    has(persona, "reflectionTools", admin)
    has(persona, "sessionTools", admin)
    assignment_create(by=admin, persona=persona, tool=tools("reply")[0])
    expected = sorted([*sets["reflectionTools"], "reply", "session_archive_read"])
    assert [tool["name"] for tool in ask("tools").json()["tools"]] == expected
    said = ask("tools/session_archive_read").json()["decision"]["checks"]
    reason = next(check["reason"] for check in said if check["name"] == "assignment")
    assert reason == "session_archive_read is assigned: with the collection sessionTools."
    both = decisions_of(persona, tools("session_archive_read", "reply"))
    assert [one.decision.grounds[0] for one in both] == [reason, "reply is assigned: by name."]
    assert [one.decision.grounds[0] for one in callers_of(tools("session_archive_read")[0], [persona])] == [
        reason
    ]
    assert call("task_list", {"text": "a"}).status_code == 404
    assert call("session_archive_read", {"text": "a"}).status_code == 200


def test_a_tool_that_is_taken_out_is_gone_on_the_next_call(
    call: Call, admin: User, persona: Persona, published: None
) -> None:
    made = collection_create(by=admin, name="one", tools=tools("echo", "hash"))
    has(persona, "one", admin)
    assert call("echo", {"text": "a"}).status_code == 200
    members_change(by=admin, collection=made, remove=tools("echo"))
    assert call("echo", {"text": "a"}).status_code == 404
    assert call("hash", {"text": "a"}).status_code != 404
    members_change(by=admin, collection=made, add=tools("echo"))
    assert call("echo", {"text": "a"}).status_code == 200
    collection_delete(by=admin, collection=made)
    assert call("echo", {"text": "a"}).status_code == 404
    kinds = Event.objects.filter(subject_kind="collection").order_by("pk").values_list("kind", flat=True)
    changed = "collection.tools_changed"
    assert list(kinds) == ["collection.created", changed, changed, changed, "collection.deleted"]
    assert Event.objects.filter(kind="assignment.deleted", subject_id=str(persona.pk)).count() == 1


def test_an_agent_sees_no_collection_of_which_it_sees_no_tool_and_no_other_members(
    ask: Call, admin: User, persona: Persona, sets: dict[str, list[str]], names: list[str]
) -> None:
    assert ask("collections").json() == {"collections": [], "next": None}
    assert ask("collections/sessionTools").status_code == 404
    assignment_create(by=admin, persona=persona, tool=tools("memory_list")[0])
    assert ask("collections/mainAgentTools").json()["tools"] == ["memory_list"]
    assert ask("collections/sessionTools").status_code == 404
    assert [row["tool_count"] for row in ask("collections").json()["collections"]] == [1, 1]
    answer = ask("tools?collection=sessionTools").json()
    assert (answer["tools"], answer["reason"]) == ([], "None of the tools of researcher passes the filter.")
    # One that a team owns is told to those to whom it is assigned.
    main = Collection.objects.get(name="mainAgentTools")
    team_set(by=admin, thing=main, team=team_create(by=admin, name="core"))
    assert ask("collections/mainAgentTools").status_code == 404
    assert ask("tools?collection=mainAgentTools").json()["tools"] == []
    has(persona, "mainAgentTools", admin)
    assert ask("collections/mainAgentTools").json()["tools"] == names
    persona_switch(by=admin, persona=persona, on=False)
    assert ask("tools?collection=mainAgentTools").json()["tools"] == []


@pytest.mark.parametrize(
    "query", ["collection=a&collection=b", "collection=a.b", "collection=", "collection=ä"]
)
def test_a_filter_that_names_no_collection_is_told_so(ask: Call, query: str) -> None:
    answer = ask(f"tools?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/collection"


def test_an_agent_without_the_capability_changes_nothing(
    ask: Call, admin: User, persona: Persona, sets: dict[str, list[str]], names: list[str]
) -> None:
    has(persona, "reflectionTools", admin)
    before = list(CollectionMember.objects.values_list("pk", flat=True))
    tries = (
        ask("collections", "POST", name="mine", tools=names),
        ask("collections/reflectionTools", "PATCH", tools=names),
        ask("collections/reflectionTools/tools/task_list", "PUT"),
        ask("collections/reflectionTools/tools/memory_read", "DELETE"),
        ask("collections/reflectionTools", "DELETE"),
    )
    assert [answer.status_code for answer in tries] == [403] * 5
    assert {answer.json()["error"]["code"] for answer in tries} == {"CAPABILITY_MISSING"}
    assert list(CollectionMember.objects.values_list("pk", flat=True)) == before


def test_an_agent_that_manages_gives_itself_nothing_and_others_what_it_sees(
    ask: Call, admin: User, persona: Persona, sets: dict[str, list[str]], names: list[str]
) -> None:
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="manages")
    other = persona_create(by=admin, name="other")
    has(persona, "sessionTools", admin)
    # What it has itself stays as people made it: neither more nor less.
    assert ask("collections/sessionTools/tools/current_time", "PUT").status_code == 403
    assert ask("collections/sessionTools/tools/session_archive_read", "DELETE").status_code == 403
    assert ask("collections/sessionTools", "DELETE").status_code == 403
    # What it does not see it puts nowhere, and assigns to nobody.
    assert ask("collections/reflectionTools/tools/task_list", "PUT").status_code == 403
    assert ask("collections", "POST", name="mine", tools=["current_time"]).status_code == 403
    at = f"personas/{other.name}/assignments"
    assert ask(at, "POST", collection="reflectionTools").status_code == 403
    assert ask("personas/researcher/assignments", "POST", collection="sessionTools").status_code == 403
    assert Assignment.objects.count() == 1
    assert CollectionMember.objects.count() == sum(map(len, sets.values()))
    assert not Collection.objects.filter(name="mine").exists()
    # What it sees it does.
    put = ask("collections/reflectionTools/tools/session_archive_read", "PUT")
    assert put.json()["tools"] == [*sets["reflectionTools"], "session_archive_read"]
    assert ask(at, "POST", collection="sessionTools").json()["collection"] == "sessionTools"
    made = ask("collections", "POST", name="mine", description="For one", tools=["session_archive_read"])
    assert (made.status_code, made.json()["tools"]) == (201, ["session_archive_read"])
    assert ask("collections/mine", "PATCH", description="For two").json()["description"] == "For two"
    assert ask("collections/mine/tools/session_archive_read", "DELETE").status_code == 204
    assert ask("collections/mine", "DELETE").status_code == 204


def test_members_are_set_exactly_and_a_fault_changes_none_of_them(
    ask: Call, admin: User, persona: Persona, sets: dict[str, list[str]], names: list[str]
) -> None:
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="manages")
    assignment_create(by=admin, persona=persona, package=Package.objects.get(tools__name="memory_read"))
    answer = ask("collections/reflectionTools", "PATCH", description="new", tools=["memory_read", "no_such"])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["message"] == "There is no tool 'no_such'."
    assert Collection.objects.get(name="reflectionTools").description == ""
    answer = ask("collections/reflectionTools", "PATCH", tools=["task_list", "memory_read", "task_list"])
    assert answer.json()["tools"] == ["memory_read", "task_list"]
    assert ask("collections", "POST", name="reflectionTools").status_code == 409
    for name in ("new", "1a", "a b", "", "a" * 65, "a/b", "a\x00"):
        assert ask("collections", "POST", name=name).status_code == 422, name
    assert ask("collections/a%00b").status_code == 404
    assert ask("collections/reflectionTools/tools/a%00b", "PUT").status_code == 404
    assert ask("collections/reflectionTools/tools/no_such", "PUT").status_code == 422
    assert ask("collections/reflectionTools/tools/a%00b", "DELETE").status_code == 404
    assert ask("collections", "POST", name="ok", description="a\x00").status_code == 422


def test_another_team_neither_sees_nor_fills_a_collection_nor_assigns_what_is_not_theirs(
    admin: User, persona: Persona, sets: dict[str, list[str]], names: list[str]
) -> None:
    """A person with all of an admin's rights but that one, in another team than the objects."""
    kim = User.objects.create_user("kim")
    kim.user_permissions.set(Permission.objects.exclude(codename="reach_everything"))
    core = team_create(by=admin, name="core")
    main, session = (Collection.objects.get(name=name) for name in ("mainAgentTools", "sessionTools"))
    team_set(by=admin, thing=main, team=core)
    (hidden,) = tools("session_archive_read")
    team_set(by=admin, thing=hidden, team=core)
    kim = User.objects.get(pk=kim.pk)
    before = list(CollectionMember.objects.values_list("pk", flat=True))
    with pytest.raises(NotFound):
        members_change(by=kim, collection=main, add=tools("current_time"))
    with pytest.raises(NotFound):
        collection_describe(by=kim, collection=main, description="ours")
    with pytest.raises(NotFound):
        collection_delete(by=kim, collection=main)
    with pytest.raises(NotFound):
        assignment_create(by=kim, persona=persona, collection=main)
    with pytest.raises(NotFound):
        members_change(by=kim, collection=session, add=[hidden])
    with pytest.raises(NotFound):
        collection_create(by=kim, name="loot", tools=[hidden])
    # The collection is everybody's, a tool in it is not: it is not given to others that way.
    with pytest.raises(Denied, match="may not assign 1 of the tools"):
        assignment_create(by=kim, persona=persona, collection=session)
    assert list(CollectionMember.objects.values_list("pk", flat=True)) == before
    assert not Assignment.objects.exists()
    assert not Collection.objects.filter(name="loot").exists()
    right_give(by=admin, thing=hidden, to=kim, level="manage")
    assignment_create(by=User.objects.get(pk=kim.pk), persona=persona, collection=session)
    team_join(by=admin, team=core, person=kim)
    collection_delete(by=User.objects.get(pk=kim.pk), collection=main)


def test_who_fills_a_collection_may_assign_to_each_persona_that_has_it(
    admin: User, persona: Persona, call: Call, published: None
) -> None:
    """Else the right to manage a collection would give tools to personas of others."""
    kim = User.objects.create_user("kim")
    made = collection_create(by=admin, name="shared", tools=tools("hash"))
    (echo,) = tools("echo")
    right_give(by=admin, thing=made, to=kim, level="manage")
    right_give(by=admin, thing=echo, to=kim, level="manage")
    kim = User.objects.get(pk=kim.pk)
    # Nobody has it yet, or only personas that kim may assign to.
    members_change(by=kim, collection=made, add=[echo])
    members_change(by=kim, collection=made, remove=[echo])
    has(persona, "shared", admin)
    with pytest.raises(Denied, match="may not assign tools to each persona, which shared is") as refused:
        members_change(by=kim, collection=made, add=[echo])
    assert "make a collection of your own" in refused.value.suggestions[0]
    assert call("echo", {"text": "a"}).status_code == 404
    right_give(by=admin, thing=persona, to=kim, level="view")
    with pytest.raises(Denied, match="may not assign tools to researcher, which shared is"):
        members_change(by=User.objects.get(pk=kim.pk), collection=made, add=[echo])
    # To take one out gives nobody anything.
    members_change(by=kim, collection=made, remove=tools("hash"))
    assert not made.members.exists()
    right_give(by=admin, thing=persona, to=kim, level="manage")
    members_change(by=User.objects.get(pk=kim.pk), collection=made, add=[echo])
    assert call("echo", {"text": "a"}).status_code == 200


def test_a_team_keeps_its_persona_from_who_fills_what_it_has(
    admin: User, persona: Persona, published: None
) -> None:
    """A person with all of an admin's rights but that to reach everything; the persona's name is not told."""
    kim = User.objects.create_user("kim")
    kim.user_permissions.set(Permission.objects.exclude(codename="reach_everything"))
    made = collection_create(by=admin, name="shared")
    has(persona, "shared", admin)
    core = team_create(by=admin, name="core")
    team_set(by=admin, thing=persona, team=core)
    with pytest.raises(Denied) as refused:
        members_change(by=User.objects.get(pk=kim.pk), collection=made, add=tools("echo"))
    assert "researcher" not in str(refused.value.message)
    assert not made.members.exists()
    team_join(by=admin, team=core, person=kim)
    members_change(by=User.objects.get(pk=kim.pk), collection=made, add=tools("echo"))


def test_an_agent_fills_no_collection_of_a_persona_that_its_person_may_not_assign_to(
    ask: Call, admin: User, persona: Persona, published: None
) -> None:
    kim = User.objects.create_user("kim")
    theirs, echo = persona_create(by=admin, name="theirs"), tools("echo")[0]
    made = collection_create(by=admin, name="shared")
    for thing in (made, echo, persona):
        right_give(by=admin, thing=thing, to=kim, level="manage")
    assignment_create(by=admin, persona=persona, tool=echo)
    has(theirs, "shared", admin)
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="manages")
    Token.objects.filter(persona=persona).update(responsible=kim)
    answer = ask("collections/shared/tools/echo", "PUT")
    assert (answer.status_code, made.members.count()) == (403, 0)
    assert "theirs" not in answer.content.decode()
    assert ask("collections/shared", "PATCH", tools=["echo"]).status_code == 403
    right_give(by=admin, thing=theirs, to=kim, level="manage")
    assert ask("collections/shared/tools/echo", "PUT").json()["tools"] == ["echo"]


def test_a_package_is_assigned_by_who_may_assign_each_of_its_tools(
    admin: User, persona: Persona, published: None
) -> None:
    kim = User.objects.create_user("kim")
    kim.user_permissions.set(Permission.objects.exclude(codename="reach_everything"))
    (echo,) = tools("echo")
    team_set(by=admin, thing=echo, team=team_create(by=admin, name="core"))
    kim = User.objects.get(pk=kim.pk)
    with pytest.raises(Denied, match="may not assign 1 of the tools"):
        assignment_create(by=kim, persona=persona, package=echo.package)
    assert not Assignment.objects.exists()
    assignment_create(by=kim, persona=persona, package=tools("calculate")[0].package)
    right_give(by=admin, thing=echo.package, to=kim, level="manage")
    assignment_create(by=User.objects.get(pk=kim.pk), persona=persona, package=echo.package)


@pytest.mark.parametrize("level", ["execute", "approve"])
def test_a_collection_has_no_right_that_would_mean_nothing(
    admin: User, viewer: User, client: Client, level: str
) -> None:
    """It is neither run nor approved; its tools are."""
    made = collection_create(by=admin, name="shared")
    with pytest.raises(InvalidRequest, match="One of view, manage"):
        right_give(by=admin, thing=made, to=viewer, level=level)
    assert not Permission.objects.filter(codename=f"{level}_collection").exists()
    client.force_login(admin)
    page = client.get("/sharing/collection/shared/").content.decode()
    assert f'value="{level}"' not in page
    assert 'value="manage"' in page
    refused = client.post("/sharing/collection/shared/", {"to": "viewer", "level": level})
    assert (refused.status_code, "One of view, manage" in refused.content.decode()) == (422, True)


def test_rights_that_meant_nothing_become_the_one_to_see(admin: User, viewer: User) -> None:
    """As a hub has them that comes from before."""
    made = collection_create(by=admin, name="shared")
    kind = ContentType.objects.get_for_model(Collection)
    team, codes = team_create(by=admin, name="core"), ("execute_collection", "approve_collection")
    for code in codes:
        permission = Permission.objects.create(codename=code, name=code, content_type=kind)
        CollectionPersonRight.objects.create(permission=permission, user=viewer, content_object=made)
    CollectionTeamRight.objects.create(permission=permission, group=team, content_object=made)
    import_module("registry.migrations.0012_collection_rights").forwards(apps, None)
    for rows in (CollectionPersonRight, CollectionTeamRight):
        assert list(rows.objects.values_list("permission__codename", flat=True)) == ["view_collection"]
    assert not Permission.objects.filter(codename__in=codes).exists()
    assert rights_on(User.objects.get(pk=viewer.pk), made).allows("registry.view_collection")


def test_a_collection_is_held_while_it_is_assigned_and_one_that_is_gone_is_not_assigned(
    admin: User, persona: Persona, published: None
) -> None:
    """Else a tool that one may not assign could come in after the look, or a deletion lose an assignment."""
    made, gone = (collection_create(by=admin, name=name, tools=tools("echo")) for name in ("made", "gone"))
    with CaptureQueriesContext(connection) as asked:
        assignment_create(by=admin, persona=persona, collection=made)
    statements = [one["sql"] for one in asked if 'FROM "registry_collection"' in one["sql"]]
    if connection.features.has_select_for_update:
        assert any("FOR UPDATE" in sql for sql in statements)
    collection_delete(by=admin, collection=Collection.objects.get(name="gone"))
    with pytest.raises(NotFound, match="There is no collection 'gone'"):
        assignment_create(by=admin, persona=persona, collection=gone)
    assert list(Assignment.objects.values_list("collection__name", flat=True)) == ["made"]


def test_a_package_that_goes_takes_its_tools_out_of_collections(
    admin: User, persona: Persona, published: None
) -> None:
    package = Package.objects.get(tools__name="echo")
    collection_create(by=admin, name="both", tools=tools("echo", "hash", "calculate"))
    has(persona, "both", admin)
    (personas, *_) = affected_by(package).needs
    assert personas.names == ("researcher",)
    members_of_package_remove(actor=actor_of(admin), package=package)
    left = CollectionMember.objects.values_list("tool__package__name", flat=True)
    assert package.name not in left
    event = Event.objects.filter(kind="collection.tools_changed").latest("pk")
    assert "echo" in event.canonical


def test_a_collection_has_a_size(admin: User, published: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MEMBERS_MAX >= 100
    monkeypatch.setattr("registry.collections.services.MEMBERS_MAX", 2)
    made = collection_create(by=admin, name="small", tools=tools("echo", "hash"))
    with pytest.raises(InvalidRequest, match="at most 2"):
        members_change(by=admin, collection=made, add=tools("calculate"))
    members_change(by=admin, collection=made, add=tools("calculate"), remove=tools("echo"))
    assert sorted(made.members.values_list("tool__name", flat=True)) == ["calculate", "hash"]


def test_a_token_for_a_persona_that_has_a_collection_which_the_agent_lacks_is_not_made(
    ask: Call, admin: User, persona: Persona, sets: dict[str, list[str]]
) -> None:
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="manages")
    other = persona_create(by=admin, name="other")
    has(other, "sessionTools", admin)
    answer = ask("personas/other/tokens", "POST", name="t")
    assert answer.status_code == 403
    assert "does not see" in answer.json()["detail"]
    assert token_create(by=admin, persona=other, name="t")
