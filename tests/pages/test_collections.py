"""The pages of collections: made, filled, emptied, assigned, shared and deleted by a person."""

from collections.abc import Callable

import pytest
from django.test import Client

from audit.models import Event
from registry.collections.models import Collection
from registry.collections.services import collection_create
from registry.models import Assignment, Tool
from security.models import Persona, User
from security.sharing.services import right_give, team_set
from security.sharing.teams import team_create

pytestmark = pytest.mark.django_db


def members(name: str) -> list[str]:
    rows = Collection.objects.get(name=name).members.order_by("tool__name")
    return list(rows.values_list("tool__name", flat=True))


def test_a_collection_is_made_filled_assigned_emptied_and_deleted(
    eyes: Client, persona: Persona, published: None
) -> None:
    assert "No collections yet" in eyes.get("/collections/").content.decode()
    form = {"name": "research", "description": "What researchers use", "tools": "echo\nhash"}
    assert eyes.post("/collections/new/", form)["Location"] == "/collections/research/"
    assert members("research") == ["echo", "hash"]
    assert eyes.post("/collections/research/tools/", {"tools": "calculate, echo"}).status_code == 302
    assert members("research") == ["calculate", "echo", "hash"]
    assert "<option" in eyes.get("/collections/research/addable/?tools=current").content.decode()
    page = eyes.get("/collections/research/").content.decode()
    assert "No persona that you see" in page
    assert "collection:research" in eyes.get("/personas/researcher/assignable/?target=res").content.decode()
    assigned = eyes.post("/personas/researcher/assignments/", {"target": "collection:research"})
    assert assigned.status_code == 302
    assert "researcher" in eyes.get("/collections/research/").content.decode()
    for shown in ("/personas/researcher/", "/tools/echo/", "/collections/?q=researchers", "/search/?q=resea"):
        assert "/collections/research/" in eyes.get(shown).content.decode(), shown
    question = eyes.get("/collections/research/tools/echo/remove/").content.decode()
    assert "1 persona has it: researcher." in question
    assert eyes.post("/collections/research/tools/echo/remove/").status_code == 302
    assert eyes.post("/collections/research/tools/echo/remove/").status_code == 404
    assert members("research") == ["calculate", "hash"]
    assert eyes.post("/collections/research/describe/", {"description": "For more"}).status_code == 302
    assert "For more" in eyes.get("/collections/").content.decode()
    row = Assignment.objects.get()
    taken = eyes.get(f"/personas/researcher/assignments/{row.pk}/remove/").content.decode()
    assert "Take research from researcher?" in taken
    assert "1 persona has it" in eyes.get("/collections/research/delete/").content.decode()
    assert eyes.post("/collections/research/delete/").status_code == 302
    assert not Collection.objects.exists()
    assert not Assignment.objects.exists()
    kinds = set(Event.objects.filter(subject_kind="collection").values_list("kind", flat=True))
    assert kinds == {f"collection.{act}" for act in ("created", "tools_changed", "described", "deleted")}


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"name": "new"}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "held"}, "name"),
        ({"name": "fine", "tools": "echo no_such"}, "tools"),
        ({"name": "fine", "description": "x" * 301}, "description"),
    ],
)
def test_a_collection_that_does_not_fit_is_told_at_its_field(
    eyes: Client, admin: User, published: None, form: dict[str, str], field: str
) -> None:
    collection_create(by=admin, name="held")
    answer = eyes.post("/collections/new/", form)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert Collection.objects.count() == 1


def test_an_empty_collection_says_what_to_do(eyes: Client, admin: User) -> None:
    collection_create(by=admin, name="empty")
    assert "Add the first tool below" in eyes.get("/collections/empty/").content.decode()
    answer = eyes.post("/collections/empty/tools/", {"tools": "no_such"})
    assert (answer.status_code, "There is no tool" in answer.content.decode()) == (422, True)


def test_who_may_look_may_not_change(eyes_with: Callable[..., Client], admin: User, published: None) -> None:
    collection_create(by=admin, name="box", tools=[Tool.objects.get(name="echo")])
    looks = eyes_with("registry.view_collection", "registry.view_tool")
    page = looks.get("/collections/box/").content.decode()
    assert "echo" in page
    assert "Take out" not in page
    events = Event.objects.count()
    for path in ("new/", "box/describe/", "box/tools/", "box/tools/echo/remove/", "box/delete/"):
        assert looks.post(f"/collections/{path}", {"name": "x", "tools": "hash"}).status_code == 404
    assert (members("box"), Event.objects.count()) == (["echo"], events)


def test_what_a_team_keeps_is_not_there_for_others_and_its_tools_are_counted_only(
    eyes_with: Callable[..., Client], admin: User, published: None
) -> None:
    ours, open_to_all = (collection_create(by=admin, name=name) for name in ("ours", "shared"))
    core = team_create(by=admin, name="core")
    echo = Tool.objects.get(name="echo")
    team_set(by=admin, thing=ours, team=core)
    team_set(by=admin, thing=echo, team=core)
    for tool in (echo, Tool.objects.get(name="hash")):
        open_to_all.members.create(tool=tool, added_by=admin)
    others = eyes_with(
        "registry.view_collection",
        "registry.view_tool",
        "registry.change_collection",
        "registry.add_assignment",
    )
    assert others.get("/collections/ours/").status_code == 404
    assert "ours" not in others.get("/collections/").content.decode()
    page = others.get("/collections/shared/").content.decode()
    assert "hash" in page
    assert "echo" not in page
    assert "1 more belongs to teams" in page
    assert others.get("/collections/shared/tools/echo/remove/").status_code == 404
    assert "echo" not in others.get("/collections/shared/addable/?tools=e").content.decode()
    answer = others.post("/collections/shared/tools/", {"tools": "echo"})
    assert answer.status_code == 422
    # A right on the one collection opens the page to who has no role at all.
    alone = eyes_with()
    right_give(by=admin, thing=ours, to=User.objects.latest("pk"), level="manage")
    assert alone.get("/collections/ours/").status_code == 200
    assert alone.get("/collections/shared/").status_code == 404
    assert alone.post("/collections/ours/tools/", {"tools": "hash"}).status_code == 422
    assert members("ours") == []
