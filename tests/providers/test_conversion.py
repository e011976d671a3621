"""Tools in the forms of model providers: real ones by the providers' own types, hostile ones by hand."""

import contextlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from anthropic.types import ToolParam
from google.genai.types import FunctionDeclaration, Schema
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import Tool as McpTool
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

from registry.schemas import validator_build
from toolhub_sdk.providers import PROVIDERS, UnfitError, text_line, tool_for
from toolhub_sdk.providers.names import NAME, provider_name

CASES = Path(__file__).parent.parent / "cases" / "mcp_tools"
TOOLS: dict[str, dict[str, Any]] = {
    f"{file.stem}: {tool['name']}": tool
    for file in sorted(CASES.glob("*.json"))
    for tool in json.loads(file.read_text(encoding="utf-8"))
}
# Their parameters take any members, which strict has no words for.
OPEN = 10
TYPES = {
    "openai": TypeAdapter(ChatCompletionFunctionToolParam),
    "openai-strict": TypeAdapter(ChatCompletionFunctionToolParam),
    "openai-responses": TypeAdapter(FunctionToolParam),
    "openai-responses-strict": TypeAdapter(FunctionToolParam),
    "anthropic": TypeAdapter(ToolParam),
    "gemini": TypeAdapter(FunctionDeclaration),
    "mcp": TypeAdapter(McpTool),
}


def tool(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "plan", "description": "Plans.", "inputSchema": {"type": "object", **schema}, **more}


def schema_of(provider: str, definition: dict[str, Any]) -> Any:
    made = tool_for(provider, definition).tool
    if provider in ("openai", "openai-strict"):
        return made["function"]["parameters"]
    kept = ("input_schema", "parametersJsonSchema", "parameters", "inputSchema")
    return next((made[name] for name in kept if name in made), None)


def messages(provider: str, definition: dict[str, Any]) -> str:
    return " ".join(f"{each.pointer} {each.message}" for each in tool_for(provider, definition).changes)


def parts(schema: Any) -> list[dict[str, Any]]:
    """Every object in a schema that could be a schema."""
    if isinstance(schema, list):
        return [each for part in schema for each in parts(part)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(each for part in schema.values() for each in parts(part))]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_216_real_tools_convert(provider: str) -> None:
    unfit = []
    for tool in TOOLS.values():
        try:
            made = tool_for(provider, tool).tool
        except UnfitError:
            unfit.append(tool["name"])
            continue
        TYPES[provider].validate_python(made)
        json.dumps(made, allow_nan=False)
        parameters = schema_of(provider, tool)
        if parameters and provider != "gemini":
            jsonschema.Draft202012Validator.check_schema(parameters)
    assert len(TOOLS) == 216
    assert len(unfit) == (OPEN if provider.endswith("-strict") else 0)


# What fits the schema of a tool must fit its form, too: converters only loosen.
FITTING = [
    ({"properties": {"a": {"$ref": "#"}, "n": {"type": "integer"}}}, [{}, {"a": {"a": {"n": 1}}}]),
    (
        {"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}]},
        [{"a": "x"}, {"b": 1}, {"a": "x", "b": []}],
    ),
    (
        {"allOf": [{"required": ["a"]}, {"properties": {"a": {"$ref": "#/$defs/n"}}}], "$defs": {"n": {"minimum": 3}}},
        [{"a": 3}, {"a": "x"}, {"a": None, "c": 1}],
    ),
    (
        {"properties": {"a": {"items": [{"type": "string"}], "type": "array"}}, "$schema": "http://json-schema.org/draft-07/schema#"},
        [{"a": ["x", 1]}, {"a": []}],
    ),
    ({"not": {"required": ["x"]}, "additionalProperties": {"type": "integer"}}, [{"a": 1}, {}]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, [{}, {"a": 1, "b": 1}]),
    ({"patternProperties": {"^a": {"type": "string"}}, "minProperties": 1}, [{"ab": "x"}, {"b": 1}]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "values"), FITTING, ids=range(len(FITTING)))
def test_a_form_is_never_tighter_than_the_tool(schema: dict[str, Any], values: list[Any]) -> None:
    for value in values:
        assert validator_build({"type": "object", **schema}).is_valid(value)
        for provider in ("openai", "openai-responses", "anthropic", "mcp"):
            assert validator_build(schema_of(provider, tool(schema))).is_valid(value), (provider, value)


@pytest.mark.parametrize("provider", ["openai-strict", "openai-responses-strict"])
def test_strict_schemas_are_closed_and_require_all(provider: str) -> None:
    for definition in TOOLS.values():
        try:
            made = tool_for(provider, definition).tool
        except UnfitError:
            continue
        function = made.get("function", made)
        assert function["strict"] is True
        for part in parts(function["parameters"]):
            if part.get("type") == "object" or "additionalProperties" in part:
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])


def test_an_optional_parameter_of_strict_may_be_null() -> None:
    schema = {
        "properties": {
            "a": {"type": "string", "default": "x", "minLength": 2},
            "b": {"enum": ["x", "y"]},
            "c": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "d": {"type": "integer"},
        },
        "required": ["d"],
    }
    assert schema_of("openai-strict", tool(schema)) == {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"enum": ["x", "y", None]},
            "c": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            "d": {"type": "integer"},
        },
        "required": ["a", "b", "c", "d"],
        "additionalProperties": False,
    }
    told = messages("openai-strict", tool(schema))
    assert "/inputSchema/properties/a Optional" in told
    assert "/inputSchema/properties/a/minLength Left out" in told


@pytest.mark.parametrize("provider", ["openai", "openai-strict", "openai-responses", "anthropic", "gemini"])
def test_combinations_at_the_root_are_merged(provider: str) -> None:
    schema = {
        "properties": {"a": {"type": "string"}},
        "oneOf": [
            {"properties": {"b": {"type": "integer"}, "c": {"type": "string"}}, "required": ["b", "c"]},
            {"properties": {"c": {"type": "string"}}, "required": ["c"]},
        ],
        "allOf": [{"properties": {"d": {"type": "boolean"}}, "required": ["d"]}],
        "not": {"required": ["x"]},
    }
    made = schema_of(provider, tool(schema))
    assert not {"oneOf", "anyOf", "allOf", "not"} & made.keys()
    assert set(made["properties"]) == {"a", "b", "c", "d"}
    if not provider.endswith("-strict"):
        assert set(made["required"]) == {"c", "d"}
    assert "Merged" in messages(provider, tool(schema))


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_references_are_put_in_place(provider: str) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/b", "description": "Mine."}},
        "definitions": {"b": {"type": "string", "description": "Its."}},
    }
    assert schema_of(provider, tool(schema))["properties"] == {
        "a": {"type": "string", "description": "Mine."}
    }


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_schema_that_refers_to_itself_becomes_open_or_is_left_out(provider: str) -> None:
    tree = {"properties": {"left": {"$ref": "#"}, "name": {"type": "string"}}}
    try:
        made = tool_for(provider, tool(tree)).tool
    except UnfitError:
        assert provider.endswith("-strict")
        return
    assert provider == "mcp" or "$ref" not in str(made)
    TYPES[provider].validate_python(made)


def test_lists_get_items() -> None:
    schema = {
        "properties": {"a": {"type": "array"}, "b": {"type": ["array", "null"]}, "c": {"type": "object"}}
    }
    made = schema_of("openai", tool(schema))["properties"]
    assert (made["a"]["items"], made["b"]["items"]) == ({}, {})
    del schema["properties"]["c"]
    made = schema_of("gemini", tool(schema))["properties"]
    assert made["a"] == {"type": "array", "items": {"type": "string"}}
    assert made["b"] == {"type": "array", "items": {"type": "string"}, "nullable": True}


def test_a_tuple_of_draft_7_is_written_anew() -> None:
    schema = {"properties": {"a": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}}}
    made = schema_of("anthropic", tool(schema))
    jsonschema.Draft202012Validator.check_schema(made)
    assert made["properties"]["a"]["prefixItems"] == [{"type": "string"}, {"type": "integer"}]


@pytest.mark.parametrize(
    ("given_schema", "expected"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"enum": [1, 2]}, {"type": "integer", "description": "One of 1, 2."}),
        ({"type": "string", "enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"type": "string", "nullable": True}),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "A"},
            {"type": "string", "nullable": True, "title": "A"},
        ),
        ({"type": "string", "format": "uri", "default": "x"}, {"type": "string"}),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 5}, {"type": "integer", "maximum": 5}),
        ({"allOf": [{"type": "string"}, {"maxLength": 5}]}, {"type": "string", "maxLength": 5}),
        ({"description": "Anything."}, {"type": "string", "description": "Anything."}),
        (True, True),
    ],
)
def test_gemini_gets_what_it_knows(given_schema: Any, expected: Any) -> None:
    made = schema_of("gemini", tool({"properties": {"a": given_schema}}))["properties"]["a"]
    assert made == expected or expected is True
    if expected is not True:
        Schema.model_validate(made)


def test_gemini_takes_open_members_as_a_json_schema() -> None:
    made = tool_for("gemini", tool({"properties": {"a": {"type": "object"}}})).tool
    assert "parameters" not in made
    assert made["parametersJsonSchema"]["properties"] == {"a": {"type": "object"}}
    assert "parameters" not in tool_for("gemini", tool({})).tool


@pytest.mark.parametrize("name", ["$top", "a b", "a" * 65, "größe", ""])
def test_anthropic_cannot_name_every_parameter(name: str) -> None:
    inner = {"properties": {"a": {"type": "object", "properties": {name: {"type": "string"}}}}}
    for schema in ({"properties": {name: {"type": "string"}}}, inner):
        with pytest.raises(UnfitError):
            tool_for("anthropic", tool(schema))
        tool_for("openai", tool(schema))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("get_page", "get_page"), ("web:scrape", "web_scrape"), ("9lives", "_9lives"), ("é.b", "__b")],
)
def test_names_are_made_to_fit(name: str, expected: str) -> None:
    assert provider_name(name) == expected
    assert tool_for("openai", {**tool({}), "name": name}).tool["function"]["name"] == expected


@given(st.text(min_size=1, max_size=200))
def test_every_name_can_be_made_to_fit(name: str) -> None:
    assert NAME.fullmatch(provider_name(name))


def test_long_names_stay_apart() -> None:
    one, other = (provider_name("a" * 80 + end) for end in "bc")
    assert (len(one), len(other)) == (64, 64)
    assert one != other


def test_a_long_description_is_cut_for_openai_alone() -> None:
    long = {**tool({}), "description": "x" * 3000}
    assert len(tool_for("openai", long).tool["function"]["description"]) == 1024
    assert "Cut to 1024 of 3000" in messages("openai", long)
    assert len(tool_for("anthropic", long).tool["description"]) == 3000


def test_mcp_gets_all_but_the_contract() -> None:
    definition = tool({}, title="Plan", annotations={"readOnlyHint": True}, outputSchema={"type": "object"})
    definition["_meta"] = {"io.toolhub/contract": {"category": "data"}, "org.example/a": 1}
    assert tool_for("mcp", definition).tool == {**definition, "_meta": {"org.example/a": 1}}


def test_mcp_gets_icons_and_task_support_only_as_it_knows_them() -> None:
    icons = [
        {"src": "a", "theme": "dark", "x": 1},
        {"src": 7},
        {},
        {"src": "b", "sizes": [1]},
        {"src": "c", "theme": []},
    ]
    found = tool_for("mcp", tool({}, icons=icons, execution={"taskSupport": "sometimes"}))
    assert (found.tool["icons"], found.tool["execution"]) == ([{"src": "a", "theme": "dark"}], {})
    assert [change.pointer for change in found.changes] == ["/icons", "/execution/taskSupport"]
    TYPES["mcp"].validate_python(found.tool)


def test_results_of_mcp_are_objects() -> None:
    made = tool_for("mcp", tool({}, outputSchema={"type": "array"})).tool
    assert made["outputSchema"] == {
        "type": "object",
        "properties": {"result": {"type": "array"}},
        "required": ["result"],
    }


HOSTILE: list[Any] = [
    {"$ref": "#/nowhere"},
    {"$ref": "http://x.example/"},
    {"properties": {"a": {"$ref": "#/properties/a"}}},
    {"properties": 5},
    {"properties": {"a": None, "b": [1], "c": {"type": 7}}},
    {"allOf": 5, "anyOf": [1, None]},
    {"required": "a"},
    {"properties": {"a": {"enum": 5}}},
    {"properties": {"a": {"type": "array", "items": [[]]}}},
    {"$defs": {f"a{n}": {"properties": {"x": {"$ref": f"#/$defs/a{n + 1}"}, "y": {"$ref": f"#/$defs/a{n + 1}"}}} for n in range(30)}, "properties": {"a": {"$ref": "#/$defs/a0"}}},
    {"type": "array"},
    {"type": ["object", "null"]},
]  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("schema", HOSTILE, ids=range(len(HOSTILE)))
def test_a_bad_tool_is_converted_or_left_out_and_never_breaks_a_list(provider: str, schema: Any) -> None:
    for definition in (tool(schema), {"name": "x", "inputSchema": schema}, {"name": "x"}):
        with contextlib.suppress(UnfitError):
            json.dumps(tool_for(provider, definition).tool)


def test_plain_text_is_a_line_a_tool() -> None:
    schema = {
        "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}, "c": {"enum": ["x", 1]}},
        "required": ["a"],
    }
    made = tool(schema, description="Plans\n a garden.\n\nMore.")
    assert text_line(made) == "- plan(a: string, b?: integer|null, c?: x|1): Plans a garden."
    assert len([text_line(each) for each in TOOLS.values()]) == 216


def test_the_definition_is_left_as_it_is() -> None:
    for definition in TOOLS.values():
        before = json.dumps(definition)
        for provider in PROVIDERS:
            try:
                tool_for(provider, definition)
            except UnfitError:
                continue
        assert json.dumps(definition) == before
