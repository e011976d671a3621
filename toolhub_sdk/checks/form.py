"""Holds a manifest to the published schema, and says in words what does not fit."""

import difflib
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs

from toolhub_sdk.checks.engine import Validator, compiled
from toolhub_sdk.checks.problem import Problem, pointer

FILE = Path(__file__).parent.parent / "toolhub.schema.json"
"""The published JSON Schema of `toolhub.json`."""


@functools.cache
def published_schema() -> dict[str, Any]:
    """The published schema as JSON."""
    schema: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return schema


@functools.cache
def _validator() -> Validator:
    return compiled(published_schema())


def form_problems(manifest: Any) -> list[Problem]:
    """What does not fit the published schema, each with the pointer to the member that is wrong, missing or
    unknown.
    """
    if _validator().is_valid(manifest):
        return []
    return [problem for error in _validator().iter_errors(manifest) for problem in _in_words(error)]


def _in_words(error: jsonschema_rs.ValidationError) -> Iterator[Problem]:
    path = list(error.instance_path)
    schema, description = _at(list(error.schema_path)[:-1])
    words = _WORDS.get(error.kind.name)
    details = error.kind.as_dict()
    if error.kind.name == "required":
        name = details["property"]
        yield Problem(pointer([*path, name]), f"{name} is missing.", _described(schema, name))
    elif error.kind.name == "additionalProperties":
        known = list(schema.get("properties", ()))
        for name in details["unexpected"]:
            yield Problem(pointer([*path, name]), f"{name[:80]!r} is not known here.", _nearest(name, known))
    else:
        message = words.format(**details) if words else error.message[:200]
        yield Problem(pointer(path), message, description)


_WORDS: Mapping[str, str] = {
    "pattern": "The text does not have the form that it must have.",
    "enum": "It must be one of {options!r}.",
    "const": "It must be {expected_value!r}.",
    "oneOf": "Exactly one of two members must be there, or neither fits.",
    "minItems": "The list is too short.",
    "maxItems": "The list is too long.",
    "minLength": "The text is too short.",
    "maxLength": "The text is too long.",
    "uniqueItems": "An item is there twice.",
}


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


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {near[0]}?" if near else f"Leave it out. Known are {', '.join(known)}."
