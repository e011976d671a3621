"""A JSON Schema as a table that people can read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

DEEPEST = 4
ROWS_MAX = 100
# Keyword → words; what is not here is read in the raw schema.
CONSTRAINTS: Mapping[str, str] = {
    "const": "always {}",
    "enum": "one of {}",
    "format": "format {}",
    "pattern": "matches {}",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "uniqueItems": "no item twice",
}


@dataclass(frozen=True)
class Parameter:
    """One member: its path (`a.b`, `a[].b`), type in words, and what the schema says about it."""

    path: str
    type: str
    required: bool
    constraints: str
    description: str
    has_default: bool = False
    default: Any = None


def parameters_of(schema: Mapping[str, Any] | None) -> list[Parameter]:
    """The members of an object schema, nested ones after theirs, at most 4 deep and 100 in all."""
    if not schema:
        return []
    found: list[Parameter] = []
    for parameter in _members(schema, schema, "", 1):
        found.append(parameter)
        if len(found) == ROWS_MAX:
            break
    return found


def gives_words(schema: Mapping[str, Any] | None) -> str:
    """What a result without declared members is, in a sentence."""
    if not schema:
        return "It does not say what it gives."
    kind = type_words(schema, schema)
    more = ", ".join(_constraints(schema))
    about = str(schema.get("description", ""))
    if kind == "object":
        return f"An object, with members that it does not declare. {about}".strip()
    return f"One value: {kind}{f', {more}' if more else ''}. {about}".strip()


def _members(node: Mapping[str, Any], root: Mapping[str, Any], above: str, depth: int) -> Iterator[Parameter]:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or depth > DEEPEST:
        return
    required = node.get("required", [])
    for name, declared in properties.items():
        member = _resolved(declared, root)
        path = f"{above}{name}"
        yield Parameter(
            path=path,
            type=type_words(member, root),
            required=name in required,
            constraints=", ".join(_constraints(member)),
            description=str(member.get("description", "")),
            has_default="default" in member,
            default=member.get("default"),
        )
        yield from _members(member, root, f"{path}.", depth + 1)
        items = _resolved(member.get("items", {}), root)
        yield from _members(items, root, f"{path}[].", depth + 1)


def _resolved(node: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind a local `$ref`, with the members that stand beside it; {} for what is no object."""
    if not isinstance(node, Mapping):
        return {}
    target = node.get("$ref")
    if not isinstance(target, str) or not target.startswith("#/"):
        return node
    found: Any = root
    for part in target[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    beside = {name: value for name, value in node.items() if name != "$ref"}
    return {**found, **beside} if isinstance(found, Mapping) else beside


def type_words(node: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """The type as people say it: `string`, `array of integer`, `string or null`, `any`."""
    for keyword in ("anyOf", "oneOf"):
        if isinstance(node.get(keyword), list):
            choices = [type_words(_resolved(choice, root), root) for choice in node[keyword]]
            return " or ".join(dict.fromkeys(choices))
    declared = node.get("type", "any")
    if isinstance(declared, list):
        return " or ".join(str(each) for each in declared)
    if declared == "array" and "items" in node:
        return f"array of {type_words(_resolved(node['items'], root), root)}"
    return str(declared)


def _constraints(node: Mapping[str, Any]) -> Iterator[str]:
    for keyword, words in CONSTRAINTS.items():
        if keyword not in node or node[keyword] is False:
            continue
        value = node[keyword]
        shown = ", ".join(_text(each) for each in value) if isinstance(value, list) else _text(value)
        yield words.format(shown)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
