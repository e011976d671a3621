"""Which release comes in use at a review: a newer one, and nothing else without a choice."""

import html
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from registry.installations.answers import installation_view
from registry.installations.approval import installation_approve
from registry.installations.models import Installation
from registry.installations.review_text import review_text
from registry.installations.services import installation_get
from registry.installations.worker import installations_work
from registry.models import Package, Release, Tool
from security.models import User
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)
# Examples are tried by tests of the self-test; here they would take time only.
PLAIN = packages.tool(examples=[])

# In use, offered, and whether it replaces that one unless the reviewer chooses.
CASES: list[tuple[str | None, str, bool, str]] = [
    (None, "1.0.0", True, ""),
    (None, "1.0.0-rc.1", False, "1.0.0-rc.1 is a pre-release."),
    ("1.9.0", "1.10.0", True, ""),
    ("1.10.0", "1.9.0", False, "1.9.0 is older than 1.10.0, which is in use."),
    ("9.0.0", "10.0.0", True, ""),
    ("10.0.0", "9.9.9", False, "9.9.9 is older than 10.0.0, which is in use."),
    ("1.0.0", "2.0.0-rc.1", False, "2.0.0-rc.1 is a pre-release."),
    ("2.0.0-rc.1", "2.0.0-rc.2", False, "2.0.0-rc.2 is a pre-release."),
    ("2.0.0-rc.1", "2.0.0", True, ""),
    ("2.0.0", "2.0.0-rc.9", False, "2.0.0-rc.9 is older than 2.0.0, which is in use."),
]


def used() -> str | None:
    active = Package.objects.get(name="greetings").active
    return active.version if active else None


def publish(admin: User, one: Installation, **choices: Any) -> Installation:
    installation_approve(by=admin, installation=one, digest=one.digest, **choices)
    installations_work()
    return installation_get(str(one.pk))


@pytest.mark.parametrize(("before", "version", "replaces", "why"), CASES)
def test_only_a_newer_release_comes_in_use_without_a_choice(
    admin: User, fetch: Install, before: str | None, version: str, replaces: bool, why: str
) -> None:
    if before:
        publish(admin, fetch(version=before, tools=[PLAIN]), activate=True)
    one = fetch(version=version, tools=[PLAIN])
    eyes = Client()
    eyes.force_login(admin)
    page = eyes.get(reverse("installation", args=[one.pk]))
    assert page.context["form"]["activate"].value() is replaces
    assert (why in html.unescape(page.content.decode())) is True
    assert publish(admin, one).status == "published"
    assert used() == (version if replaces else before)
    assert Tool.objects.get(name="greet").versions.filter(version=version).exists()
    said = " ".join(one.lines.values_list("text", flat=True))
    assert f"{used() or 'No release'} of greetings is in use." in said


def test_a_reviewer_may_choose_an_older_release_or_a_pre_release(admin: User, fetch: Install) -> None:
    publish(admin, fetch(version="1.10.0", tools=[PLAIN]))
    publish(admin, fetch(version="1.9.0", tools=[PLAIN]), activate=True)
    assert used() == "1.9.0"
    publish(admin, fetch(version="2.0.0-rc.1", tools=[PLAIN]), activate=True)
    assert used() == "2.0.0-rc.1"


def test_a_reviewer_may_keep_the_first_release_out_of_use(admin: User, fetch: Install) -> None:
    publish(admin, fetch(version="1.0.0", tools=[PLAIN]), activate=False)
    assert used() is None
    eyes = Client()
    eyes.force_login(admin)
    for name, args in (("package", ["greetings"]), ("packages", []), ("release_compare", ["greetings"])):
        assert eyes.get(reverse(name, args=args)).status_code == 200, name
    eyes.post(reverse("release_activate", args=["greetings", "1.0.0"]))
    assert used() == "1.0.0"


def test_a_release_that_came_in_use_since_the_review_is_not_replaced_by_an_older_one(
    admin: User, fetch: Install
) -> None:
    publish(admin, fetch(version="1.8.0", tools=[PLAIN]))
    # Workers take the one first that was brought first.
    for one in [fetch(version="1.10.0", tools=[PLAIN]), fetch(version="1.9.0", tools=[PLAIN])]:
        installation_approve(by=admin, installation=one, digest=one.digest, activate=True)
    installations_work()
    assert set(Release.objects.filter(package__name="greetings").values_list("version", flat=True)) == {
        "1.8.0",
        "1.9.0",
        "1.10.0",
    }
    assert used() == "1.10.0"


def test_the_api_says_what_it_proposes(admin: User, fetch: Install) -> None:
    publish(admin, fetch(version="1.10.0", tools=[PLAIN]))
    one = fetch(version="1.9.0", tools=[PLAIN])
    assert installation_view(one)["activation"] == {
        "proposed": False,
        "reason": "1.9.0 is older than 1.10.0, which is in use.",
    }


def test_build_metadata_alone_is_refused_before_the_review(admin: User, fetch: Install) -> None:
    publish(admin, fetch(version="1.0.0+b1", tools=[PLAIN]))
    one = fetch(version="1.0.0+b2", tools=[PLAIN])
    assert one.status == "failed"
    assert one.error is not None
    assert one.error["code"] == "ALREADY_REGISTERED"
    assert "1.0.0+b2 differs from 1.0.0+b1 in its build metadata only" in one.error["message"]


def test_the_command_keeps_an_older_release_out_of_use_and_names_the_option(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], transactional_db: None
) -> None:
    for number, (version, options, expected) in enumerate(
        [
            ("1.10.0", [], "1.10.0"),
            ("1.9.0", [], "1.10.0"),
            ("1.8.0", ["--activate"], "1.8.0"),
            ("1.11.0", ["--no-activate"], "1.8.0"),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in packages.files(version, tools=[PLAIN]).items():
            (folder / name).write_bytes(content)
        call_command("package_install", str(folder), "--yes", *options)
        assert used() == expected
        if version == "1.9.0":
            assert "1.9.0 is older than 1.10.0, which is in use." in capsys.readouterr().out
    call_command("release_activate", "greetings", "1.10.0")
    call_command("release_activate", "greetings", "1.9.0")
    assert "greetings 1.9.0 is in use. Rolled back from 1.10.0." in capsys.readouterr().out


@pytest.mark.parametrize(("span", "fits"), [("^1.9", True), ("~1.9.0", False), (">=2.0", False)])
def test_the_review_says_whether_a_needed_tool_s_version_fits(
    admin: User, fetch: Install, span: str, fits: bool
) -> None:
    publish(admin, fetch(version="1.10.0", tools=[PLAIN]))
    one = fetch(
        name="callers", tools=[packages.tool("say", examples=[])], dependencies={"tools": {"greet": span}}
    )
    assert one.report["needs"] == [{"tool": "greet", "range": span, "version": "1.10.0", "fits": fits}]
    assert ("which does not fit" in review_text(one)) is not fits
