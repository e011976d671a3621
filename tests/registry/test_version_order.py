"""Every surface that lists or compares versions orders them by semver 2.0.0 §11."""

import random
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core.actors import SYSTEM
from core.errors import ToolHubError
from registry.models import Package, Release, ToolVersion
from registry.releases.activation import release_activate
from registry.releases.publish import release_publish
from registry.releases.selectors import releases_of
from registry.selectors import tool_versions
from security.models import Persona, User
from security.services import grant_create

# The example of semver 2.0.0 §11.4.4, with numbers that a comparison of texts or of ids gets wrong.
ORDERED = [
    "0.9.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.9.0",
    "1.10.0",
    "2.0.0-rc.1",
    "2.0.0-rc.2",
    "2.0.0-rc.10",
    "2.0.0",
    "10.0.0",
]
HIGHEST_FIRST = ORDERED[::-1]
USED = "1.9.0"


def manifest_of(version: str) -> dict[str, Any]:
    return {**Release.objects.filter(package__name="toolhub-data")[0].manifest, "version": version}


@pytest.fixture
def eyes(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def shuffled(assign: Any, admin: User) -> Package:
    """A package with every version, published in no order; 1.9.0 is in use."""
    assign("toolhub-data")
    package = Package.objects.get(name="toolhub-data")
    order = [one for one in ORDERED if not package.releases.filter(version=one).exists()]
    random.Random(7).shuffle(order)
    for version in order:
        release_publish(by=SYSTEM, manifest=manifest_of(version), files={}, activate=False)
    release_activate(by=admin, release=package.releases.get(version=USED))
    package.refresh_from_db()
    return package


def _cells(page: bytes, card: str) -> list[str]:
    part = re.search(rf'id="{card}".*?</table>', page.decode(), re.DOTALL)
    assert part is not None
    known = "|".join(re.escape(one) for one in sorted(ORDERED, key=len, reverse=True))
    return re.findall(rf"<td>\s*({known})\s", part[0])


def test_each_surface_lists_versions_highest_first(
    shuffled: Package,
    eyes: Client,
    client: Client,
    token_text: str,
    admin: User,
    persona: Persona,
    subtests: Any,
) -> None:
    grant_create(by=admin, persona=persona, capability="toolhub:packages", reason="CI publishes")

    def ask(path: str) -> Any:
        return client.get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {token_text}"}).json()

    compare = eyes.get(reverse("release_compare", args=["toolhub-data"]))
    package = ask("packages/toolhub-data")["releases"]
    surfaces = {
        "releases_of": [row["release"].version for row in releases_of(shuffled)],
        "tool_versions": [one.version for one in tool_versions(shuffled.tools.get(name="echo"))],
        "GET versions": [one["version"] for one in ask("tools/echo/versions")["versions"]],
        "GET package": [one["version"] for one in package],
        "page of the package": _cells(
            eyes.get(reverse("package", args=["toolhub-data"])).content, "releases"
        ),
        "page of the tool": _cells(eyes.get(reverse("tool", args=["echo"])).content, "versions"),
        "choices to compare": [value for value, _ in compare.context["afters"]],
    }
    for name, found in surfaces.items():
        with subtests.test(surface=name):
            assert found == HIGHEST_FIRST
    with subtests.test(surface="releases compared by default"):
        assert (compare.context["before"].version, compare.context["after"].version) == (USED, "10.0.0")
    with subtests.test(surface="relation to the release in use"):
        place = ORDERED.index(USED)
        related = {one["version"]: one["relation"] for one in package}
        assert [related[one] for one in ORDERED] == [
            *["older"] * place,
            "same",
            *["newer"] * (len(ORDERED) - place - 1),
        ]


def test_the_page_offers_a_roll_back_for_older_versions_only(
    shuffled: Package, eyes: Client, subtests: Any
) -> None:
    place = ORDERED.index(USED)
    page = eyes.get(reverse("package", args=["toolhub-data"])).content.decode()
    for index, version in enumerate(ORDERED):
        if version == USED:
            continue
        address = reverse("release_activate", args=["toolhub-data", version])
        with subtests.test(version=version):
            link = re.search(rf'<a[^>]*"{re.escape(address)}".*?</a>', page, re.DOTALL)
            question = eyes.get(address).content.decode()
            assert link is not None
            assert ("Roll back" in link[0], "Activate" in link[0]) == (index < place, index > place)
            assert (f"Roll back to toolhub-data {version}?" in question) is (index < place)
            assert (f"Activate toolhub-data {version}?" in question) is (index > place)


def test_a_line_and_a_filter_go_by_the_same_order(
    shuffled: Package, call: Any, client: Client, token_text: str, subtests: Any
) -> None:
    for spec, version in (("1", "1.10.0"), ("1.0", "1.0.0"), ("2", "2.0.0"), ("10", "10.0.0")):
        with subtests.test(spec=spec):
            assert call(f"echo@{spec}", {"text": "a"}).json()["metadata"]["version"] == version
    for index, version in enumerate(ORDERED):
        for name, admitted in (
            ("min_version", ORDERED.index(USED) >= index),
            ("max_version", ORDERED.index(USED) <= index),
        ):
            with subtests.test(filter=name, version=version):
                answer = client.get(
                    "/api/v1/tools",
                    {name: version, "pattern": "^echo$"},
                    headers={"Authorization": f"Bearer {token_text}"},
                ).json()
                assert bool(answer["tools"]) is admitted


def test_a_line_whose_highest_release_is_withdrawn_means_the_next_one(shuffled: Package, call: Any) -> None:
    ToolVersion.objects.filter(version="1.10.0").update(state="yanked")
    assert call("echo@1", {"text": "a"}).json()["metadata"]["version"] == "1.9.0"
    assert call("echo@1.10", {"text": "a"}).json()["error"]["code"] == "VERSION_YANKED"


@pytest.mark.parametrize(
    ("first", "second"),
    [("3.0.0+b1", "3.0.0+b2"), ("3.0.0", "3.0.0+b1"), ("3.0.0+b1", "3.0.0"), ("3.0.0-rc.1+a", "3.0.0-rc.1")],
)
def test_build_metadata_makes_no_new_version(published: None, first: str, second: str) -> None:
    release_publish(by=SYSTEM, manifest=manifest_of(first), files={}, activate=False)
    with pytest.raises(ToolHubError, match="build metadata") as refused:
        release_publish(by=SYSTEM, manifest=manifest_of(second), files={}, activate=False)
    assert (refused.value.code, refused.value.known.status) == ("ALREADY_REGISTERED", 409)
    assert not Release.objects.filter(version=second).exists()
