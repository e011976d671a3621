"""Publishing: once, whole or not at all, and nothing is ever fetched."""

import copy
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rfc8785
from django.core.management import call_command

from audit.models import Event
from core.actors import SYSTEM
from core.errors import InvalidRequest, ToolHubError
from registry.catalogue import catalogue_sync
from registry.models import Package, Release, Tool, ToolVersion
from registry.releases.publish import release_publish
from registry.schemas import validator_build
from toolhub_sdk.package import CONTRACT

pytestmark = pytest.mark.django_db


def definition(name: str = "one", **contract: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "A tool.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "_meta": {CONTRACT: contract},
    }


def manifest(*tools: dict[str, Any], name: str = "trio", version: str = "1.0.0") -> dict[str, Any]:
    return {
        "manifestVersion": "1",
        "name": name,
        "version": version,
        "title": "Trio",
        "runtime": {"type": "builtin", "entry": "catalogue.data"},
        "tools": list(tools) or [definition()],
    }


def publish(made: dict[str, Any], **more: Any) -> Release:
    return release_publish(by=SYSTEM, manifest=made, files={"a.py": "00"}, **more)


def counts() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Package, Release, Tool, ToolVersion, Event))  # type: ignore[attr-defined]


def test_the_catalogue_is_published_once() -> None:
    first = catalogue_sync("catalogue")
    assert len(first) == 4
    assert set(Tool.objects.values_list("name", flat=True)) >= {
        "echo",
        "hash",
        "calculate",
        "current_time",
        "json_parse",
    }
    assert Event.objects.filter(kind="release.published").count() == 4
    before = counts()
    assert catalogue_sync("catalogue") == []
    call_command("catalogue_sync", verbosity=0)
    assert counts() == before


def test_a_release_is_active_and_its_digest_is_over_manifest_and_files() -> None:
    release = publish(manifest())
    expected = hashlib.sha256(rfc8785.dumps({"manifest": manifest(), "files": {"a.py": "00"}})).hexdigest()
    assert release.digest == expected
    tool = Tool.objects.select_related("active").get(name="one")
    assert tool.active is not None
    assert tool.active.version == "1.0.0"
    event = json.loads(Event.objects.get().canonical)
    assert event["data"] == {
        "version": "1.0.0",
        "digest": expected,
        "tools": ["one"],
        "activated": True,
        "reviewed": False,
        "origin": {},
    }


def test_one_bad_tool_of_three_registers_none() -> None:
    bad = {**definition("three"), "inputSchema": {"type": "array"}}
    with pytest.raises(InvalidRequest):
        publish(manifest(definition("one"), definition("two"), bad))
    assert counts() == (0, 0, 0, 0, 0)


def test_a_version_is_published_once_whatever_is_in_it() -> None:
    publish(manifest())
    before = counts()
    for again in (manifest(), manifest(definition("other"))):
        with pytest.raises(ToolHubError) as refused:
            publish(again)
        assert (refused.value.code, refused.value.known.status) == ("ALREADY_REGISTERED", 409)
    assert counts() == before


def test_two_tools_of_one_name_in_a_package_are_refused() -> None:
    with pytest.raises(ToolHubError):
        publish(manifest(definition("one"), definition("one")))
    assert counts() == (0, 0, 0, 0, 0)


def test_a_tools_name_belongs_to_the_package_that_had_it_first() -> None:
    publish(manifest())
    before = counts()
    with pytest.raises(ToolHubError) as refused:
        publish(manifest(name="thief"))
    assert refused.value.code == "ALREADY_REGISTERED"
    assert refused.value.data == {"tool": "one"}
    assert counts() == before


@pytest.mark.parametrize(
    "name", ["search", "stats", "schema", "", "1st", "a b", "a/b", "a@1", "x" * 65, "é", "a\n", None]
)
def test_a_reserved_or_malformed_name_of_a_tool_is_refused(name: Any) -> None:
    with pytest.raises(InvalidRequest):
        publish(manifest(definition(name)))
    assert counts() == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("name", ["Upper", "", "1st", "a_b", "x" * 65, "a/b", "a\n"])
def test_a_malformed_name_of_a_package_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        publish(manifest(name=name))


@pytest.mark.parametrize(
    "version", ["1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-01", "", "1.0.0\n", "latest"]
)
def test_a_version_has_to_be_semver(version: str) -> None:
    with pytest.raises(InvalidRequest):
        publish(manifest(version=version))


@pytest.mark.parametrize("without", ["runtime", "tools", "name", "version"])
def test_a_manifest_that_lacks_a_member_is_refused_with_a_sentence(without: str) -> None:
    made = manifest()
    del made[without]
    with pytest.raises(InvalidRequest):
        publish(made)
    assert counts() == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "contract",
    [
        {"category": "weather"},
        {"sideEffects": "few"},
        {"determinism": "sometimes"},
        {"resourceBounds": {"timeoutMs": 0}},
        {"resourceBounds": {"timeoutMs": True}},
        {"resourceBounds": {"timeoutMs": 1.5}},
        {"resourceBounds": {"timeoutMs": 86_400_001}},
        {"resourceBounds": {"maxOutputBytes": -1}},
        {"requiredCapabilities": "file:read"},
        {"requiredCapabilities": ["fil*"]},
        {"requiredCapabilities": [7]},
    ],
)
def test_a_contract_that_makes_no_sense_is_refused(contract: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        publish(manifest(definition(**contract)))
    assert counts() == (0, 0, 0, 0, 0)


def test_a_tool_without_a_contract_gets_the_strictest_reading() -> None:
    bare = definition()
    del bare["_meta"]
    publish(manifest(bare))
    version = ToolVersion.objects.get()
    assert (version.is_pure, version.is_idempotent, version.determinism) == (
        False,
        False,
        "non_deterministic",
    )
    assert (version.timeout_ms, version.max_output_bytes) == (30_000, 1_048_576)


def test_a_further_version_becomes_active_unless_told_otherwise() -> None:
    publish(manifest())
    publish(manifest(version="2.0.0"), activate=False)
    assert Tool.objects.select_related("active").get().active.version == "1.0.0"  # type: ignore[union-attr]
    publish(manifest(version="3.0.0"))
    assert Tool.objects.select_related("active").get().active.version == "3.0.0"  # type: ignore[union-attr]


# --- schemas ---


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A web server on this machine that would give a schema, and the paths that were asked of it."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = b'{"type": "object"}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


FOREIGN: list[dict[str, Any]] = [
    {"$ref": "{url}/s.json"},
    {"properties": {"a": {"$ref": "{url}/s.json#/x"}}},
    {"properties": {"a": {"items": [{"$dynamicRef": "{url}/s.json"}]}}},
    {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
    {"properties": {"a": {"$ref": "other.json"}}},
    {"$defs": {"x": {"allOf": [{"$ref": "//host/x"}]}}},
    {"$id": "{url}/root.json", "properties": {"a": {"$ref": "leaf.json"}}},
]


@pytest.mark.parametrize("schema", FOREIGN, ids=lambda s: json.dumps(s)[:50])
@pytest.mark.parametrize("which", ["inputSchema", "outputSchema"])
def test_a_schema_that_refers_outside_itself_is_refused_and_nothing_is_fetched(
    listener: tuple[str, list[str]], schema: dict[str, Any], which: str
) -> None:
    url, asked = listener
    foreign = json.loads(json.dumps(schema).replace("{url}", url))
    made = {**definition(), which: {"type": "object", **foreign}}
    with pytest.raises(InvalidRequest) as refused:
        publish(manifest(made))
    assert asked == []
    assert "root:" not in json.dumps(refused.value.data) + refused.value.message
    assert counts() == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "dialect",
    [
        "{url}/meta.json",
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://example.com/draft-07/schema",
        "http://json-schema.org/schema#",
        "",
        7,
        None,
    ],
)
def test_a_dialect_that_is_not_judged_by_its_rules_is_refused(
    listener: tuple[str, list[str]], dialect: Any
) -> None:
    """And nothing is fetched."""
    url, asked = listener
    named = dialect.format(url=url) if isinstance(dialect, str) else dialect
    with pytest.raises(InvalidRequest) as refused:
        publish(manifest({**definition(), "inputSchema": {"type": "object", "$schema": named}}))
    whole = str([refused.value.errors, refused.value.suggestions, refused.value.message])
    assert "2020-12" in whole
    assert "draft-07" in whole
    assert asked == []


@pytest.mark.parametrize(
    ("dialect", "value", "fits"),
    [
        ("https://json-schema.org/draft/2020-12/schema", ["x", 1], True),
        ("https://json-schema.org/draft/2020-12/schema#", ["x", "y"], False),
        ("http://json-schema.org/draft-07/schema#", ["x", 1], True),
        ("https://json-schema.org/draft-07/schema", [1, 1], False),
    ],
)
def test_each_dialect_is_judged_by_its_own_rules(dialect: str, value: Any, fits: bool) -> None:
    """A tuple is `prefixItems` in 2020-12, and a list of `items` in draft-07."""
    word = "prefixItems" if "2020" in dialect else "items"
    schema = {"$schema": dialect, word: [{"type": "string"}, {"type": "integer"}]}
    assert validator_build(schema).is_valid(value) is fits


def test_a_schema_inside_another_has_no_dialect_of_its_own() -> None:
    inner = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}
    with pytest.raises(InvalidRequest, match="dialect"):
        validator_build({"type": "object", "properties": {"a": inner}})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "required": "a"},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}},
        {"type": "string"},
        {"properties": {}},
        [],
        "object",
        None,
    ],
)
def test_what_is_no_schema_of_an_object_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidRequest):
        publish(manifest({**definition(), "inputSchema": schema}))


def test_a_reference_within_the_schema_is_kept() -> None:
    made = definition()
    made["inputSchema"] = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}, "$ref": {"type": "string"}},
        "$defs": {"n": {"type": "integer"}},
    }
    assert publish(manifest(copy.deepcopy(made))).pk
