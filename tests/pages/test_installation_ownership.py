"""An installation is seen by the person who started it and their team until it is published."""

from typing import Any

import orjson
import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from audit.selectors import events_list
from registry.installations.four_eyes import eyes_of
from registry.installations.models import Installation
from registry.installations.services import installation_get, installation_start
from registry.installations.source_form import Source
from registry.installations.worker import installations_work
from registry.models import Package
from security.models import Persona, User
from security.services import grant_create, persona_create, token_create
from security.sharing.services import team_set
from tests.installations import packages
from tests.installations.conftest import Install, fetch, install

__all__ = ["fetch", "install"]
pytestmark = pytest.mark.django_db(transaction=True)
MARK = "mark-7f3a"


PAGES = ("installation", "installation_zip", "installation_cancel")
READABLE = dict.fromkeys((*PAGES, "", "/log", "lists", "audit"), 200)
HIDDEN = dict.fromkeys(READABLE, 404)


@pytest.fixture
def publishers(admin: User) -> dict[str, User]:
    """Two publishers of the team `data`, and one of another team."""
    role = Group.objects.get(name="publisher")
    people = {}
    for name, team in (("member", "data"), ("colleague", "data"), ("outsider", "sales")):
        people[name] = User.objects.create_user(name)
        people[name].groups.set([role, Group.objects.get_or_create(name=team)[0]])
    return people


def fetched(by: User, content: bytes, **more: Any) -> Installation:
    one = installation_start(by=by, source=Source("upload", f"{MARK}.zip"), content=content, **more)
    installations_work()
    return installation_get(str(one.pk))


def agent_of(person: User) -> dict[str, str]:
    """Headers of an agent that manages packages on the person's responsibility."""
    admin, name = User.objects.get(username="admin"), f"of-{person}"
    persona = Persona.objects.filter(name=name).first() or persona_create(by=admin, name=name)
    if not persona.grants.exists():
        grant_create(by=admin, persona=persona, capability="toolhub:packages", reason="test")
    row, token = token_create(by=admin, persona=persona, name="t")
    row.responsible = person
    row.save()
    return {"HTTP_AUTHORIZATION": f"Bearer {token}"}


def statuses(person: User, one: Installation) -> dict[str, int]:
    """What the person gets from each address of the installation, pages and API, and whether lists name it."""
    client, agent = Client(), agent_of(person)
    client.force_login(person)
    found = {name: client.get(reverse(name, args=[one.pk])).status_code for name in PAGES}
    for path in ("", "/log"):
        found[path] = client.get(f"/api/v1/installations/{one.pk}{path}", **agent).status_code
    lists = (reverse("installations"), "/api/v1/installations")
    listed = any(str(one.pk).encode() in client.get(path, **agent).content for path in lists)
    told = events_list({}, User.objects.get(pk=person.pk)).filter(subject_id=str(one.pk)).exists()
    return {**found, "lists": 200 if listed else 404, "audit": 200 if told else 404}


def acts(person: User, one: Installation) -> set[int]:
    """What the person's agent gets for each act."""
    client, agent, found = Client(), agent_of(person), set()
    for path in ("approve", "retry", "cancel"):
        body = {"digest": "0" * 64} if path == "approve" else {}
        answer = client.post(f"/api/v1/installations/{one.pk}/{path}", body, "application/json", **agent)
        found.add(answer.status_code)
    return found


def test_a_failed_manifest_of_a_teams_package_stays_with_the_team(
    admin: User, install: Install, request: pytest.FixtureRequest
) -> None:
    """The manifest could not be read, so no package is named: the installation belongs to the team all the same."""
    install()
    publishers = request.getfixturevalue("publishers")
    team_set(by=admin, thing=Package.objects.get(name="greetings"), team=Group.objects.get(name="data"))
    broken = packages.zipped("1.1.0", title=MARK, tools=[{"name": MARK}])
    one = fetched(publishers["member"], broken)
    assert (one.status, one.package) == ("failed", "")
    assert one.team == Group.objects.get(name="data")
    assert statuses(publishers["outsider"], one) == HIDDEN
    assert acts(publishers["outsider"], one) == {404}
    for name in ("member", "colleague"):
        assert statuses(publishers[name], one) == READABLE


def test_a_new_package_belongs_to_the_team_before_and_after_it_is_published(
    admin: User, publishers: dict[str, User]
) -> None:
    one = fetched(publishers["member"], packages.zipped("1.0.0", description=MARK))
    assert one.status == "awaiting_review"
    assert statuses(publishers["outsider"], one) == HIDDEN
    # The people named as reviewers are those who see it: an outsider could not.
    assert eyes_of(publishers["member"], one).others == ("admin", "colleague")
    client = Client()
    client.force_login(publishers["colleague"])
    assert client.post(reverse("installation", args=[one.pk]), {"digest": one.digest}).status_code == 302
    installations_work()
    assert Package.objects.get(name="greetings").team == Group.objects.get(name="data")
    assert statuses(publishers["outsider"], installation_get(str(one.pk))) == HIDDEN


def test_without_a_team_others_see_it_once_its_package_is_known(publishers: dict[str, User]) -> None:
    unread = fetched(publishers["member"], packages.zipped("1.0.0", tools=[{"name": MARK}]), team="")
    assert statuses(publishers["outsider"], unread) == HIDDEN
    known = fetched(publishers["member"], packages.zipped("1.0.0"), team="")
    assert statuses(publishers["outsider"], known) == READABLE


def test_the_owner_is_one_of_the_persons_teams(admin: User, publishers: dict[str, User]) -> None:
    member = publishers["member"]
    member.groups.add(Group.objects.create(name="design"))
    browser = Client()
    browser.force_login(member)
    form = browser.get(reverse("install")).context["form"]
    assert [value for value, _ in form.fields["team"].choices] == ["", "data", "design"]
    assert form.fields["team"].initial == "data"
    agent = agent_of(member)
    source = {"type": "git", "location": "https://code.example.org/a.git"}

    def owner(body: dict[str, Any]) -> Any:
        answer = browser.post("/api/v1/installations", orjson.dumps(body), "application/json", **agent)
        return answer.json()["team"] if answer.status_code == 202 else answer.json()["errors"]

    # In two teams, none is chosen for the person: the installation is theirs alone until its package is known.
    assert owner({"source": source}) is None
    assert owner({"source": source, "team": "design"}) == "design"
    assert owner({"source": source, "team": None}) is None
    refused = owner({"source": source, "team": "sales"})
    message = "'sales' is not one of your teams. Expected one of: data, design."
    assert refused == [{"pointer": "/team", "message": message}]
    sent = browser.post(
        "/api/v1/installations?team=data", packages.zipped("1.0.0"), "application/zip", **agent
    )
    assert sent.json()["team"] == "data"
