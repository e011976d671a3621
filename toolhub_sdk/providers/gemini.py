"""Tools for Gemini: function declarations with the part of OpenAPI's schemas that it knows."""

import json
import re
from collections.abc import Mapping
from typing import Any

from toolhub_sdk.providers.conversion import Changes, Converted, Path, Schema
from toolhub_sdk.providers.schemas import each_part, merge_branches, plain_object, with_items
from toolhub_sdk.providers.shown import described

_KNOWN = frozenset(
    {
        "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems",
        "properties", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern",
        "minimum", "maximum", "anyOf",
    }
)  # fmt: skip
# Of JSON Schema, by the description of `responseJsonSchema` in Google's client (google-genai, types.py);
# references are put in place before.
_KNOWN_JSON = frozenset(
    {
        "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
        "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required",
    }
)  # fmt: skip
# Names of parameters by the description of FunctionDeclaration.parameters there.
_MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_FORMATS = {
    "string": ("date-time", "enum"),
    "number": ("float", "double"),
    "integer": ("int32", "int64"),
}
_SILENT = frozenset({"additionalProperties", "default", "examples", "$anchor", "deprecated"})


def gemini_tool(definition: Mapping[str, Any]) -> Converted:
    """`{name, description, parameters}`; without parameters for a tool that takes none.

    Where a part takes any members, or has a member with a name that its own schemas do not take,
    `parametersJsonSchema` stands instead, with the keywords that are known there.
    """
    changes = Changes()
    shown = described(definition, changes, None)
    schema = plain_object(definition["inputSchema"], changes)
    if not schema["properties"]:
        return Converted(shown, tuple(changes.found))
    if why := _needs_json_schema(schema):
        changes.add([], f"Given as parametersJsonSchema: {why}.")
        made = each_part(schema, lambda part, path: _json_part(part, path, changes))
        return Converted({**shown, "parametersJsonSchema": made}, tuple(changes.found))
    made = each_part(schema, lambda part, path: _part(part, path, changes))
    return Converted({**shown, "parameters": made}, tuple(changes.found))


def _needs_json_schema(schema: Schema) -> str:
    """Why Gemini's own schemas cannot say what the schema says; empty where they can."""
    found = ""

    def look(part: Schema, path: Path) -> Schema:
        nonlocal found
        if any(not _MEMBER.fullmatch(name) for name in part.get("properties", ())):
            found = found or "a parameter's name has other characters than letters, digits and underscores"
        kinds = part.get("type")
        is_object = kinds == "object" or (isinstance(kinds, list) and "object" in kinds)
        combined = {"anyOf", "oneOf", "allOf"} & part.keys()
        if is_object and not part.get("properties") and not combined:
            found = found or "a part takes any members"
        return part

    each_part(schema, look)
    return found


def _json_part(node: Schema, path: Path, changes: Changes) -> Schema:
    """A part with the keywords of JSON Schema that Gemini knows, and choices of texts and numbers alone."""
    made = merge_branches(node, path, changes, ("allOf",))
    if "const" in made:
        made["enum"] = [made.pop("const")]
    if not all(isinstance(value, str | int | float) and _is_choice(value) for value in made.get("enum", ())):
        made = _told_choices(made, path, changes)
    return _without(made, _KNOWN_JSON, path, changes)


def _is_choice(value: object) -> bool:
    """Whether a value may stand in `enum`; an empty text is refused with `enum[0]: cannot be empty`."""
    return value != "" and not isinstance(value, bool)


def _without(made: Schema, known: frozenset[str], path: Path, changes: Changes) -> Schema:
    for keyword in [name for name in made if name not in known]:
        del made[keyword]
        if keyword not in _SILENT:
            changes.add([*path, keyword], "Left out: not known there.")
    return made


def _part(node: Schema, path: Path, changes: Changes) -> Schema:
    made = merge_branches(node, path, changes, ("allOf",))
    if "oneOf" in made:
        made["anyOf"] = [*made.get("anyOf", ()), *made.pop("oneOf")]
        changes.add([*path, "oneOf"], "Written as anyOf.")
    if "const" in made:
        made["enum"] = [made.pop("const")]
    made = _one_type(made, path, changes)
    made = with_items(_text_choices(made, path, changes), path, changes, {"type": "string"})
    made = _without(made, _KNOWN, path, changes)
    if "format" in made and made["format"] not in _FORMATS.get(made.get("type", ""), ()):
        changes.add([*path, "format"], "Left out: not known there.")
        del made["format"]
    if "required" in made:
        made["required"] = [name for name in made["required"] if name in made.get("properties", {})]
    return made


def _one_type(made: Schema, path: Path, changes: Changes) -> Schema:
    """A list of types becomes one that may be null, or a choice between schemas of one type each."""
    kinds = made.get("type")
    choices = [each for each in made.get("anyOf", ()) if each.get("type") != "null"]
    if len(choices) < len(made.get("anyOf", ())):
        made = {**made, "anyOf": choices, "nullable": True}
        if len(choices) == 1:
            made = {**choices[0], **{name: value for name, value in made.items() if name != "anyOf"}}
            kinds = made.get("type")
    if isinstance(kinds, list):
        changes.add([*path, "type"], "A list of types is written as a choice.")
        plain = [kind for kind in kinds if kind != "null"]
        rest = {name: value for name, value in made.items() if name != "type"}
        made = {**rest, "type": plain[0]} if len(plain) == 1 else _choice(rest, plain)
        made |= {"nullable": True} if "null" in kinds else {}
    if not {"type", "anyOf"} & made.keys():
        values = [value for value in made.get("enum", ()) if value is not None]
        kind = _kind(values[0]) if values else "string"
        changes.add([*path, "type"], f"Given as {kind}: each part has a type there.")
        made["type"] = kind
    return made


def _choice(rest: Schema, kinds: list[str]) -> Schema:
    inner = ("items", "properties", "required")
    shared = {name: value for name, value in rest.items() if name in inner}
    branches = []
    for kind in kinds:
        own = shared if kind in ("array", "object") else {}
        branch: Schema = {"type": kind, **own}
        if kind == "array" and "items" not in branch:
            branch["items"] = {"type": "string"}
        branches.append(branch)
    kept = {name: value for name, value in rest.items() if name in ("title", "description", "nullable")}
    return {**kept, "anyOf": branches}


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {int: "integer", float: "number", list: "array", dict: "object"}.get(type(value), "string")


def _text_choices(made: Schema, path: Path, changes: Changes) -> Schema:
    """Only texts that are not empty can be chosen from; other choices are told in the description."""
    if "enum" not in made:
        return made
    values = made["enum"]
    texts = [value for value in values if isinstance(value, str)]
    if made.get("type") == "string" and texts and "" not in texts:
        nullable = {"nullable": True} if None in values else {}
        return {**made, "enum": texts, **nullable}
    return _told_choices(made, path, changes)


def _told_choices(made: Schema, path: Path, changes: Changes) -> Schema:
    changes.add([*path, "enum"], "Told in the description: only texts that are not empty can be chosen from.")
    told = f"One of {', '.join(json.dumps(value) for value in made['enum'])}."
    rest = {name: value for name, value in made.items() if name != "enum"}
    return {**rest, "description": f"{made.get('description', '')} {told}".strip()}
