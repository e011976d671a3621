"""Name and description of a tool, as a model reads them."""

from collections.abc import Mapping
from typing import Any

from toolhub_sdk.providers.conversion import Change, Changes, Converted
from toolhub_sdk.providers.names import provider_name


def described(definition: Mapping[str, Any], changes: Changes, description_max: int | None) -> dict[str, Any]:
    """`{name, description}`; a description that is too long is cut."""
    name = provider_name(definition["name"])
    if name != definition["name"]:
        changes.found[Change("/name", f"Written as {name}.")] = None
    text = str(definition.get("description") or definition.get("title") or name)
    if description_max is not None and len(text) > description_max:
        message = f"Cut to {description_max} of {len(text)} characters."
        changes.found[Change("/description", message)] = None
        text = f"{text[: description_max - 1]}…"
    return {"name": name, "description": text}


def finished(definition: Mapping[str, Any], tool: dict[str, Any], changes: Changes) -> Converted:
    """The result of a conversion."""
    return Converted(tool, tuple(changes.found))
