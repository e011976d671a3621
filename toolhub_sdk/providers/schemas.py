"""Makes a schema plain: references put in place, combinations at the root merged, lists with items."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolhub_sdk.providers.conversion import Changes, Path, Schema, UnfitError

NODES_MAX = 5_000
_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_SINGLE_TOO = ("unevaluatedProperties", "unevaluatedItems", "additionalItems")
_COMBINED = ("allOf", "anyOf", "oneOf")
_NOT_AT_ROOT = ("not", "if", "then", "else", "enum", "const", "dependentSchemas", "dependentRequired")
_ABOUT_ITSELF = ("$schema", "$id", "$comment", "$defs", "definitions", "$anchor", "dependencies")


def plain_object(schema: Mapping[str, Any], changes: Changes) -> Schema:
    """The schema of an object without references and without combinations at its root.

    Raises UnfitError where that cannot be.
    """
    made = _Inliner(schema, changes).inlined(schema, (), ())
    if not isinstance(made, dict) or made.get("type", "object") != "object":
        raise UnfitError("The schema's root is no object.")
    merged = merge_branches(made, (), changes, ("allOf", "anyOf", "oneOf"))
    for keyword in _NOT_AT_ROOT:
        if merged.pop(keyword, None) is not None:
            changes.add([keyword], "Left out: not allowed at the root.")
    properties = merged.get("properties")
    kept = properties if isinstance(properties, dict) else {}
    required = [name for name in merged.get("required", ()) if name in kept]
    return {**merged, "type": "object", "properties": kept, "required": required}


def merge_branches(schema: Schema, path: Path, changes: Changes, keywords: tuple[str, ...]) -> Schema:
    """The schema with the branches of these combinations merged into it: the members of all; of `anyOf` and
    `oneOf` only those required that each branch requires.
    """
    merged = dict(schema)
    for keyword in keywords:
        branches = [each for each in merged.pop(keyword, ()) if isinstance(each, dict)]
        if not branches:
            continue
        changes.add([*path, keyword], "Merged: the choice between the branches is left to the hub's check.")
        asked = [set(each.get("required", ())) for each in branches]
        always = set.union(*asked) if keyword == "allOf" else set.intersection(*asked)
        for branch in branches:
            inner = merge_branches(branch, path, changes, _COMBINED)
            for name, value in inner.items():
                if name == "properties":
                    merged[name] = {**value, **merged.get(name, {})}
                elif name not in ("required", "additionalProperties"):
                    merged.setdefault(name, value)
        both = [*merged.get("required", ()), *sorted(always - set(merged.get("required", ())))]
        if both:
            merged["required"] = both
    return merged


def parts_of(schema: Schema) -> Iterator[tuple[Path, Any, Callable[[Any], None]]]:
    """The schemas directly within one, with their path and a way to put another in their place."""
    for keyword in _MAPS:
        inner = schema.get(keyword)
        if isinstance(inner, dict):
            for name, part in list(inner.items()):
                yield (keyword, name), part, _setter(inner, name)
    for keyword in _LISTS:
        inner = schema.get(keyword)
        if isinstance(inner, list):
            for index, part in enumerate(inner):
                yield (keyword, index), part, _setter(inner, index)
    for keyword in (*_SINGLE, *_SINGLE_TOO):
        if isinstance(schema.get(keyword), dict):
            yield (keyword,), schema[keyword], _setter(schema, keyword)


def _setter(holder: Any, name: Any) -> Callable[[Any], None]:
    def put(value: Any) -> None:
        holder[name] = value

    return put


class _Inliner:
    """Copies a schema with each reference replaced by what it leads to."""

    def __init__(self, document: Mapping[str, Any], changes: Changes) -> None:
        self._document = document
        self._changes = changes
        self._nodes = 0

    def inlined(self, node: Any, path: Path, inside: tuple[str, ...]) -> Any:
        if not isinstance(node, Mapping):
            return node
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise UnfitError(f"With its references put in place the schema has more than {NODES_MAX} parts.")
        reference = node.get("$ref")
        if isinstance(reference, str):
            return self._referred(node, reference, path, inside)
        made = {name: value for name, value in node.items() if name not in _ABOUT_ITSELF}
        for keyword in (*_MAPS, *_LISTS):
            if isinstance(made.get(keyword), (dict, list)):
                made[keyword] = made[keyword].copy()
        self._tuple(made, path)
        for step, part, put in parts_of(made):
            put(self.inlined(part, (*path, *step), inside))
        return made

    def _tuple(self, made: Schema, path: Path) -> None:
        """Draft 7 writes `items` for what is `prefixItems` since 2020-12."""
        if isinstance(made.get("items"), list):
            made["prefixItems"] = made.pop("items").copy()
            self._changes.add([*path, "items"], "Written as prefixItems.")

    def _referred(self, node: Mapping[str, Any], reference: str, path: Path, inside: tuple[str, ...]) -> Any:
        beside = {name: value for name, value in node.items() if name != "$ref"}
        target = _target(self._document, reference)
        self._changes.add([*path, "$ref"], "Put in place.")
        if reference in inside:
            self._changes.add(path, "Open from here on: the schema refers to itself.")
            kind = target.get("type", "object") if isinstance(target, Mapping) else "object"
            return {"type": kind, **{k: v for k, v in beside.items() if k in ("description", "title")}}
        if not isinstance(target, Mapping):
            return self.inlined(beside, path, inside)
        return self.inlined({**target, **beside}, path, (*inside, reference))


def _target(document: Mapping[str, Any], reference: str) -> Any:
    if not reference.startswith("#"):
        raise UnfitError(f"The reference {reference[:80]!r} leads outside the schema.")
    found: Any = document
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    if found is None:
        raise UnfitError(f"The reference {reference[:80]!r} leads nowhere.")
    return found


def each_part(
    schema: Schema, change: Callable[[Schema, Path], Schema], path: Path = (), depth: int = 0
) -> Schema:
    """The schema with `change` applied to every part, the innermost first."""
    for step, part, put in parts_of(schema):
        if isinstance(part, dict):
            put(each_part(part, change, (*path, *step), depth + 1))
    return change(schema, path)


def with_items(schema: Schema, path: Path, changes: Changes, items: Schema) -> Schema:
    """A list's schema gets `items` where it has none: providers refuse lists without."""
    kinds = schema.get("type")
    is_list = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
    if is_list and not isinstance(schema.get("items"), dict):
        changes.add([*path, "items"], "Added: a list of anything.")
        return {**schema, "items": dict(items)}
    return schema
