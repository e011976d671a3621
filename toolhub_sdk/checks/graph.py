"""A JSON Schema as a graph: which schema applies to which part of a value, references followed.

Only what applies is looked at: a `$ref` inside an `enum` or a `default` is data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import unquote

Path: TypeAlias = tuple[str | int, ...]

_SAME_PLACE = ("not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies")
_MEMBERS = ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties")
_ITEMS = ("items", "prefixItems", "additionalItems", "contains", "unevaluatedItems")
_APART = ("$defs", "definitions", "propertyNames")
_KEYWORDS = frozenset((*_SAME_PLACE, *_MEMBERS, *_ITEMS, *_APART))
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset(
    {"dependentSchemas", "dependencies", "properties", "patternProperties", "$defs", "definitions"}
)
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class BadReferenceError(ValueError):
    """A reference that leaves the document or leads nowhere; `path` is where it stands."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


@dataclass(frozen=True)
class Step:
    """From a schema to one of a part: of the member or item `name`, or without a name of all but `others`."""

    target: int
    name: str | int | None = None
    others: frozenset[str | int] = frozenset()


@dataclass
class Node:
    """One schema: the others that apply to the same value, and those of its members and items."""

    path: Path
    schema: Mapping[str, Any]
    same_place: list[int] = field(default_factory=list)
    members: list[Step] = field(default_factory=list)
    items: list[Step] = field(default_factory=list)


class Graph:
    """The nodes of a schema document; the root has number 0. Raises BadReferenceError."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.nodes: list[Node] = []
        self._document = document
        self._numbers: dict[int, int] = {}
        self._anchors: dict[str, int] = {}
        self._pending: list[tuple[Node, str, str]] = []
        self._add(document, ())
        while self._pending:
            node, keyword, target = self._pending.pop()
            node.same_place.append(self._found(node, keyword, target))

    def _add(self, schema: Mapping[str, Any], path: Path) -> int:
        if id(schema) in self._numbers:
            return self._numbers[id(schema)]
        number = self._numbers[id(schema)] = len(self.nodes)
        node = Node(path, schema)
        self.nodes.append(node)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchors[schema[keyword]] = number
        for keyword in _REFERENCES:
            if isinstance(schema.get(keyword), str):
                self._pending.append((node, keyword, schema[keyword]))
        for keyword in schema.keys() & _KEYWORDS:
            self._add_keyword(node, keyword)
        return number

    def _add_keyword(self, node: Node, keyword: str) -> None:
        parts = [(name, self._add(part, path)) for name, part, path in _parts(node, keyword)]
        if keyword in _SAME_PLACE:
            node.same_place += [number for _, number in parts]
        elif keyword in _MEMBERS:
            node.members += [_step(node, keyword, name, number) for name, number in parts]
        elif keyword in _ITEMS:
            node.items += [_step(node, keyword, name, number) for name, number in parts]

    def _found(self, node: Node, keyword: str, target: str) -> int:
        path = (*node.path, keyword)
        if not target.startswith("#"):
            raise BadReferenceError(path, f"The reference {target[:80]!r} leads outside the document.")
        if target[1:] in self._anchors:
            return self._anchors[target[1:]]
        schema: Any = self._document
        place = unquote(target[1:])
        for part in place.split("/")[1:]:
            schema = _member(schema, part.replace("~1", "/").replace("~0", "~"))
        if (place and not place.startswith("/")) or not isinstance(schema, (Mapping, bool)):
            raise BadReferenceError(path, f"The reference {target[:80]!r} leads nowhere.")
        return self._add({} if isinstance(schema, bool) else schema, path)


def _member(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    return None


def _parts(node: Node, keyword: str) -> Iterator[tuple[str | int | None, Mapping[str, Any], Path]]:
    """The schemas under a keyword, with name or index where it has such. What is no schema is left out."""
    value, path = node.schema[keyword], (*node.path, keyword)
    if keyword in _MAPS and isinstance(value, Mapping):
        for name, part in value.items():
            if isinstance(part, Mapping):
                yield name, part, (*path, name)
    elif (keyword in _LISTS or keyword == "items") and isinstance(value, list):
        for index, part in enumerate(value):
            if isinstance(part, Mapping):
                yield index, part, (*path, index)
    elif keyword not in _MAPS and isinstance(value, Mapping):
        yield None, value, path


def _step(node: Node, keyword: str, name: str | int | None, number: int) -> Step:
    if keyword in ("properties", "prefixItems") or (keyword == "items" and name is not None):
        return Step(number, name=name)
    properties, prefix = node.schema.get("properties"), node.schema.get("prefixItems")
    others: frozenset[str | int] = frozenset()
    if keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(properties, Mapping):
        others = frozenset(properties)
    elif keyword == "items" and isinstance(prefix, list):
        others = frozenset(range(len(prefix)))
    return Step(number, others=others)
