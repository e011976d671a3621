"""What somebody hears who brings in packages beside those that teams keep from them: that a name is taken."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from registry.installations.answers import installation_view
from registry.installations.approval import installation_approve
from registry.installations.models import Installation
from registry.installations.review_text import review_text
from registry.installations.selectors import installation_seen
from registry.installations.services import installation_start
from registry.installations.source_form import Source
from registry.installations.worker import installations_work
from registry.models import Package, Tool
from security.models import User
from security.sharing.services import right_give, team_set
from security.sharing.teams import team_create
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)
Bring = Callable[..., Installation]


@pytest.fixture
def kept(admin: User, install: Install) -> Iterator[Package]:
    """The package secret-works with the tool greet, kept by a team, and open, of which a tool is kept."""
    install(name="secret-works", title="Works", version="7.6.5")
    install(name="open", tools=[packages.tool("plain"), packages.tool("hidden_one")])
    package = Package.objects.get(name="secret-works")
    team = team_create(by=admin, name="core")
    for thing in (package, Tool.objects.get(name="hidden_one")):
        team_set(by=admin, thing=thing, team=team)
    right_give(by=admin, thing=package, to=User.objects.create_user("robin"), level="manage")
    yield package
    # Groups stay from test to test.
    Package.objects.update(team=None)
    Tool.objects.update(team=None)
    team.delete()


@pytest.fixture
def kim(kept: Package) -> User:
    """All of an admin's rights but that to reach everything, and in no team."""
    person = User.objects.create_user("kim", password="correct horse battery")
    person.user_permissions.set(Permission.objects.exclude(codename="reach_everything"))
    return User.objects.get(pk=person.pk)


@pytest.fixture
def bring(kim: User, kept: Package) -> Bring:
    """Brings a zip in as kim, as far as it goes."""

    def act(**more: object) -> Installation:
        person = User.objects.get(pk=kim.pk)
        one = installation_start(by=person, source=Source("upload", "x.zip"), content=packages.zipped(**more))
        installations_work()
        return installation_seen(str(one.pk), person)

    return act


def told(client: Client, kim: User, one: Installation) -> str:
    """All that kim reads of it: page, API and text."""
    client.force_login(kim)
    page = client.get(f"/installations/{one.pk}/")
    assert page.status_code == 200
    return f"{page.content.decode()} {installation_view(one)} {review_text(one) if one.report.get('tools') else ''}"


def test_a_package_of_a_name_that_is_kept_is_refused_and_who_tried_reads_why(
    bring: Bring, client: Client, kim: User
) -> None:
    one = bring(name="secret-works", version="9.0.0")
    assert one.status == "failed"
    text = told(client, kim, one)
    assert "There is a package secret-works already" in text
    for word in ("robin", "7.6.5", "core", "Works"):
        assert word not in text.replace("secret-works", ""), word
    assert Package.objects.get(name="secret-works").active.version == "7.6.5"  # type: ignore[union-attr]


def test_a_tools_name_that_is_kept_is_taken_and_nothing_says_by_what(
    bring: Bring, client: Client, kim: User, admin: User
) -> None:
    one = bring(name="mine")
    assert one.report["tools"][0]["clash"] == "another package"
    text = told(client, kim, one)
    assert "belongs to another package" in text
    assert "secret-works" not in text
    # Also where the name is taken only after the review.
    other = bring(name="mine", tools=[packages.tool("later")])
    Tool.objects.filter(name="greet").update(name="later")
    Installation.objects.filter(pk=other.pk).update(
        choices={"names": {}, "by": {"kind": "person", "id": "1", "name": "kim"}},
        status="queued",
        step="publish",
    )
    installations_work()
    other = installation_seen(str(other.pk), kim)
    assert (other.status, other.error["code"]) == ("failed", "ALREADY_REGISTERED")  # type: ignore[index]
    assert "secret-works" not in told(client, kim, other)


def test_a_package_that_asks_for_a_kept_tool_does_not_hear_its_version(
    bring: Bring, client: Client, kim: User, admin: User, kept: Package
) -> None:
    asked = {"name": "mine", "tools": [packages.tool("own")], "dependencies": {"tools": {"greet": "*"}}}
    one = bring(**asked)
    assert one.report["needs"] == [{"tool": "greet", "range": "*", "version": None}]
    assert "7.6.5" not in told(client, kim, one)
    right_give(by=admin, thing=kept, to=kim, level="view")
    two = bring(**asked | {"version": "2.0.0"})
    assert two.report["needs"] == [{"tool": "greet", "range": "*", "version": "7.6.5", "fits": True}]


def test_who_may_replace_a_packages_code_reads_it_whole(
    bring: Bring, admin: User, client: Client, kim: User
) -> None:
    """Nobody is to publish what they were not shown: so also a tool in it that a team keeps is named."""
    one = bring(name="open", version="2.0.0", tools=[packages.tool("plain")])
    assert {(change["kind"], change["tool"]) for change in one.report["difference"]} >= {
        ("removed", "hidden_one")
    }
    assert "hidden_one" in told(client, kim, one)
    installation_approve(by=admin, installation=one, digest=one.digest)
