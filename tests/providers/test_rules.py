"""The rules of each provider for the tools that it takes, held against real tools and hostile ones.

Each rule names where it was read, on 29 November 2026.
"""

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.providers.test_conversion import TOOLS, tool
from toolhub_sdk.providers import UnfitError, tool_for

GOOGLE = "google-genai 3, types.py: GenerateContentConfig.response_json_schema, FunctionDeclaration, Schema"
EMPTY = (
    "https://github.com/BerriAI/litellm/pull/14155, https://github.com/sbroenne/mcp-server-excel/issues/607"
)
NUMBERS = "https://github.com/microsoft/azure-devops-mcp/issues/145"
OPENAI = "https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas"
ANTHROPIC = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"
MCP = "https://modelcontextprotocol.io/specification: Tool"
JSON_KEYWORDS = {
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items",
    "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties",
    "additionalProperties", "required", "propertyOrdering",
}  # fmt: skip
OWN_KEYWORDS = {
    "anyOf", "default", "description", "enum", "example", "format", "items", "maxItems", "maxLength",
    "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "nullable", "pattern",
    "properties", "propertyOrdering", "required", "title", "type",
}  # fmt: skip
STRICT_KEYWORDS = {
    "type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items",
    "description", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "minItems", "maxItems", "$ref", "$defs",
}  # fmt: skip
_MAPS = {"properties", "$defs", "patternProperties"}


def schemas(part: Any) -> Iterator[Mapping[str, Any]]:
    """Each schema in a schema; what stands in `enum` and the like is none."""
    if not isinstance(part, dict):
        return
    yield part
    for name, value in part.items():
        if name in _MAPS:
            for inner in value.values():
                yield from schemas(inner)
        elif name in ("items", "additionalProperties", "not"):
            yield from schemas(value)
        elif name in ("anyOf", "oneOf", "allOf", "prefixItems"):
            for inner in value:
                yield from schemas(inner)


@dataclass(frozen=True)
class Rule:
    """What a provider asks of the form of a tool, and where that is written."""

    providers: tuple[str, ...]
    words: str
    source: str
    holds: Callable[[Any], bool]


def every(path: str, holds: Callable[[Mapping[str, Any]], bool]) -> Callable[[Any], bool]:
    """Whether a test holds for each schema under a member of the form; without the member it does."""
    return lambda made: all(holds(one) for one in schemas(made.get(path)))


def strict(holds: Callable[[Mapping[str, Any]], bool]) -> Callable[[Any], bool]:
    return lambda made: all(holds(one) for one in schemas(made.get("function", made)["parameters"]))


def name_fits(pattern: str) -> Callable[[Any], bool]:
    return lambda made: re.fullmatch(pattern, made.get("function", made)["name"]) is not None


STRICT = ("openai-strict", "openai-responses-strict")
EVERY_OPENAI = ("openai", "openai-responses", *STRICT)
RULES = [
    Rule(
        ("gemini",),
        "known keywords",
        GOOGLE,
        every("parametersJsonSchema", lambda s: s.keys() <= JSON_KEYWORDS),
    ),
    Rule(("gemini",), "own keywords", GOOGLE, every("parameters", lambda s: s.keys() <= OWN_KEYWORDS)),
    Rule(
        ("gemini",),
        "one of parameters and parametersJsonSchema",
        GOOGLE,
        lambda made: not {"parameters", "parametersJsonSchema"} <= made.keys(),
    ),
    Rule(("gemini",), "no empty choice", EMPTY, every("parameters", lambda s: "" not in s.get("enum", ()))),
    Rule(
        ("gemini",),
        "no empty choice in a JSON Schema",
        EMPTY,
        every("parametersJsonSchema", lambda s: "" not in s.get("enum", ())),
    ),
    Rule(
        ("gemini",),
        "choices of texts",
        NUMBERS,
        every("parameters", lambda s: all(isinstance(v, str) for v in s.get("enum", ()))),
    ),
    Rule(
        ("gemini",),
        "choices of texts and numbers in a JSON Schema",
        GOOGLE,
        every(
            "parametersJsonSchema",
            lambda s: all(isinstance(v, str | int | float) and v is not True for v in s.get("enum", ())),
        ),
    ),
    Rule(
        ("gemini",),
        "names of parameters",
        GOOGLE,
        every(
            "parameters",
            lambda s: all(
                re.fullmatch(r"[A-Za-z_]\w{0,63}", name, re.ASCII) for name in s.get("properties", ())
            ),
        ),
    ),
    Rule(("gemini",), "a name", GOOGLE, name_fits(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")),
    Rule(EVERY_OPENAI, "a name", OPENAI, name_fits(r"[A-Za-z0-9_-]{1,64}")),
    Rule(STRICT, "known keywords", OPENAI, strict(lambda s: s.keys() <= STRICT_KEYWORDS)),
    Rule(
        STRICT,
        "closed objects with all members required",
        OPENAI,
        strict(
            lambda s: (
                "properties" not in s
                or (s["additionalProperties"] is False and s["required"] == list(s["properties"]))
            )
        ),
    ),
    Rule(
        STRICT,
        "a root that is no choice",
        OPENAI,
        lambda made: (
            made.get("function", made)["parameters"].get("type") == "object"
            and "anyOf" not in made.get("function", made)["parameters"]
        ),
    ),
    Rule(
        STRICT,
        "at most 1,000 choices",
        OPENAI,
        lambda made: (
            sum(len(s.get("enum", ())) for s in schemas(made.get("function", made)["parameters"])) <= 1_000
        ),
    ),
    Rule(("anthropic",), "a name", ANTHROPIC, name_fits(r"[a-zA-Z0-9_-]{1,64}")),
    Rule(
        ("anthropic",),
        "an object without combinations at its root",
        ANTHROPIC,
        lambda made: (
            made["input_schema"]["type"] == "object"
            and not {"anyOf", "oneOf", "allOf"} & made["input_schema"].keys()
        ),
    ),
    Rule(
        ("anthropic",),
        "names of parameters",
        ANTHROPIC,
        every(
            "input_schema",
            lambda s: all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in s.get("properties", ())),
        ),
    ),
    Rule(("mcp",), "an object", MCP, lambda made: made["inputSchema"].get("type") == "object"),
]
HOSTILE = [
    {"properties": {"sort": {"type": "string", "enum": ["", "asc", "desc"]}}},
    {"properties": {"sort": {"enum": [""]}}},
    {"properties": {"sort": {"const": ""}, "more": {"type": "object"}}},
    {"properties": {"any": {"type": "object"}, "sort": {"enum": ["", "a", None, True, 1]}}},
    {"properties": {"any": {"type": "object", "patternProperties": {"^a": {"type": "string"}}}}},
    {"properties": {"any": {"type": "object", "propertyNames": {"maxLength": 3}, "minProperties": 1}}},
    {"properties": {"any": {"type": "object"}, "n": {"exclusiveMinimum": 0, "multipleOf": 2, "not": {"const": 4}}}},
    {"properties": {"any": {"type": "object"}, "t": {"type": "string", "pattern": "^a", "minLength": 1}}},
    {"properties": {"any": {"type": "object"}, "u": {"type": "array", "uniqueItems": True, "contains": {}}}},
    {"properties": {"any": {"type": "object"}, "d": {"if": {"const": 1}, "then": {"const": 1}, "default": 1}}},
    {"properties": {"with-dash": {"type": "string"}, "$top": {"type": "integer"}, "a.b": {"type": "string"}}},
    {"properties": {"a": {"allOf": [{"type": "object"}, {"minProperties": 1}]}, "b": {"$ref": "#/$defs/b"}},
     "$defs": {"b": {"type": "object", "properties": {"c": {"enum": ["", "x"]}}}}},
    {"properties": {str(n): {"type": "string", "enum": [f"{n}-{m}" for m in range(300)]} for n in range(4)}},
    {"properties": {"a": {"type": "string", "enum": ["x" * 80 + str(n) for n in range(300)]}}},
]  # fmt: skip


@functools.cache
def forms(provider: str) -> list[Any]:
    """The provider's form of each tool that fits it."""
    found = []
    for definition in [*TOOLS.values(), *(tool(schema) for schema in HOSTILE)]:
        with contextlib.suppress(UnfitError):
            found.append(tool_for(provider, definition).tool)
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.providers[0]}: {rule.words}")
def test_each_rule_holds_for_each_tool(rule: Rule) -> None:
    assert rule.source
    for provider in rule.providers:
        for made in forms(provider):
            assert rule.holds(made), (provider, rule.words, rule.source, made)
        assert len(forms(provider)) > 200


def test_an_empty_choice_is_told_in_words() -> None:
    made = tool_for("gemini", tool(HOSTILE[0]))
    part = made.tool["parameters"]["properties"]["sort"]
    assert "enum" not in part
    assert part["description"] == 'One of "", "asc", "desc".'
    assert any("empty" in change.message for change in made.changes)


def test_too_many_choices_do_not_fit_strict() -> None:
    for schema in HOSTILE[-2:]:
        with pytest.raises(UnfitError, match="choices"):
            tool_for("openai-strict", tool(schema))
