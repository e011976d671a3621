"""Tools for Anthropic's messages API."""

import re
from collections.abc import Mapping
from typing import Any

from toolhub_sdk.providers.conversion import Changes, Converted, Path, Schema, UnfitError
from toolhub_sdk.providers.schemas import each_part, plain_object
from toolhub_sdk.providers.shown import described

_MEMBER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def anthropic_tool(definition: Mapping[str, Any]) -> Converted:
    """`{name, description, input_schema}`. Raises UnfitError for members that it cannot name."""
    changes = Changes()
    schema = each_part(plain_object(definition["inputSchema"], changes), _with_known_names)
    tool = {**described(definition, changes, None), "input_schema": schema}
    return Converted(tool, tuple(changes.found))


def _with_known_names(part: Schema, path: Path) -> Schema:
    for name in part.get("properties", ()):
        if not _MEMBER.fullmatch(name):
            raise UnfitError(f"The parameter {name[:80]!r} has a name that is not taken: {_MEMBER.pattern}.")
    return part
