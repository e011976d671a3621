"""Teams and sharing on the console: row 14a, and what people see of it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import Event
from execution.sharing import _written
from registry.collections.services import collection_create
from registry.models import Package, Tool
from registry.policy.kept import capabilities_kept
from security.models import Persona, Token, User
from security.policy.catalogue import capabilities_note
from security.policy.limits import limit_create
from security.policy.models import Capability, Flag, Tier
from security.policy.services import restriction_create
from security.policy.tiers import flag_create, flag_require, tier_create, tier_set
from security.services import grant_create, persona_create, token_create
from security.sharing.services import right_give, right_take, team_set
from security.sharing.teams import team_create, team_join, team_part

pytestmark = pytest.mark.django_db
SHARING = "/sharing/package/toolhub-data/"


@pytest.fixture
def kim(db: None) -> User:
    """Somebody who may look, and is in no team."""
    person = User.objects.create_user("kim", password="correct horse battery")
    person.groups.add(Group.objects.get(name="viewer"))
    return person


def eyes_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def post(client: Client, path: str, **given: str) -> int:
    """The status; 302 where it was done."""
    return client.post(path, given).status_code


def test_a_second_person_without_the_right_on_a_tool(
    eyes: Client, admin: User, kim: User, persona: Persona, assign: Callable[[str], None], call: Any
) -> None:
    """Page 404, API 404; with the right both 200. The agent's calls stay as they are."""
    assign("toolhub-data")
    grant_create(by=admin, persona=persona, capability="toolhub:packages", reason="reads")
    token, text = token_create(by=admin, persona=persona, name="kim's")
    token.responsible = kim
    token.save()
    seen, headers = eyes_of(kim), {"HTTP_AUTHORIZATION": f"Bearer {text}"}
    pages = ("/tools/echo/", "/packages/toolhub-data/", SHARING)
    api = "/api/v1/packages/toolhub-data"

    def statuses() -> list[int]:
        answers = [seen.get(page).status_code for page in pages]
        return [*answers, Client().get(api, **headers).status_code]

    assert statuses() == [200, 200, 200, 200]
    assert post(eyes, "/teams/new/", name="data") == 302
    assert post(eyes, f"{SHARING}team/", team="data") == 302
    assert statuses() == [404, 404, 404, 404]
    assert b"/packages/toolhub-data/" not in seen.get("/search/?q=toolhub-data").content
    assert call("echo", {"text": "a"}).json()["success"] is True
    assert post(eyes, SHARING, to="kim", level="view") == 302
    assert statuses() == [200, 200, 200, 200]
    assert b"you were given the right" in seen.get(SHARING).content
    taken = f"{SHARING}view/person/{kim.pk}/"
    assert post(seen, taken) == 404
    assert post(eyes, taken) == 302
    assert statuses() == [404, 404, 404, 404]
    team = Group.objects.get(name="data")
    assert post(eyes, f"/teams/{team.pk}/", person="kim") == 302
    assert statuses() == [200, 200, 200, 200]
    # A member may what the roles say, and looks at the own team.
    assert seen.get(f"/teams/{team.pk}/").status_code == 200
    assert post(seen, f"/teams/{team.pk}/", person="admin") == 422
    assert post(seen, "/tools/echo/edit/", tags="a") == 404
    kinds = set(Event.objects.filter(kind__contains="right_").values_list("kind", flat=True))
    assert kinds == {"package.right_given", "package.right_taken"}


def test_without_a_role_a_right_opens_just_that_tool(eyes: Client, viewer: User, published: None) -> None:
    seen = eyes_of(viewer)
    assert seen.get("/tools/").status_code == 404
    assert post(eyes, "/sharing/tool/echo/", to="viewer", level="view") == 302
    page = seen.get("/tools/")
    assert [tool.name for tool in page.context["page"].rows] == ["echo"]
    assert [seen.get(f"/tools/{name}/").status_code for name in ("echo", "hash")] == [200, 404]
    assert [entry["url"] for entry in page.context["navigation"]][:2] == ["/", "/tools/"]


def test_to_try_a_tool_takes_the_right_on_tool_and_persona(
    eyes: Client, viewer: User, persona: Persona, assign: Callable[[str], None]
) -> None:
    assign("echo")
    seen = eyes_of(viewer)
    tried = {"persona": "researcher", "arguments": '{"text": "a"}', "act": "run"}
    assert post(eyes, "/sharing/tool/echo/", to="viewer", level="execute") == 302
    answer = seen.post("/tools/echo/try/", tried)
    assert answer.status_code == 422
    assert b"There is no persona" in answer.content
    assert post(eyes, "/sharing/persona/researcher/", to="viewer", level="execute") == 302
    assert seen.post("/tools/echo/try/", tried).status_code == 302


def test_pages_tell_whose_it_is_and_what_one_may(eyes: Client, kim: User, published: None) -> None:
    assert post(eyes, "/teams/new/", name="data") == 302
    assert post(eyes, f"{SHARING}team/", team="data") == 302
    assert post(eyes, SHARING, to="team:data", level="manage") == 302
    assert post(eyes, "/sharing/tool/echo/", to="kim", level="approve") == 302
    assert b"It belongs to" in eyes.get("/tools/echo/").content
    held = eyes.get("/people/kim/").content
    assert b"/sharing/tool/echo/" in held
    assert b"approve and deny its calls" in held
    assert b"/sharing/tool/echo/" in eyes_of(kim).get("/account/").content
    team = Group.objects.get(name="data")
    owned = eyes.get(f"/teams/{team.pk}/").content
    assert b"/packages/toolhub-data/" in owned
    assert post(eyes, f"/teams/{team.pk}/delete/") == 302
    assert Group.objects.filter(pk=team.pk).exists()
    refused = eyes.post(SHARING, {"to": "team:nobody", "level": "view"})
    assert refused.status_code == 422
    assert b"no such team" in refused.content


def test_names_of_what_a_team_keeps_are_read_nowhere_else(
    eyes: Client, admin: User, persona: Persona, assign: Callable[[str], None], client: Client
) -> None:
    """By a person who may do all but reach everything, on pages and with their agent over REST."""
    kept, about_it = "current_time", {"by": admin, "reason": "r"}
    assign(kept)
    secret = persona_create(by=admin, name="secretive")
    grant_create(persona=secret, capability="hidden:thing", **about_it)
    capabilities_note(["hidden:thing", "open:thing"])
    grant_create(persona=persona, capability="approved:current_time", **about_it)
    restriction_create(persona=persona, tool=kept, **about_it)
    wishes: dict[str, Any] = {"kind": "quota", "measure": "calls", "amount": 5, "window_s": 60}
    limit_create(by=admin, persona=persona, tool=kept, **wishes)
    flag, gold = flag_create(by=admin, name="beta", state="on"), tier_create(by=admin, name="gold")
    flag_require(by=admin, tool=kept, flag=flag)
    tier_set(by=admin, persona=secret, tier=gold)
    team = Group.objects.create(name="owners")
    Tool.objects.filter(name=kept).update(team=team)
    Persona.objects.filter(pk=secret.pk).update(team=team)
    lee = User.objects.create_user("lee")
    lee.user_permissions.set(Permission.objects.exclude(codename="reach_everything"))
    manager = persona_create(by=admin, name="manager")
    grant_create(persona=manager, capability="toolhub:personas", **about_it)
    token, text = token_create(by=admin, persona=manager, name="lee's")
    Token.objects.filter(pk=token.pk).update(responsible=lee)
    seen = eyes_of(lee)
    bearer: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {text}"}
    assert capabilities_kept(User.objects.get(pk=lee.pk)) == {"approved:current_time", "hidden:thing"}
    catalogue = {row.name: row.pk for row in Capability.objects.all()}
    pages = [
        *("/audit/", "/personas/researcher/", "/policy/", "/policy/limits/", "/policy/matrix/"),
        *("/policy/capabilities/", "/policy/capabilities/options/?capability=t", "/policy/flags/beta/"),
        *("/policy/flags/beta/delete/", "/policy/tiers/gold/delete/", "/schedules/", "/"),
        *(f"/audit/{pk}/" for pk in Event.objects.values_list("pk", flat=True)),
        f"/policy/capabilities/{catalogue['hidden:thing']}/",
    ]
    for page in pages:
        assert not _tells(seen.get(page).content), page
        assert page == "/" or "/audit/" in page or seen.get(page).status_code in {200, 404}
    for page in ("/policy/matrix/", "/policy/capabilities/", "/audit/"):
        assert _tells(eyes.get(page).content), page
    # What names nothing that is kept stays: with or without a member that could.
    told = seen.get("/audit/").content
    assert all(kind in told for kind in (b"flag.created", b"tier.created", b"token.created"))
    assert b"open:thing" in seen.get("/policy/capabilities/").content
    for method, path in (
        *(("GET", path) for path in ("personas/researcher", "personas/researcher/grants", "flags", "limits")),
        *(("GET", path) for path in ("capabilities/catalogue", "restrictions", "tiers")),
        ("DELETE", "flags/beta"),
        ("PATCH", "flags/beta"),
        ("DELETE", "tiers/gold"),
    ):
        answer = client.generic(method, f"/api/v1/{path}", b'{"state":"on"}', content_type="", **bearer)
        assert answer.status_code in {200, 409}, (path, answer.content)
        assert not _tells(answer.content), (path, answer.content)
    for page in ("/policy/flags/beta/delete/", "/policy/tiers/gold/delete/"):
        assert not _tells(seen.post(page, follow=True).content), page
    assert Flag.objects.filter(pk=flag.pk).exists()
    assert Tier.objects.filter(pk=gold.pk).exists()


def _tells(page: bytes) -> bool:
    return any(name in page for name in (b"current_time", b"hidden:thing", b"secretive"))


def test_pages_are_filtered_by_as_many_queries_however_much_is_kept(
    eyes: Client, kim: User, persona: Persona, assign: Callable[[str], None], call: Any
) -> None:
    """No query for each row; and for whom nothing is kept one more than before, with the permissions' two."""
    assign("toolhub-data")
    call("echo", {"text": "a"})
    team, names = Group.objects.create(name="data"), list(Tool.objects.values_list("name", flat=True))
    places = ("/", "/tools/", "/packages/", "/personas/", "/runs/", "/policy/", "/audit/", "/search/?q=e")

    def counted(client: Client) -> list[int]:
        found = []
        for place in places:
            with CaptureQueriesContext(connection) as captured:
                assert client.get(place).status_code == 200
            found.append(len(captured))
        return found

    seen = eyes_of(kim)
    counted(seen)
    none_kept, admins = counted(seen), counted(eyes)
    more = dict(zip(places, [a - b for a, b in zip(none_kept, admins, strict=True)], strict=True))
    # The audit leaves out installations of others that are not published yet, in any hub.
    assert more.pop("/audit/") <= 4
    assert max(more.values()) <= 3, more
    Tool.objects.filter(name__in=names[:2]).update(team=team)
    # What they were given beyond their teams is looked up; where nothing was, it is not.
    assert post(eyes, f"/sharing/tool/{names[1]}/", to="kim", level="view") == 302
    one_kept = counted(seen)
    Tool.objects.filter(name__in=names[:-1]).update(team=team)
    for name in names[2:3]:
        assert post(eyes, f"/sharing/tool/{name}/", to="kim", level="view") == 302
    assert counted(seen) == one_kept
    assert max(one_kept) <= 15
    assert [tool.name for tool in seen.get("/tools/").context["page"].rows] == sorted(
        [*names[1:3], names[-1]]
    )


def test_a_right_on_a_collection_alone_gives_no_runs(
    admin: User, kim: User, assign: Callable[[str], None], call: Any
) -> None:
    """What is looked up beyond their teams is of tools and personas; of these there is none."""
    assign("toolhub-data")
    call("echo", {"text": "a"})
    box = collection_create(by=admin, name="box", tools=list(Tool.objects.filter(name="echo")))
    team_set(by=admin, thing=Tool.objects.get(name="echo"), team=team_create(by=admin, name="data"))
    right_give(by=admin, thing=box, to=kim, level="view")
    page = eyes_of(kim).get("/")
    assert page.status_code == 200
    assert (page.context["latest"], page.context["busiest"]) == ([], [])


def test_what_is_kept_is_asked_anew_though_its_statement_is_written_once(
    admin: User, kim: User, assign: Callable[[str], None], call: Any
) -> None:
    """Of two who read by turns each sees their own, at the request after each change."""
    assign("toolhub-data")
    call("echo", {"text": "a"})
    tool, team = Tool.objects.get(name="echo"), team_create(by=admin, name="data")
    lee = User.objects.create_user("lee")
    lee.groups.set(kim.groups.all())
    places, readers = ("/audit/?q=echo", "/runs/", "/"), {"kim": eyes_of(kim), "lee": eyes_of(lee)}

    def seers() -> set[str]:
        """Who sees the tool's run everywhere; nobody sees it in one place alone."""
        found = set()
        for _ in range(2):
            for name, client in readers.items():
                told = {
                    b">echo<" in client.get(place).content.replace(b"tool echo", b"echo") for place in places
                }
                assert len(told) == 1, name
                found |= {name} if told == {True} else set()
        return found

    assert seers() == {"kim", "lee"}
    team_set(by=admin, thing=tool, team=team)
    assert seers() == set()
    right_give(by=admin, thing=tool, to=kim, level="view")
    assert seers() == {"kim"}
    written = _written.cache_info().misses
    assert seers() == {"kim"}
    assert _written.cache_info().misses == written
    right_take(by=admin, thing=tool, to=kim, level="view")
    team_join(by=admin, team=team, person=lee)
    assert seers() == {"lee"}
    team_part(by=admin, team=team, person=lee)
    assert seers() == set()
    team_set(by=admin, thing=tool, team=None)
    assert seers() == {"kim", "lee"}


def test_a_team_that_owns_something_is_not_asked_away(eyes: Client, admin: User, published: None) -> None:
    team = team_create(by=admin, name="data")
    team_set(by=admin, thing=Package.objects.get(name="toolhub-data"), team=team)
    body = eyes.get(f"/teams/{team.pk}/delete/").content.decode()
    assert "It owns 1 package" in body
    assert "Delete it" not in body
    team_set(by=admin, thing=Package.objects.get(name="toolhub-data"), team=None)
    assert "Delete it" in eyes.get(f"/teams/{team.pk}/delete/").content.decode()
