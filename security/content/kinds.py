"""Which kind of field each argument is, as the tool's schema or contract names it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.json.pointer import pointer_parts

CHECKED = ("path", "command", "sql", "url", "html")
KINDS = (*CHECKED, "text", "code")
"""Fields of kind `text` and `code` are never looked at."""
EACH = "*"
"""In a field's place: each item of a list."""
KIND = "x-toolhub-kind"
DEPTH_MAX, FIELDS_MAX = 12, 500

_FORMATS = {
    "url": "uri uri-reference iri iri-reference url",
    "path": "path file-path directory-path filepath filename",
    "sql": "sql",
    "command": "command",
    "html": "html",
}
_MEDIA = {
    "html": "text/html",
    "sql": "application/sql",
    "command": "application/x-sh text/x-shellscript",
}
_WORDS = {
    "path": "path paths filepath file files filename dir dirs directory directories folder folders cwd"
    " workdir dirname pathname",
    "command": "command commands cmd shell cmdline commandline",
    "sql": "sql",
    "url": "url urls uri uris href webhook endpoint",
    "html": "html markup",
    "code": "code script snippet regex pattern source",
}


def _by_word(kinds: Mapping[str, str]) -> dict[str, str]:
    return {word: kind for kind, words in kinds.items() for word in words.split()}


_FORMAT_KINDS, _MEDIA_KINDS, _WORD_KINDS = map(_by_word, (_FORMATS, _MEDIA, _WORDS))
# A field that may hold SQL says so in its own description or the tool's.
_PERHAPS_SQL = frozenset({"query", "statement", "where", "queries", "statements", "filter"})
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SQL = re.compile(r"\bsql\b", re.IGNORECASE)
_OTHER_PATHS = re.compile(r"\bjson\b|jsonpath|xpath|\bpointer\b|dotted|\bcel\b", re.IGNORECASE)


@dataclass(frozen=True)
class Field:
    """An argument of a known kind; `place` are the names on the way to it, EACH for the items of a list."""

    place: tuple[str, ...]
    kind: str


def fields_of(schema: Mapping[str, Any], named: Mapping[str, str], about: str = "") -> tuple[Field, ...]:
    """The fields of an input schema whose kind is known, at most 500.

    `named` are kinds that the contract names, by JSON Pointer into the arguments (`*` for items); they win
    over the schema's `x-toolhub-kind`, that over formats, and those over names. `about` describes the tool.
    """
    found: dict[tuple[str, ...], str] = {}
    for place, name, node in _strings(schema, schema, (), "", 0):
        if len(found) == FIELDS_MAX:
            break
        kind = _kind(name, node, about)
        if kind:
            found.setdefault(place, kind)
    for text, kind in named.items():
        found[tuple(pointer_parts(text))] = kind
    return tuple(Field(place, kind) for place, kind in found.items())


def _strings(
    root: Mapping[str, Any], node: Any, place: tuple[str, ...], name: str, depth: int
) -> Iterator[tuple[tuple[str, ...], str, Mapping[str, Any]]]:
    """The places in which a text may stand, with their name and schema."""
    if not isinstance(node, Mapping) or depth > DEPTH_MAX:
        return
    if _takes_text(node):
        yield place, name, node
    # What stands beside a reference or alternatives counts for them, too.
    beside = {key: node[key] for key in (KIND, "format", "description") if key in node}
    for part in _alternatives(root, node):
        yield from _strings(root, {**part, **beside}, place, name, depth + 1)
    for key, part in _object(node, "properties").items():
        yield from _strings(root, part, (*place, key), key, depth + 1)
    for part in (node.get("items"), *_list(node, "prefixItems")):
        yield from _strings(root, part, (*place, EACH), name, depth + 1)


def _takes_text(node: Mapping[str, Any]) -> bool:
    types = node.get("type", "string" if KIND in node else None)
    return types == "string" or (isinstance(types, list) and "string" in types)


def _alternatives(root: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What stands for a schema: what it refers to, and the parts of which it is one or all."""
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for part in pointer_parts(reference[1:]):
            target = target.get(part) if isinstance(target, Mapping) else None
        if isinstance(target, Mapping):
            yield target
    for word in ("anyOf", "oneOf", "allOf"):
        yield from (part for part in _list(node, word) if isinstance(part, Mapping))


def _object(node: Mapping[str, Any], word: str) -> Mapping[str, Any]:
    found = node.get(word)
    return found if isinstance(found, Mapping) else {}


def _list(node: Mapping[str, Any], word: str) -> list[Any]:
    found = node.get(word)
    return found if isinstance(found, list) else []


def _kind(name: str, node: Mapping[str, Any], about: str) -> str:
    """The kind that a schema names for a text, by the first of these that says something."""
    declared, form, media = node.get(KIND), node.get("format"), node.get("contentMediaType")
    if declared in KINDS:
        return str(declared)
    if isinstance(form, str):  # a date or an e-mail address is of no kind
        return _FORMAT_KINDS.get(form, "")
    if isinstance(media, str):
        return _MEDIA_KINDS.get(media, "")
    if "enum" in node or "const" in node:
        return ""
    return _by_name(name, f"{node.get('description', '')} {node.get('title', '')}", about)


def _by_name(name: str, description: str, about: str) -> str:
    """By the last word of the name that says something: `source_path` is a path, `path_count` is not."""
    words = [word.lower() for word in _PARTS.findall(name)]
    if not words:
        return ""
    kind = _WORD_KINDS.get(words[-1]) or ("sql" if "sql" in words else "html" if "html" in words else "")
    if kind == "path" and _OTHER_PATHS.search(description):
        return ""
    if not kind and words[-1] in _PERHAPS_SQL and _SQL.search(f"{description} {about}"):
        return "sql"
    return kind
