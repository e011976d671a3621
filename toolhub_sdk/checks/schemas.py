"""Whether a JSON Schema in a manifest is one that the hub takes."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.engine import ADDRESSES, Refusal, Validator, compiled, dialect_of
from toolhub_sdk.checks.expense import TooExpensiveError, looks_of
from toolhub_sdk.checks.graph import BadReferenceError, Graph, Path
from toolhub_sdk.problem import Problem, pointer

BYTES_MAX = 131_072
DEPTH_MAX = 40
PATTERN_MAX = 1_000
_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
# What other languages call them.
_MEANT = {
    "bool": "boolean",
    "dict": "object",
    "double": "number",
    "float": "number",
    "int": "integer",
    "list": "array",
    "map": "object",
    "none": "null",
    "None": "null",
    "str": "string",
    "text": "string",
}


def schema_problems(schema: Mapping[str, Any], at: str = "") -> list[Problem]:
    """What is wrong with a schema that stands at this JSON Pointer; empty when nothing is."""
    found = schema_compile(schema, at)
    return found if isinstance(found, list) else []


def schema_compile(schema: Mapping[str, Any], at: str = "") -> Validator | list[Problem]:
    """The compiled schema, or what is wrong with it.

    A schema is within the budgets (128 KiB, 40 levels, patterns of 1,000 characters), refers only to itself
    and is cheap to check for any value.
    """
    if unknown := _dialect_problem(schema, at):
        return [unknown]
    if _depth(schema) > DEPTH_MAX:
        return [Problem(at, "The schema is nested too deep.", f"At most {DEPTH_MAX} levels; use $defs.")]
    size = len(json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode())
    if size > BYTES_MAX:
        return [Problem(at, f"The schema has {size} bytes.", f"Make it at most {BYTES_MAX}.")]
    try:
        graph = Graph(schema)
        looks = looks_of(graph)
    except BadReferenceError as error:
        remedy = "Put what it refers to into the schema's $defs, and refer to it with #/$defs/…"
        return [Problem(at + pointer(error.path), error.message, remedy)]
    except TooExpensiveError as error:
        remedy = "Merge the branches, so that each part of a value is described once."
        return [Problem(at + pointer(error.path), error.message, remedy)]
    return [*_node_problems(graph, at)] or _compiled(schema, looks, at)


def _dialect_problem(schema: Mapping[str, Any], at: str) -> Problem | None:
    try:
        dialect_of(schema)
    except ValueError as error:
        remedy = f"Write {' or '.join(ADDRESSES)}, or leave $schema out for 2020-12."
        return Problem(f"{at}/$schema", str(error), remedy)
    return None


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level and depth <= DEPTH_MAX:
        inner = [each.values() if isinstance(each, Mapping) else each for each in level]
        level = [part for parts in inner for part in parts if isinstance(part, (Mapping, list))]
        depth += 1
    return depth


def _node_problems(graph: Graph, at: str) -> Iterator[Problem]:
    root = graph.nodes[0].schema.get("$schema")
    for node in graph.nodes:
        if "$id" in node.schema and node.path and not str(node.schema["$id"]).startswith("#"):
            message = "A schema inside another has an address of its own."
            yield Problem(at + pointer((*node.path, "$id")), message, "Leave $id out here.")
        if node.path and node.schema.get("$schema", root) != root:
            message = "A schema inside another names another dialect."
            yield Problem(at + pointer((*node.path, "$schema")), message, "Leave $schema out here.")
        named = node.schema.get("patternProperties")
        patterns: list[tuple[Path, Any]] = [(("pattern",), node.schema.get("pattern"))]
        if isinstance(named, Mapping):
            patterns += [(("patternProperties", name), name) for name in named]
        for path, text in patterns:
            if isinstance(text, str) and len(text) > PATTERN_MAX:
                message = f"The pattern has {len(text)} characters."
                remedy = f"Make it at most {PATTERN_MAX}."
                yield Problem(at + pointer((*node.path, *path)), message, remedy)


def _compiled(schema: Mapping[str, Any], looks: int, at: str) -> Validator | list[Problem]:
    try:
        return compiled(schema, looks)
    except Refusal as error:
        path = list(getattr(error, "instance_path", ()))
        message = str(getattr(error, "message", error))[:300]
        keyword, value = path[-1] if path else "", getattr(error, "instance", None)
        if keyword == "type":
            message = f"{value!r} is no type"
        remedy = _remedy(message, keyword, value)
        return [Problem(at + pointer(path), f"No valid JSON Schema: {message}.", remedy)]


def _remedy(message: str, keyword: str | int, value: Any) -> str:
    if "regex" in message:
        return "Write a regular expression without look-around and back-references."
    if keyword == "type":
        meant = _MEANT.get(value) if isinstance(value, str) else None
        return f"Did you mean {meant}?" if meant else f"Types are {', '.join(_TYPES)}."
    if keyword == "required":
        return 'Name the required properties in a list, beside properties: ["name"].'
    return "See json-schema.org for what this keyword takes."
