"""What a manifest must be: each fault with a pointer to it, hostile schemas refused, nothing fetched."""

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from catalogue import calculation, data, system
from core.errors import ToolHubError
from registry.manifests import manifest_problems, manifest_read, problems_raise
from security.capabilities import is_capability
from toolhub_sdk.checks.form import published_schema
from toolhub_sdk.checks.schemas import schema_problems
from toolhub_sdk.package import CONTRACT, manifest_of

HERE = "/tools/0/_meta/io.toolhub~1contract"
GOOD: dict[str, Any] = {
    "$schema": "https://hub.example/schemas/toolhub.schema.json",
    "manifestVersion": "1",
    "name": "weather",
    "version": "1.4.0-rc.1+build.5",
    "title": "Weather",
    "description": "Forecasts for towns.",
    "author": {"name": "Example Ltd", "email": "tools@example.org", "url": "https://example.org/"},
    "license": "MIT",
    "homepage": "https://example.org/weather",
    "keywords": ["weather"],
    "icon": "images/icon.svg",
    "runtime": {"type": "python", "entry": "weather.tools", "requires": "requirements.txt"},
    "dependencies": {"tools": {"http_get": "^1.2", "geo": ">=1.0 <2.0"}},
    "config": {
        "type": "object",
        "properties": {"unit": {"enum": ["C", "F"]}, "key": {"type": "string", "secret": True}},
    },
    "tools": [
        {
            "name": "forecast",
            "title": "Forecast",
            "description": "Forecasts the weather of a town.",
            "inputSchema": {
                "type": "object",
                "properties": {"town": {"type": "string", "pattern": "^[A-Z]"}},
                "required": ["town"],
            },
            "outputSchema": {"type": "object", "properties": {"degrees": {"type": "number"}}},
            "annotations": {"readOnlyHint": False, "idempotentHint": True},
            "_meta": {
                "org.example/more": 1,
                CONTRACT: {
                    "category": "network",
                    "tags": ["weather"],
                    "requiredCapabilities": ["network:api.example.org"],
                    "sideEffects": "impure",
                    "idempotent": True,
                    "determinism": "non_deterministic",
                    "resourceBounds": {"timeoutMs": 30000, "maxFuel": None, "maxConcurrency": 4},
                    "isolation": "strict",
                    "network": {"allow": ["api.example.org:443"]},
                    "filesystem": {"read": [], "write": []},
                    "preconditions": [
                        {
                            "type": "resource",
                            "description": "A.",
                            "resource": "api",
                            "availability": "required",
                        },
                        {"type": "state", "description": "B.", "state": "left", "expression": "value > 0"},
                        {"type": "state", "description": "B.", "state": "on", "expectedValue": None},
                        {"type": "permission", "description": "C.", "permission": "network:*"},
                        {"type": "dependency", "description": "D.", "tool": "geo", "status": "available"},
                        {"type": "custom", "description": "E.", "expression": "true", "critical": False},
                    ],
                    "effects": [
                        {"type": "state_change", "description": "A.", "state": "n", "change": "increment"},
                        {
                            "type": "memory",
                            "description": "B.",
                            "scope": "short-term",
                            "operation": "write",
                            "key": "last",
                            "expression": "result.degrees",
                            "on": "always",
                        },
                        {"type": "notification", "description": "C.", "event": "weather:read", "payload": {}},
                        {"type": "cascade", "description": "D.", "tool": "warn", "arguments": {"a": "1"}},
                    ],
                    "retry": {
                        "maxRetries": 3,
                        "backoff": {
                            "type": "jittered",
                            "base": {
                                "type": "exponential",
                                "baseDelay": 500,
                                "maxDelay": 60000,
                                "multiplier": 2,
                            },
                            "jitter": 0.1,
                        },
                        "retryableErrors": ["TIMEOUT"],
                    },
                    "cache": {"ttlSeconds": 300},
                    "validators": [{"expression": "size(arguments.town) > 1", "message": "Too short."}],
                    "errors": [{"code": "NO_TOWN", "recoverable": True, "suggestions": ["Ask again."]}],
                    "recovery": {
                        "type": "fallback",
                        "fallbackTool": "geo",
                    },
                    "environment": {"TZ": "UTC"},
                    "resourceRequirements": {"memoryBytes": 1048576, "cpuPercent": 50},
                    "documentation": "docs/forecast.md",
                    "examples": [{"arguments": {"town": "Ulm"}, "result": {"degrees": 12.5}}],
                    "function": "forecast_of",
                },
            },
        }
    ],
}
TOOL = GOOD["tools"][0]


def changed(path: str, value: Any) -> dict[str, Any]:
    """GOOD with the member at the pointer set; without it where the value is `...`."""
    made = copy.deepcopy(GOOD)
    node: Any = made
    parts = [part.replace("~1", "/") for part in path.split("/")[1:]]
    for part in parts[:-1]:
        node = node[int(part) if isinstance(node, list) else part]
    if value is ...:
        del node[parts[-1]]
    else:
        node[int(parts[-1]) if isinstance(node, list) else parts[-1]] = value
    return made


def pointers(manifest: Any) -> list[str]:
    return [problem.pointer for problem in manifest_problems(manifest)]


def test_a_manifest_with_every_member_is_right() -> None:
    assert manifest_problems(GOOD) == []


@pytest.mark.parametrize("module", [calculation, data, system])
def test_the_built_in_packages_are_right(module: Any) -> None:
    made = manifest_of(module, module.PACKAGE, runtime="builtin")
    assert manifest_problems(made, builtin=True) == []
    assert pointers(made) == ["/runtime/type", "/name"]


@pytest.mark.parametrize(
    "missing",
    [
        "/manifestVersion",
        "/name",
        "/version",
        "/description",
        "/runtime",
        "/runtime/type",
        "/runtime/entry",
        "/tools",
        "/tools/0/name",
        "/tools/0/description",
        "/tools/0/inputSchema",
        "/tools/0/inputSchema/type",
        "/author/name",
        f"{HERE}/preconditions/0/resource",
        f"{HERE}/preconditions/3/permission",
        f"{HERE}/preconditions/4/status",
        f"{HERE}/effects/0/change",
        f"{HERE}/effects/1/scope",
        f"{HERE}/retry/maxRetries",
        f"{HERE}/retry/backoff/base",
        f"{HERE}/retry/backoff/base/multiplier",
        f"{HERE}/recovery/fallbackTool",
        f"{HERE}/examples/0/arguments",
    ],
)
def test_a_missing_member_is_pointed_at(missing: str) -> None:
    (problem,) = manifest_problems(changed(missing, ...))
    assert problem.pointer == missing
    assert "missing" in problem.message
    assert problem.remedy.startswith("Add it. ")
    assert len(problem.remedy) > 15


@pytest.mark.parametrize(
    ("recovery", "places"),
    [
        ({"type": "fallback", "fallbackTool": "geo", "maxAttempts": 2}, []),
        ({"type": "fallback", "fallbackTool": "forecast"}, ["fallbackTool"]),
        ({"type": "manual", "escalation": {"after": "10m", "to": "duty"}}, []),
        ({"type": "manual", "escalation": {"after": "soon", "to": "duty"}}, ["escalation/after"]),
        ({"type": "abort", "escalation": {"after": "10m", "to": "duty"}}, ["escalation"]),
        ({"type": "skip", "fallbackTool": "geo"}, ["fallbackTool"]),
        ({"type": "retry", "maxAttempts": 3}, []),
        ({"type": "retry"}, ["maxAttempts"]),
    ],
)
def test_recovery_has_what_its_type_can_use(recovery: Any, places: list[str]) -> None:
    assert pointers(changed(f"{HERE}/recovery", recovery)) == [f"{HERE}/recovery/{one}" for one in places]


def test_fallbacks_within_a_package_are_no_circle() -> None:
    made = changed(f"{HERE}/recovery/fallbackTool", "second")
    second = {**copy.deepcopy(TOOL), "name": "second"}
    second["_meta"][CONTRACT]["recovery"]["fallbackTool"] = TOOL["name"]
    made["tools"].append(second)
    at = "/_meta/io.toolhub~1contract/recovery/fallbackTool"
    assert pointers(made) == [f"/tools/0{at}", f"/tools/1{at}"]


def test_a_cascade_has_no_rollback() -> None:
    place = f"{HERE}/effects/3/rollback"
    (problem,) = manifest_problems(changed(place, {"tool": "unwarn"}))
    assert (problem.pointer, problem.message) == (place, "'rollback' is not known here.")
    assert "arguments" in problem.remedy


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("/manifestVersion", "2"),
        ("/manifestVersion", 1),
        ("/name", "Weather"),
        ("/name", "weather\n"),
        ("/name", "a" * 65),
        # semver 2.0.0 §2, §9: three numbers without leading zeros
        ("/version", "1.0"),
        ("/version", "01.0.0"),
        ("/version", "1.0.0-01"),
        ("/version", "v1.0.0"),
        ("/runtime/entry", "weather:tools"),
        ("/runtime/entry", "../weather"),
        ("/runtime/requires", "../requirements.txt"),
        ("/runtime/requires", "/etc/passwd"),
        ("/runtime/requires", "-r"),
        ("/runtime/requires", "a\\b"),
        ("/runtime/type", "shell"),
        ("/icon", "a/../../b.png"),
        ("/homepage", "javascript:alert(1)"),
        ("/homepage", "https://a b/"),
        ("/author/email", "nobody"),
        ("/dependencies/tools/http_get", "newest"),
        ("/dependencies/tools/http_get", " "),
        ("/config/type", "array"),
        ("/tools", []),
        ("/tools/0/name", "fore cast"),
        ("/tools/0/name", "search"),
        ("/tools/0/description", ""),
        ("/tools/0/inputSchema/type", "array"),
        ("/tools/0/inputSchema/type", ["object", "null"]),
        ("/tools/0/inputSchema/properties/town/type", "strng"),
        ("/tools/0/inputSchema/properties/town/pattern", "(?=a)"),
        ("/tools/0/inputSchema/properties/town/pattern", "(a)\\1"),
        ("/tools/0/inputSchema/properties/town/pattern", "[a"),
        ("/tools/0/inputSchema/properties/town/pattern", "a" * 1001),
        ("/tools/0/annotations/readOnlyHint", "yes"),
        (f"{HERE}/category", "weather"),
        (f"{HERE}/sideEffects", "none"),
        (f"{HERE}/idempotent", 1),
        (f"{HERE}/resourceBounds/timeoutMs", 0),
        (f"{HERE}/resourceBounds/timeoutMs", 1.5),
        (f"{HERE}/resourceBounds/maxOutputBytes", 67_108_865),
        (f"{HERE}/network/allow/0", "https://api.example.org"),
        (f"{HERE}/network/allow/0", "api.example.org:99999"),
        (f"{HERE}/network/allow/0", "*:443"),
        (f"{HERE}/requiredCapabilities/0", "file read"),
        (f"{HERE}/requiredCapabilities/0", "file:*:read"),
        (f"{HERE}/retry", "OFTEN"),
        (f"{HERE}/retry/backoff/jitter", 2),
        (f"{HERE}/errors/0/code", "no town"),
        (f"{HERE}/documentation", "../secret.md"),
        (f"{HERE}/preconditions/1", {"type": "state", "description": "B.", "state": "a"}),
        (f"{HERE}/examples/0/arguments/town", "ulm"),
        (f"{HERE}/examples/0/arguments/town", 5),
        (f"{HERE}/examples/0/result/degrees", "warm"),
        (f"{HERE}/function", "os.system"),
    ],
)
def test_a_wrong_value_is_pointed_at(place: str, value: Any) -> None:
    (problem,) = manifest_problems(changed(place, value))
    assert problem.pointer == place
    assert problem.message
    assert problem.remedy


@pytest.mark.parametrize(
    ("place", "remedy"),
    [
        ("/nmae", "Did you mean name?"),
        ("/runtime/requirements", "Did you mean requires?"),
        ("/tools/0/parameters", "Did you mean inputSchema?"),
        ("/tools/0/sideEffects", "sideEffects stands in the contract"),
        (f"{HERE}/timeoutMs", "timeoutMs stands in resourceBounds."),
        (f"{HERE}/timeout", "Write timeoutMs, in resourceBounds."),
        (f"{HERE}/permissions", "Did you mean requiredCapabilities?"),
        ("/tools/0/_meta/io.toolhub~1contracts", "Did you mean io.toolhub/contract?"),
        ("/tools/0/input_schema", "Did you mean inputSchema?"),
        (f"{HERE}/sideEffect", "Did you mean sideEffects?"),
        (f"{HERE}/preconditions/0/permission", "Leave it out."),
    ],
)
def test_an_unknown_member_is_pointed_at(place: str, remedy: str) -> None:
    (problem,) = manifest_problems(changed(place, "x"))
    assert problem.pointer == place
    assert problem.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("place", "value", "message", "remedy"),
    [
        ("/version", 1.0, "It must be a text, not the number 1.0.", "The exact version"),
        ("/version", "1.4", '"1.4" does not have the form', 'Write "1.4.0".'),
        ("/version", "v1.4.0", '"v1.4.0" does not have the form', 'Write "1.4.0".'),
        ("/name", "My_Weather", '"My_Weather" does not', 'Write "my-weather".'),
        ("/author", "Ada", "It must be an object, not the text", 'Write {"name": …}.'),
        ("/tools", {"forecast": TOOL}, "It must be a list, not an object.", "Write a list, in [ and ]."),
        ("/tools/0/name", "web:scrape", '"web:scrape" does not', 'Write "web_scrape".'),
        ("/tools/0/inputSchema/properties/town/type", "int", "'int' is no type", "Did you mean integer?"),
        ("/tools/0/inputSchema/properties/town/required", True, "No valid", "Name the required properties"),
        (f"{HERE}/retry", "standard", "It must be one of", 'Did you mean "STANDARD"?'),
        (f"{HERE}/effects/0/type", "stateChange", "It must be one of", 'Did you mean "state_change"?'),
        (f"{HERE}/network/allow/0", "https://a.example/x", "does not have", 'Write "a.example:443".'),
        (f"{HERE}/requiredCapabilities/0", "file read", '"file read" does', 'Write "file:read".'),
        (f"{HERE}/errors/0/code", "no town", '"no town" does not', 'Write "NO_TOWN".'),
        (f"{HERE}/errors/0", "NO_TOWN", "It must be an object", 'Write {"code": …}.'),
        (f"{HERE}/validators/0/pointer", "town", '"town" does not', 'Write "/town".'),
        (f"{HERE}/documentation", "/docs/a.md", '"/docs/a.md" does not', 'Write "docs/a.md".'),
        (f"{HERE}/environment/A-B", "1", "'A-B' cannot be a name here.", "A letter or underscore"),
        (f"{HERE}/preconditions/1/expectedValue", 1, "expectedValue and expression stand", "Leave one"),
        (
            f"{HERE}/validators/0/expression",
            "town != ''",
            "'town', which is not there",
            "Write arguments.town.",
        ),
        (
            f"{HERE}/validators/0/expression",
            "arguments.a and true",
            "no CEL at character 13",
            "In CEL it is &&",
        ),
    ],
)
def test_what_authors_often_write_is_told_with_what_to_write_instead(
    place: str, value: Any, message: str, remedy: str
) -> None:
    (problem,) = manifest_problems(changed(place, value))
    assert problem.pointer == place or problem.pointer == place.rpartition("/")[0]
    assert message in problem.message
    assert problem.remedy.startswith(remedy)


@pytest.mark.parametrize("other", [[], None, 5, "x", {}])
def test_what_is_no_manifest_at_all_has_problems(other: Any) -> None:
    assert manifest_problems(other)


def test_two_tools_of_one_name_are_a_problem_of_the_second() -> None:
    assert pointers({**GOOD, "tools": [TOOL, TOOL]}) == ["/tools/1/name"]


@pytest.mark.parametrize("entry", [["sh", "tool.sh"], ["node", "tool.js", "--quiet"], "tool.sh", "bin/tool"])
def test_a_command_is_a_list_or_a_path(entry: Any) -> None:
    assert manifest_problems({**GOOD, "runtime": {"type": "command", "entry": entry}}) == []


@pytest.mark.parametrize(
    ("entry", "at"),
    [
        ([], ""),
        ([""], "/0"),
        (["sh", "a\0b"], "/1"),
        (["sh", 1], "/1"),
        ("", ""),
        ("../tool.sh", ""),
        ("/bin/sh", ""),
        ("-tool", ""),
        ({"sh": 1}, ""),
    ],
)
def test_other_commands_are_refused(entry: Any, at: str) -> None:
    assert pointers({**GOOD, "runtime": {"type": "command", "entry": entry}}) == [f"/runtime/entry{at}"]


@given(st.from_regex(r"[a:.*/-]{0,8}", fullmatch=True) | st.text(max_size=8))
def test_the_schema_and_the_hub_agree_on_what_a_capability_is(text: str) -> None:
    found = pointers(changed(f"{HERE}/requiredCapabilities/0", text))
    assert found == ([] if is_capability(text) else [f"{HERE}/requiredCapabilities/0"])


def doubled(levels: int) -> dict[str, Any]:
    """A schema whose validation takes 2 to the power of `levels` looks."""
    both = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**both, f"a{levels}": {"type": "string"}}, "$ref": "#/$defs/a0"}


def twice_below() -> dict[str, Any]:
    branch = {"properties": {"a": {"$ref": "#/$defs/n"}}}
    return {"$defs": {"n": {"anyOf": [branch, dict(branch)]}}, "$ref": "#/$defs/n"}


def deep(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"not": made}
    return made


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/x.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "other.json#/a"},
        {"$ref": "#/$defs/none"},
        {"properties": {"a": {"$dynamicRef": "http://x.example/"}}},
        {"$ref": "#"},
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {
            "$defs": {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(3000)} | {"a3000": {}},
            "$ref": "#/$defs/a0",
        },
        {"properties": {"a": {"$id": "http://x.example/", "type": "string"}}},
        doubled(14),
        doubled(3000),
        twice_below(),
        deep(41),
        deep(100_000),
        {"description": "x" * 131_073},
        {"properties": {"a": {"patternProperties": {"(?!a)": {}}}}},
        {"required": "a"},
        {"properties": [{"type": "string"}]},
        {"allOf": {"a": 1}, "prefixItems": 3, "items": {}},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_a_hostile_schema_is_refused(schema: dict[str, Any]) -> None:
    assert schema_problems({"type": "object", **schema}, "/config")[0].pointer.startswith("/config")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
        {"properties": {"a": {"$ref": "#/definitions/b"}}, "definitions": {"b": {"type": "string"}}},
        {"properties": {"a": {"$ref": "#b"}}, "$defs": {"c": {"$anchor": "b", "type": "string"}}},
        {"properties": {"a": {"$ref": "#/properties/b~1c%20d"}, "b/c d": {"type": "string"}}},
        {"properties": {"a": {"enum": [{"$ref": "http://data.example/"}]}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"properties": {"a": {"items": {"uniqueItems": True}, "multipleOf": 1e300}}},
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"properties": {"a": {"anyOf": [{"const": n} for n in range(1000)]}}},
        doubled(5),
        # any JSON value, the usual way to write it
        {
            "$defs": {
                "json": {
                    "anyOf": [
                        {"type": "string"},
                        {"type": "array", "items": {"$ref": "#/$defs/json"}},
                        {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
                    ]
                }
            },
            "properties": {"a": {"$ref": "#/$defs/json"}},
        },
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_an_honest_schema_is_taken(schema: dict[str, Any]) -> None:
    assert schema_problems({"type": "object", **schema}) == []


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "NOT_JSON"),
        (b"\xff", "NOT_JSON"),
        (b'{"a": 1, "a": 2}', "DUPLICATE_KEY"),
        (b'{"a": NaN}', "NUMBER_NOT_FINITE"),
        (b'{"a": 1e400}', "NUMBER_OUT_OF_RANGE"),
        (b'{"a": "\\ud800"}', "LONE_SURROGATE"),
        (b"[" * 100_000, "TOO_DEEP"),
        (b'{"a": "' + b"x" * 1_048_576 + b'"}', "TOO_LARGE"),
    ],
)
def test_what_is_no_strict_json_is_refused_with_its_code(raw: bytes, code: str) -> None:
    with pytest.raises(ToolHubError) as caught:
        manifest_read(raw)
    assert caught.value.data["code"] == code


def test_where_a_file_cannot_be_read_is_told_by_its_line() -> None:
    with pytest.raises(ToolHubError, match=r"cannot be read \(line 3, column 13\)"):
        manifest_read(b'{\n  "name": "a",\n  "version" "1.0.0"\n}')


def test_a_manifest_is_an_object() -> None:
    with pytest.raises(ToolHubError, match="no JSON object"):
        manifest_read(b"[]")
    assert manifest_read(json.dumps(GOOD).encode()) == GOOD


def test_problems_are_raised_with_their_pointers() -> None:
    problems_raise([])
    with pytest.raises(ToolHubError) as caught:
        problems_raise(manifest_problems({**GOOD, "name": 5}))
    assert caught.value.code == "INVALID_MANIFEST"
    assert caught.value.errors[0]["pointer"] == "/name"


@pytest.mark.django_db
def test_the_published_schema_is_served_to_all_and_is_one(client: Client) -> None:
    answer = client.get("/schemas/toolhub.schema.json")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/schema+json"
    schema = answer.json()
    assert schema == published_schema()
    jsonschema.Draft202012Validator.check_schema(schema)


BAD: list[Callable[[], dict[str, Any]]] = [
    lambda: changed("/name", "X"),
    lambda: changed("/tools/0/inputSchema", ...),
    lambda: changed(f"{HERE}/retry", "OFTEN"),
]


@pytest.mark.parametrize("made", BAD)
def test_another_validator_finds_the_same_of_the_schema(made: Callable[[], dict[str, Any]]) -> None:
    oracle = jsonschema.Draft202012Validator(published_schema())
    assert oracle.is_valid(GOOD)
    assert not oracle.is_valid(made())


@pytest.mark.parametrize(
    ("made", "at"),
    [
        ({**GOOD, "tools": [1] * 100_000}, "/tools"),
        ({**GOOD, "keywords": [1] * 300_000}, "/keywords"),
        ({**GOOD, "tools": [{**TOOL, "icons": [1] * 300_000}]}, "/tools/0/icons"),
        ({**GOOD, **{f"k{n}": 1 for n in range(100_000)}}, ""),
    ],
    ids=["tools", "keywords", "icons", "members"],
)
def test_a_manifest_with_very_many_faults_is_refused_with_few(made: dict[str, Any], at: str) -> None:
    found = pointers(made)
    assert at in found
    assert len(found) <= 100
