"""Advice to authors: what each rule says, and that a good tool gets none."""

import copy
from typing import Any

import pytest
from django.contrib.auth.models import Group

from core.actors import SYSTEM
from registry.contract_words import _recovery
from registry.lint import warnings_of
from registry.lint.installed import _escalations, release_warnings
from registry.lint.providers import fits_of
from registry.models import Package
from registry.releases.publish import release_publish
from toolhub_sdk.lint.advice import advice_on
from toolhub_sdk.lint.contradictions import contradictions_in
from toolhub_sdk.package import CONTRACT

HERE = "/tools/0/_meta/io.toolhub~1contract"
GOOD: dict[str, Any] = {
    "name": "page_write",
    "description": "Writes a page to the file store and returns its address; an older page is overwritten.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The page."}},
        "required": ["text"],
    },
    "outputSchema": {"type": "string"},
    "annotations": {"readOnlyHint": False, "idempotentHint": True},
    "_meta": {
        CONTRACT: {
            "sideEffects": "impure",
            "idempotent": True,
            "requiredCapabilities": ["file:write"],
            "resourceBounds": {"timeoutMs": 1000},
            "errors": [{"code": "FULL"}],
            "examples": [{"arguments": {"text": "a"}}],
        }
    },
}


def advised(**changes: Any) -> dict[str, str]:
    """Code → pointer of the advice on GOOD with members changed (contract members by their name)."""
    made = copy.deepcopy(GOOD)
    for name, value in changes.items():
        inner = made if name in GOOD else made["_meta"][CONTRACT]
        inner.pop(name, None)
        if value is not ...:
            inner[name] = value
    found = [*advice_on(made, "/tools/0"), *contradictions_in(made, "/tools/0")]
    return {each.code: each.pointer for each in found}


def properties(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members)}


def test_a_good_tool_gets_no_advice() -> None:
    assert advised() == {}


@pytest.mark.parametrize(
    ("changes", "code", "at"),
    [
        ({"description": "Writes a file."}, "DESCRIPTION_SHORT", "/description"),
        (
            {"description": "The page of a file with a number, as plain text."},
            "EFFECTS_UNSAID",
            "/description",
        ),
        ({"outputSchema": ...}, "RESULT_UNDESCRIBED", ""),
        (
            {"inputSchema": properties(a={"type": "string"})},
            "PARAMETER_UNDESCRIBED",
            "/inputSchema/properties",
        ),
        (
            {"inputSchema": properties(a={"description": "A."})},
            "PARAMETER_UNTYPED",
            "/inputSchema/properties",
        ),
        (
            {"inputSchema": {**GOOD["inputSchema"], "required": []}},
            "NOTHING_REQUIRED",
            "/inputSchema",
        ),
        (
            {"inputSchema": properties(action={"enum": list("abcde"), "description": "A."})},
            "SEVERAL_JOBS",
            "/inputSchema/properties/action",
        ),
        (
            {
                "inputSchema": properties(
                    a={"type": "integer", "description": "A.", "minimum": 2, "default": 1}
                )
            },
            "DEFAULT_UNFIT",
            "/inputSchema/properties/a/default",
        ),
        (
            {"validators": [{"expression": "arguments.txt != ''", "message": "Empty."}]},
            "RULE_ARGUMENT_UNKNOWN",
            f"{HERE}/validators/0",
        ),
        ({"fieldKinds": {"/a~1b": "sql"}}, "FIELD_UNKNOWN", f"{HERE}/fieldKinds/~1a~01b"),
        ({"_meta": {}}, "CONTRACT_MISSING", ""),
        ({"resourceBounds": {}}, "BOUNDS_MISSING", f"{HERE}/resourceBounds"),
        ({"errors": []}, "ERRORS_UNDECLARED", f"{HERE}/errors"),
        ({"examples": ...}, "EXAMPLES_MISSING", f"{HERE}/examples"),
        ({"cache": {"ttlSeconds": 5}}, "CACHED_EFFECTS", f"{HERE}/cache"),
        (
            {"network": {"allow": ["a.example:443"]}},
            "CAPABILITY_MISSING",
            f"{HERE}/requiredCapabilities",
        ),
        ({"requiredCapabilities": ["network:x"]}, "CAPABILITY_UNUSED", f"{HERE}/requiredCapabilities/0"),
        (
            {"requiredCapabilities": ["browser:automate"]},
            "CAPABILITY_UNDOCUMENTED",
            f"{HERE}/requiredCapabilities/0",
        ),
        ({"annotations": {"readOnlyHint": True}}, "HINT_CONTRADICTS", "/annotations"),
        ({"annotations": {"idempotentHint": False}}, "HINT_CONTRADICTS", "/annotations/idempotentHint"),
        ({"sideEffects": "pure"}, "HINT_CONTRADICTS", "/annotations"),
    ],
)
def test_each_rule_says_where(changes: dict[str, Any], code: str, at: str) -> None:
    found = advised(**changes)
    assert found[code] == (at if at.startswith("/tools") else f"/tools/0{at}")
    assert set(found) - {code} <= {"CONTRACT_MISSING"}


def test_rules_on_arguments_that_depend_on_a_context_are_not_doubted() -> None:
    rule = {"expression": "arguments.txt != ''", "message": "Empty."}
    assert advised(validators=[rule], hooks={"schema": "made"}, fieldKinds={"/txt": "sql"}) == {}


def test_a_default_is_held_to_what_its_property_refers_to() -> None:
    count = {"type": "integer", "minimum": 2}
    for default, found in ((1, True), (2, False)):
        schema = properties(a={"$ref": "#/$defs/count", "default": default})
        assert ("DEFAULT_UNFIT" in advised(inputSchema={**schema, "$defs": {"count": count}})) is found


def test_a_network_tool_is_hardly_deterministic() -> None:
    found = advised(
        description="Writes a page to the network store at a.example and returns its address.",
        requiredCapabilities=["network:a.example"],
        network={"allow": ["a.example:443"]},
        determinism="deterministic",
    )
    assert found == {"DETERMINISM_DOUBTFUL": f"{HERE}/determinism"}


def test_a_tool_that_only_reads_needs_no_effect_in_its_description() -> None:
    assert "EFFECTS_UNSAID" not in advised(
        name="page_size",
        description="The number of bytes that a page of the file store has.",
        sideEffects="pure",
        annotations={"readOnlyHint": True},
    )


def test_a_tool_that_a_provider_cannot_take_is_named() -> None:
    schema = {
        "type": "object",
        "properties": {"$top": {"type": "integer", "description": "A."}},
        "required": ["$top"],
    }
    made = {"name": "pages", "runtime": {"type": "command"}, "tools": [{**GOOD, "inputSchema": schema}]}
    (found,) = warnings_of(made, {})
    assert (found.code, found.pointer) == ("PROVIDER_UNFIT", "/tools/0")
    assert found.message.startswith("anthropic cannot take the tool: ")


def test_a_fit_says_what_would_change() -> None:
    found = {
        fit.provider: fit
        for fit in fits_of(
            {**GOOD, "inputSchema": {"type": "object", "properties": {"a": {"type": "object"}}}}
        )
    }
    assert found["openai"].unfit is None
    assert "any members" in str(found["openai-strict"].unfit)
    assert "parametersJsonSchema" in found["gemini"].changes[0].message


@pytest.mark.django_db
def test_a_package_is_compared_with_the_others_here() -> None:
    def manifest(name: str, tool: str) -> dict[str, Any]:
        return {
            "manifestVersion": "1",
            "name": name,
            "version": "1.0.0",
            "description": "Pages.",
            "runtime": {"type": "builtin", "entry": "catalogue.data"},
            "tools": [{**GOOD, "name": tool}],
        }

    release_publish(by=SYSTEM, manifest=manifest("page-store", "page_write"), files={})
    assert Package.objects.filter(name="page-store").exists()
    codes = [(w.code, w.pointer) for w in release_warnings(manifest("page-stroe", "page_wirte"), {})]
    assert codes == [("NEAR_NAME", "/name"), ("NEAR_NAME", "/tools/0/name")]
    assert release_warnings(manifest("page-store", "page_wirte"), {}) == []


@pytest.mark.django_db
def test_an_escalation_to_a_group_that_is_not_here_is_a_warning() -> None:
    recovery = {"type": "manual", "escalation": {"after": "10m", "to": "duty"}}
    manifest = {"name": "pages", "tools": [{**GOOD, "_meta": {CONTRACT: {"recovery": recovery}}}]}
    pointer = "/tools/0/_meta/io.toolhub~1contract/recovery/escalation/to"

    def missing() -> list[str]:
        return [one.pointer for one in _escalations(manifest)]

    assert missing() == [pointer]
    assert "does not exist here" in _recovery(recovery)
    Group.objects.create(name="duty")
    assert missing() == []
    assert _recovery(recovery).endswith("after 10m the group duty is notified")
