"""The fixture packages use every member of a manifest, and what it declares is so in a call."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.core.management import call_command

from execution.features.approvals.decide import approval_grant
from execution.models import Approval
from registry.models import Tool
from security.models import User
from tests.effects.conftest import FOLDER, Ask, Perform, work_all
from tests.packages.load import package_files
from toolhub_sdk.checks.form import published_schema
from toolhub_sdk.cli.package_folder import files_read, manifest_load

HERE = {"context": {"session_id": "s"}}
# Of other runtimes, or of MCP's alone; tests of those runtimes use them. A `configCheck` needs a server
# (tests/registry/config/weather.py).
ELSEWHERE = {
    "http",
    "image",
    "maxFuel",
    "execution",
    "icons",
    "destructiveHint",
    "$schema",
    "_meta",
    "configCheck",
}
# What only people read.
READ = {"email", "url"}


def members(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    """The names of all members that a part of the published schema knows, and of those within."""
    if "$ref" in schema:
        schema = {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
    for name, member in schema.get("properties", {}).items():
        yield name
        if isinstance(member, Mapping) and name not in ELSEWHERE and name != "base":
            yield from members(member, root)
    for branch in schema.get("allOf", ()):
        yield from members(branch["then"], root)
    for inner in (schema.get("items"), schema.get("else")):
        if isinstance(inner, Mapping):
            yield from members(inner, root)


def used(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from used(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from used(inner)


def test_the_fixture_packages_use_every_member() -> None:
    schema = published_schema()
    known = {*members(schema, schema), *members(schema["$defs"]["contract"], schema)} - ELSEWHERE - READ
    manifests = [manifest_load(FOLDER, files_read(FOLDER)), package_files("fx_contract")[0]]
    assert known - set(used(manifests)) == set()


@pytest.mark.sandbox
def test_an_operator_installs_the_package_whose_self_test_tries_every_tool(
    transactional_db: None, admin: User
) -> None:
    call_command("package_install", str(FOLDER), "--yes", verbosity=0)
    in_use = Tool.objects.filter(package__name="fx", active__isnull=False).values_list("name", flat=True)
    assert set(in_use) == {each["name"] for each in manifest_load(FOLDER, files_read(FOLDER))["tools"]}


@pytest.mark.sandbox
def test_what_a_contract_declares_is_so(perform: Perform, ask: Ask, call: Any) -> None:
    told = perform("fx_every", {"note": "a\u202eb"}, **HERE)
    assert told["data"] == {
        "note": "ab",
        "unit": "C",
        "missing": ["The switch is on.", "The persona can sign."],
        "TZ": "UTC",
        "FX_GREETING": "hello",
    }
    assert (told["metadata"]["degraded"], told["metadata"]["sandbox"]) == (True, "isolated")
    assert ask("GET", "memory/working/fx.calls?session_id=s")["value"] == 1
    (event,) = ask("GET", "sessions/s/events")["events"]
    assert (event["event"], event["payload"]) == ("fx:every", {"by": "fx_every"})
    assert call("fx_every", {"note": "no"}).status_code == 422


@pytest.mark.sandbox
def test_a_call_that_a_person_approves(
    fx_published: Any, call: Any, ask: Ask, admin: User, settings: Any
) -> None:
    settings.FOUR_EYES = False
    asked = call("fx_asks", {"word": "a"}, HTTP_PREFER="respond-async").json()["metadata"]
    assert asked["status"] == "awaiting_approval"
    approval_grant(by=admin, approval_id=Approval.objects.get().pk, reason="A test.")
    work_all()
    assert ask("GET", f"runs/{asked['run_id']}")["data"] == "a"
