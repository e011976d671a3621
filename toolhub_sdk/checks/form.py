"""Holds a manifest to the published schema, and says in words what does not fit."""

import functools
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from toolhub_sdk.checks.engine import Error, Validator, compiled
from toolhub_sdk.checks.graph import Path
from toolhub_sdk.checks.words import (
    choice_message,
    choice_remedy,
    form_remedy,
    one_of_words,
    shown,
    type_message,
    type_remedy,
    unknown_remedy,
)
from toolhub_sdk.problem import Problem, pointer
from toolhub_sdk.runtimes.registry import runtimes
from toolhub_sdk.runtimes.traits import Runtime

FOUND_MAX = 200
_CONTRACT = "the contract, _meta's io.toolhub/contract"
# Errors that may be made for one tool, at 10 to 20 µs each.
EFFORT = 200_000
# One more than a manifest may have.
TOO_MANY = 201
_TOOL: Mapping[str, Any] = {"name": "tool", "description": "Stands in.", "inputSchema": {"type": "object"}}
# What all runtimes share; each adds its part.
_BASE = FilePath(__file__).with_name("manifest.schema.json")


@functools.cache
def published_schema() -> dict[str, Any]:
    """The JSON Schema of `toolhub.json`, with the parts of all runtimes that there are."""
    schema: dict[str, Any] = json.loads(_BASE.read_text(encoding="utf-8"))
    runtime, definitions = schema["properties"]["runtime"], schema["$defs"]
    names = list(runtimes())
    runtime["properties"]["type"] = {"enum": names, "description": f"One of {', '.join(names)}."}
    runtime["allOf"] = [_branch(each) for each in runtimes().values()]
    for each in runtimes().values():
        definitions["contract"]["properties"].update(each.contract)
        definitions.update(each.definitions)
    return schema


def _branch(runtime: Runtime) -> dict[str, Any]:
    """What stands in a manifest's `runtime` of one type."""
    then = {
        "properties": {"type": True, **runtime.properties},
        "required": list(runtime.required),
        "additionalProperties": False,
    }
    named = {"type": "object", "properties": {"type": {"const": runtime.name}}, "required": ["type"]}
    return {"if": named, "then": then}


@functools.cache
def _validator() -> Validator:
    return compiled(published_schema())


@functools.cache
def _tool_validator() -> Validator:
    schema = published_schema()
    return compiled({"$defs": schema["$defs"], "$ref": "#/$defs/tool"})


def form_problems(manifest: Any) -> list[Problem]:
    """What does not fit the published schema, each with the pointer to the member that is wrong, missing or
    unknown; at most 200.
    """
    if _validator().is_valid(manifest):
        return []
    return list(itertools.islice(_found(manifest), FOUND_MAX))


def _found(manifest: Any) -> Iterator[Problem]:
    """The tools one by one: all at once, a large manifest could not be explained."""
    tools = manifest.get("tools") if isinstance(manifest, dict) else None
    if not isinstance(tools, list):
        yield from _explained(_validator(), manifest, ())
        return
    yield from _explained(_validator(), {**manifest, "tools": [_TOOL] * len(tools[:TOO_MANY])}, ())
    for index, definition in enumerate(tools[:TOO_MANY]):
        yield from _explained(_tool_validator(), definition, ("tools", index))


def _explained(validator: Validator, value: Any, above: Path) -> Iterator[Problem]:
    if validator.is_valid(value):
        return
    errors = validator.errors(value, EFFORT)
    if errors is None:
        message = "What stands here does not have its form, and is too large to say where."
        yield Problem(pointer([*above, *validator.culprit(value)]), message, "Make it smaller.")
    for error in errors or ():
        yield from _in_words(error, above)


def _in_words(error: Error, above: Path) -> Iterator[Problem]:
    path = (*above, *error.instance_path)
    schema, description = _at(list(error.schema_path)[:-1])
    details, value = error.kind.as_dict(), error.instance
    match error.kind.name:
        case "required":
            name = details["property"]
            yield Problem(pointer([*path, name]), f"{name} is missing.", _described(schema, name))
        case "additionalProperties":
            for name in details["unexpected"]:
                remedy = unknown_remedy(name, schema, _inner(schema))
                yield Problem(pointer([*path, name]), f"{name[:80]!r} is not known here.", remedy)
        case "propertyNames":
            name = str(details["error"].instance)
            rules = _at(list(error.schema_path)[: list(error.schema_path).index("propertyNames") + 1])[1]
            yield Problem(pointer([*path, name]), f"{name[:80]!r} cannot be a name here.", rules)
        case "type":
            types = details["types"]
            yield Problem(pointer(path), type_message(types, value), type_remedy(types, schema, description))
        case "enum":
            remedy = choice_remedy(details["options"], value, description)
            yield Problem(pointer(path), choice_message(details["options"]), remedy)
        case "const":
            yield Problem(pointer(path), f"It must be {shown(details['expected_value'])}.", description)
        case "pattern":
            message = f"{shown(value)} does not have the form that it must have."
            yield Problem(pointer(path), message, _form_remedy(path, schema, value, description))
        case "oneOf":
            yield Problem(pointer(path), *one_of_words(schema, value))
        case other:
            yield Problem(pointer(path), _WORDS.get(other, error.message[:200]), description)


_WORDS: Mapping[str, str] = {
    "minItems": "The list is too short.",
    "maxItems": "The list is too long.",
    "minLength": "The text is too short.",
    "maxLength": "The text is too long.",
    "uniqueItems": "An item is there twice.",
}


def _form_remedy(path: Path, schema: Mapping[str, Any], value: Any, description: str) -> str:
    """Names of code are the author's alone to mend."""
    code = path[-1] in {"entry", "function"} or "hooks" in path
    return description if code else form_remedy(schema["pattern"], value, description)


def _inner(schema: Mapping[str, Any]) -> dict[str, str]:
    """Where names have their place that are not of this object: in one of its members, or in the contract."""
    contract = published_schema()["$defs"]["contract"]["properties"]
    found = {} if schema.get("properties") is contract else dict.fromkeys(contract, _CONTRACT)
    for name, member in schema.get("properties", {}).items():
        if isinstance(member, Mapping):
            found |= dict.fromkeys(member.get("properties", ()), name)
    for name in published_schema()["$defs"]["contract"]["properties"]["resourceBounds"]["properties"]:
        found.setdefault(name, f"resourceBounds of {_CONTRACT}")
    return found


def _at(place: Sequence[str | int]) -> tuple[Mapping[str, Any], str]:
    """The schema at a location in the published one, and the description that is nearest above it."""
    node: Any = published_schema()
    description = str(node["description"])
    for part in place:
        node = node[part]
        if isinstance(node, Mapping):
            description = str(node.get("description", description))
    return node, description


def _described(schema: Mapping[str, Any], name: str) -> str:
    found = schema.get("properties", {}).get(name, {})
    reference = found.get("$ref", "") if isinstance(found, Mapping) else ""
    beside = published_schema()["$defs"].get(reference.rpartition("/")[2], {})
    words = {**beside, **found} if isinstance(found, Mapping) else beside
    return f"Add it. {words.get('description', '')}".strip()
