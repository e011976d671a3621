"""Tools for OpenAI's chat completions and responses, loose or strict."""

from collections.abc import Mapping
from typing import Any

from toolhub_sdk.providers.conversion import Changes, Converted, Path, Schema, UnfitError
from toolhub_sdk.providers.schemas import each_part, merge_branches, plain_object, with_items
from toolhub_sdk.providers.shown import described, finished

DESCRIPTION_MAX = 1024
PROPERTIES_MAX = 5_000
# Of all lists of choices together; those with more than 250 texts have a bound on their characters, too.
CHOICES_MAX = 1_000
LONG_CHOICES, LONG_CHOICES_CHARACTERS = 250, 15_000
# Of names, choices and constants together.
CHARACTERS_MAX = 120_000
DEPTH_MAX = 10
_STRICT = frozenset(
    {
        "type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items",
        "description", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "minItems", "maxItems",
    }
)  # fmt: skip
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


def chat_tool(definition: Mapping[str, Any], *, strict: bool = False) -> Converted:
    """A tool of chat completions: `{type, function: {name, description, parameters, strict}}`."""
    changes = Changes()
    function = _function(definition, changes, strict)
    return finished(definition, {"type": "function", "function": function}, changes)


def responses_tool(definition: Mapping[str, Any], *, strict: bool = False) -> Converted:
    """A tool of the responses API: `{type, name, description, parameters, strict}`."""
    changes = Changes()
    return finished(definition, {"type": "function", **_function(definition, changes, strict)}, changes)


def _function(definition: Mapping[str, Any], changes: Changes, strict: bool) -> dict[str, Any]:
    parameters = plain_object(definition["inputSchema"], changes)
    if strict:
        parameters = _strict(parameters, changes)
    else:
        parameters = each_part(parameters, lambda part, path: with_items(part, path, changes, {}))
    return {**described(definition, changes, DESCRIPTION_MAX), "parameters": parameters, "strict": strict}


def _strict(schema: Schema, changes: Changes) -> Schema:
    count = choices = characters = 0

    def part(node: Schema, path: Path) -> Schema:
        nonlocal count, choices, characters
        made = _strict_part(node, path, changes)
        count += len(made.get("properties", ()))
        values = [*made.get("enum", ()), *([made["const"]] if "const" in made else [])]
        texts = [value for value in values if isinstance(value, str)]
        choices += len(made.get("enum", ()))
        characters += sum(map(len, made.get("properties", ()))) + sum(map(len, texts))
        # A step is a keyword and, for members, a name: two parts of the path.
        if len(path) > 2 * DEPTH_MAX or count > PROPERTIES_MAX or characters > CHARACTERS_MAX:
            raise UnfitError("The schema is too deep or too large for strict.")
        too_long = len(texts) > LONG_CHOICES and sum(map(len, texts)) > LONG_CHOICES_CHARACTERS
        if choices > CHOICES_MAX or too_long:
            raise UnfitError("The lists of choices are too long for strict.")
        return made

    return each_part(schema, part)


def _strict_part(node: Schema, path: Path, changes: Changes) -> Schema:
    made = merge_branches(node, path, changes, ("allOf",))
    if "oneOf" in made:
        made["anyOf"] = [*made.get("anyOf", ()), *made.pop("oneOf")]
        changes.add([*path, "oneOf"], "Written as anyOf.")
    for keyword in [name for name in made if name not in _STRICT]:
        del made[keyword]
        if keyword not in ("title", "default", "examples", "$anchor"):
            changes.add([*path, keyword], "Left out: strict does not know it.")
    if made.get("format") is not None and made["format"] not in _FORMATS:
        changes.add([*path, "format"], "Left out: strict does not know it.")
        del made["format"]
    if not {"type", "enum", "const", "anyOf"} & made.keys():
        raise UnfitError(f"A part has no type, which strict demands: {'/'.join(map(str, path)) or 'root'}.")
    kinds = made.get("type")
    if kinds == "object" or (isinstance(kinds, list) and "object" in kinds):
        return _strict_object(made, path, changes)
    if (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)) and "items" not in made:
        raise UnfitError("A list says nothing of its items, which strict demands.")
    return made


def _strict_object(made: Schema, path: Path, changes: Changes) -> Schema:
    properties = made.get("properties", {})
    if path and not properties and made.get("additionalProperties") is not False:
        raise UnfitError(f"{'/'.join(map(str, path))} takes any members, which strict cannot say.")
    optional = [name for name in properties if name not in made.get("required", ())]
    for name in optional:
        changes.add([*path, "properties", name], "Optional: comes as null when it is left out.")
    if made.get("additionalProperties") not in (None, False):
        changes.add([*path, "additionalProperties"], "Set to false: strict takes no other members.")
    members = {name: _nullable(part) if name in optional else part for name, part in properties.items()}
    return {**made, "properties": members, "required": list(members), "additionalProperties": False}


def _nullable(schema: Schema) -> Schema:
    made = dict(schema)
    if "const" in made:
        made["enum"] = [made.pop("const")]
    if "enum" in made:
        made["enum"] = (
            list(dict.fromkeys([*made["enum"], None])) if None not in made["enum"] else made["enum"]
        )
    if "type" in made:
        kinds = made["type"] if isinstance(made["type"], list) else [made["type"]]
        made["type"] = kinds if "null" in kinds else [*kinds, "null"]
    elif "anyOf" in made:
        made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    return made
