"""An installation goes through its steps, waits for its review, and ends with a release or a reason."""

import json
from typing import Any

import pytest

from audit.models import Event
from registry.installations.models import Installation, Staged
from registry.models import Archive, Release, Tool
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)


def names_done(one: Installation) -> list[str]:
    return [step["name"] for step in one.steps if step["status"] == "done"]


def test_it_waits_for_its_review_with_what_a_careful_person_needs(fetch: Install) -> None:
    one = fetch()
    assert one.status == "awaiting_review", one.error
    assert names_done(one) == ["fetch", "verify", "inspect"]
    assert (one.package, one.version) == ("greetings", "1.0.0")
    [tool] = one.report["tools"]
    assert tool["name"] == "greet"
    assert tool["inputSchema"]["required"] == ["name"]
    assert one.report["compared_with"] is None
    assert not Release.objects.filter(package__name="greetings").exists()
    assert not Tool.objects.filter(name="greet").exists()


@pytest.mark.parametrize("missing", ["name", "tools", "runtime", "version"])
def test_a_manifest_that_lacks_something_fails_with_a_pointer_to_it(fetch: Install, missing: str) -> None:
    one = fetch(**{missing: None}) if missing != "version" else fetch(packages.zipped("1.0"))
    assert one.status == "failed"
    assert one.error["code"] == "INVALID_MANIFEST"
    assert f"/{missing}" in [item["pointer"] for item in one.error["details"]["errors"]]
    assert one.step == "verify"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": None}, "/tools/0/name"),
        ({"description": None}, "/tools/0/description"),
        ({"inputSchema": None}, "/tools/0/inputSchema"),
        ({"inputSchema": {"type": "array"}}, "/tools/0/inputSchema/type"),
        ({"entry": None}, "/runtime/entry"),
    ],
)
def test_a_tool_needs_name_description_object_schema_and_something_to_execute(
    fetch: Install, change: dict[str, Any], pointer: str
) -> None:
    tool = {**packages.tool(), **{name: value for name, value in change.items() if name != "entry"}}
    tool = {name: value for name, value in tool.items() if value is not None}
    runtime = {"type": "python"} if "entry" in change else packages.manifest()["runtime"]
    one = fetch(tools=[tool], runtime=runtime)
    assert (one.status, one.error["code"]) == ("failed", "INVALID_MANIFEST")
    assert pointer in [item["pointer"] for item in one.error["details"]["errors"]], one.error
    assert not Tool.objects.exists()


def test_a_package_without_a_manifest_fails(fetch: Install) -> None:
    one = fetch(packages.zip_write({"a.py": b"pass"}))
    assert (one.status, one.error["code"]) == ("failed", "INVALID_MANIFEST")


def test_the_same_content_gives_the_same_digest_and_other_content_another(fetch: Install) -> None:
    assert fetch().digest == fetch().digest
    assert fetch().digest != fetch(code=packages.GREET + "\n").digest


def test_what_is_published_already_is_refused_and_other_content_under_its_version_too(
    install: Install,
) -> None:
    assert install().status == "published"
    again, other = install(), install(code=packages.GREET + "\n")
    assert [one.status for one in (again, other)] == ["failed", "failed"]
    assert [one.error["code"] for one in (again, other)] == ["ALREADY_REGISTERED"] * 2
    assert "other content" in other.error["message"]
    assert Release.objects.filter(package__name="greetings").count() == 1


def test_published_it_has_its_tools_and_nothing_staged(install: Install) -> None:
    one = install()
    assert one.status == "published", one.error
    assert names_done(one) == ["fetch", "verify", "inspect", "review", "prepare", "self_test", "publish"]
    tool = Tool.objects.select_related("active__release").get(name="greet")
    assert tool.active is not None
    assert tool.active.release.digest == one.digest
    assert tool.active.entry == "greetings:greet"
    assert Archive.objects.filter(pk=one.digest).exists()
    assert not Staged.objects.exists()
    kinds = list(Event.objects.order_by("id").values_list("kind", flat=True))
    assert kinds == ["installation.started", "installation.approved", "release.published"]
    data = json.loads(Event.objects.get(kind="release.published").canonical)["data"]
    assert data["digest"] == one.digest


def test_a_tool_that_breaks_its_promise_is_not_published(install: Install) -> None:
    one = install(code=packages.GREET.replace("Hello", "Bye"))
    assert (one.status, one.step, one.error["code"]) == ("failed", "self_test", "SELF_TEST_FAILED")
    assert not Tool.objects.filter(name="greet").exists()
    assert any("Bye, Ada!" in line.text for line in one.lines.all())


def test_a_deterministic_tool_that_changes_its_mind_is_not_published(install: Install) -> None:
    code = "import os\n" + packages.GREET.replace('return f"Hello, {name}!"', "return os.urandom(4).hex()")
    one = install(
        code=code,
        tools=[packages.tool(examples=[{"arguments": {"name": "Ada"}}], determinism="deterministic")],
    )
    assert (one.status, one.error["code"]) == ("failed", "SELF_TEST_FAILED")
