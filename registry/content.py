"""Which of a tool's arguments are checked for attacks, and in which mode."""

import functools
from collections.abc import Mapping
from typing import Any

from registry.schemas import DefinitionSource
from security.content.check import violations_of
from security.content.kinds import CHECKED, Field, fields_of
from security.facts import ContentFact
from toolhub_sdk.package import CONTRACT

MODES = ("record", "block", "off")
DEFAULT = "record"


def content_fields(digest: str, definition: Mapping[str, Any]) -> tuple[Field, ...]:
    """The arguments that are checked, of the tool version with this digest; most tools have none."""
    return _fields(DefinitionSource(digest, definition))


def content_fact(
    fields: tuple[Field, ...], mode: str, arguments: Mapping[str, Any] | None
) -> ContentFact | None:
    """What a decision is to know; None where there is nothing to look at."""
    if not fields or arguments is None or mode == "off":
        return None
    return ContentFact(mode, violations_of(fields, arguments))


@functools.lru_cache(maxsize=4096)
def _fields(source: DefinitionSource) -> tuple[Field, ...]:
    definition = source.definition
    declared = definition.get("_meta", {}).get(CONTRACT, {})
    about = f"{definition.get('name', '')} {definition.get('title', '')} {definition.get('description', '')}"
    found = fields_of(definition["inputSchema"], declared.get("fieldKinds", {}), about.replace("_", " "))
    return tuple(field for field in found if field.kind in CHECKED)
