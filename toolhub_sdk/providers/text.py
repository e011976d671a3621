"""Tools as plain text for a prompt."""

from collections.abc import Mapping
from typing import Any


def text_line(definition: Mapping[str, Any]) -> str:
    """One line: `- name(a: string, b?: integer): The first paragraph of the description.`"""
    schema = _mapping(definition.get("inputSchema"))
    required = schema.get("required")
    wanted = required if isinstance(required, list) else ()
    properties = _mapping(schema.get("properties"))
    parameters = [
        f"{name}{'' if name in wanted else '?'}: {_type(part)}" for name, part in properties.items()
    ]
    first = str(definition.get("description", "")).strip().split("\n\n")[0]
    words = " ".join(first.split())
    return f"- {definition['name']}({', '.join(parameters)}): {words}".rstrip(": ")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _type(part: Any) -> str:
    if not isinstance(part, Mapping):
        return "any"
    if isinstance(part.get("enum"), list):
        return "|".join(str(value) for value in part["enum"][:20])
    kinds = part.get("type", "any")
    return "|".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)
