"""The filters of lists of tools: read from a query or a body, and carried out once for both."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict

from core.errors import InvalidRequest
from registry.bodies import body_check
from registry.contracts import CATEGORIES
from registry.models import Tool, ToolVersion
from registry.patterns import pattern_compile
from registry.schemas import validator_build
from registry.types import TYPES, has_type
from registry.versions import is_version, relation

LISTS = ("type", "category", "tags", "capabilities")
VERSIONS = ("min_version", "max_version")
_TEXT = {"type": "string", "minLength": 1, "maxLength": 120}
_VERSION = {"type": "string", "maxLength": 64, "examples": ["1.4.0"]}
FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "array", "maxItems": 20, "items": {"enum": list(TYPES)}},
        "category": {"type": "array", "maxItems": 20, "items": {"enum": list(CATEGORIES)}},
        "tags": {"type": "array", "maxItems": 20, "items": _TEXT},
        "capabilities": {"type": "array", "maxItems": 20, "items": _TEXT},
        "min_version": _VERSION,
        "max_version": _VERSION,
        "pattern": {"type": "string", "maxLength": 200, "examples": ["^web"]},
        "collection": {
            "type": "string",
            "maxLength": 64,
            "pattern": "^[A-Za-z][A-Za-z0-9_-]*$",
            "examples": ["research"],
        },
    },
    "additionalProperties": False,
}
_FORM = validator_build(FILTER)
CHUNK = 200


@dataclass(frozen=True)
class ToolFilter:
    """What a list is narrowed to: one of the types and categories, all of the tags and capabilities.

    Versions are inclusive and ordered by semver 2.0.0 §11; `pattern` looks into name and description;
    `collection` is the name of one.
    """

    type: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    min_version: str | None = None
    max_version: str | None = None
    pattern: str | None = None
    collection: str | None = None


def filter_query(query: QueryDict) -> ToolFilter:
    """The filter in a query, where a list is a parameter that is repeated. Raises InvalidRequest."""
    members: dict[str, Any] = {}
    for name in FILTER["properties"]:
        values = query.getlist(name)
        if name in LISTS and values:
            members[name] = values
        elif len(values) > 1:
            raise InvalidRequest(f"{name} may be given once.", errors=[_at("", name, "Give it once.")])
        elif values:
            members[name] = values[0]
    return filter_read(members)


def filter_read(members: Any, at: str = "") -> ToolFilter:
    """The filter in an object, which stands at a JSON Pointer. Raises ToolHubError (422) with pointers."""
    body_check(_FORM, members, at)
    for name in VERSIONS:
        if name in members and not is_version(members[name]):
            message = f"{name} must be a version by semver 2.0.0, such as 1.4.0."
            raise InvalidRequest(message, errors=[_at(at, name, message)])
    try:
        pattern_compile(members.get("pattern", ""))
    except InvalidRequest as error:
        errors = [_at(at, "pattern", error.message)]
        raise InvalidRequest(error.message, errors=errors, suggestions=error.suggestions) from error
    lists = {name: tuple(members.get(name, ())) for name in LISTS}
    singles = {name: members.get(name) or None for name in (*VERSIONS, "pattern", "collection")}
    found: dict[str, Any] = {**lists, **singles}
    return ToolFilter(**found)


def _at(place: str, name: str, message: str) -> dict[str, str]:
    return {"pointer": f"{place}/{name}", "message": message}


def tools_filtered(rows: QuerySet[Tool], wanted: ToolFilter) -> Iterator[Tool]:
    """Those of `rows` (with package and active version) that pass, by name, read in chunks as needed.

    The database narrows by what stands in columns; what stands in definitions is looked at here.
    """
    if wanted.type:
        rows = rows.filter(has_type(wanted.type, "active__runner"))
    if wanted.category:
        rows = rows.filter(category__in=wanted.category)
    # On a JSON column `contains` looks for the value's canonical text: not yet exact, but it spares reading.
    for tag in wanted.tags:
        rows = rows.filter(Q(active__definition__contains=tag) | Q(overlay__contains=tag))
    for capability in wanted.capabilities:
        rows = rows.filter(active__required_capabilities__contains=capability)
    admits = _admission(wanted)
    after = ""
    while chunk := list(rows.filter(name__gt=after).order_by("name")[:CHUNK]):
        yield from (tool for tool in chunk if tool.active and admits(tool, tool.active))
        after = chunk[-1].name


def _admission(wanted: ToolFilter) -> Callable[[Tool, ToolVersion], bool]:
    """The part of the filter that looks into a version."""
    pattern = pattern_compile(wanted.pattern) if wanted.pattern else None

    def admits(tool: Tool, row: ToolVersion) -> bool:
        tags = tool.overlay.get("tags") or row.declared.get("tags", ())
        texts = (tool.name, row.definition.get("description", ""))
        return (
            (not wanted.min_version or relation(row.version, wanted.min_version) != "older")
            and (not wanted.max_version or relation(row.version, wanted.max_version) != "newer")
            and set(wanted.tags) <= set(tags)
            and set(wanted.capabilities) <= set(row.required_capabilities)
            and (pattern is None or any(pattern.matches(text) for text in texts))
        )

    return admits
