"""Reads the parts of a JSON Schema that its errors point to."""

from collections.abc import Mapping, Sequence
from typing import Any

_HOPS = 20


def part_at(schema: Mapping[str, Any], path: Sequence[str | int]) -> Mapping[str, Any]:
    """Return the schema at a path of keywords and names, its references resolved; {} where there is none."""
    found: Any = schema
    for step in path:
        if isinstance(found, Mapping) and step not in found and "$ref" in found:
            found = resolved(found, schema)
        if isinstance(found, Mapping):
            found = found.get(str(step))
        elif isinstance(found, list) and isinstance(step, int) and step < len(found):
            found = found[step]
        else:
            return {}
    return resolved(found, schema) if isinstance(found, Mapping) else {}


def resolved(part: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a local reference leads to, with the keywords beside the reference."""
    for _ in range(_HOPS):
        target = part.get("$ref")
        if not isinstance(target, str) or not target.startswith("#"):
            break
        found: Any = root
        for step in target[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        beside = {name: value for name, value in part.items() if name != "$ref"}
        part = {**found, **beside} if isinstance(found, Mapping) else beside
    return part


def properties_of(part: Mapping[str, Any], root: Mapping[str, Any]) -> list[str]:
    """Return the names of the members that a schema declares, also through `allOf`, `anyOf` and `oneOf`.

    Those that it requires come first.
    """
    required = resolved(part, root).get("required", ())
    return sorted(members_of(part, root), key=lambda name: name not in required)


def members_of(part: Mapping[str, Any], root: Mapping[str, Any], depth: int = 4) -> dict[str, Any]:
    """Return the schemas of the members that a schema declares, by name; as `properties_of`."""
    part = resolved(part, root)
    declared = part.get("properties")
    found = dict(declared) if isinstance(declared, Mapping) else {}
    for keyword in ("allOf", "anyOf", "oneOf") if depth else ():
        for branch in part.get(keyword, ()):
            if isinstance(branch, Mapping):
                found = {**members_of(branch, root, depth - 1), **found}
    return found


def hides(part: Mapping[str, Any]) -> bool:
    """Whether values of the schema are secrets, which no message repeats."""
    return part.get("writeOnly") is True or part.get("format") == "password"
