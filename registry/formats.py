"""Lists of tools in the forms of model providers."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.http import QueryDict

from core.errors import InvalidRequest
from registry.models import ToolVersion
from registry.schemas import DefinitionSource
from toolhub_sdk.providers import PROVIDERS, Converted, UnfitError, text_line, tool_for

TEXT = "text"
FORMATS = (*PROVIDERS, TEXT)
DYNAMIC = "Its arguments depend on the context. POST tools/{}/schema tells them, with `format` in this form."
FORMATS_MEANING = (
    "The tools as a provider takes them, under `tools`; what it has no form for is left out, with a warning. "
    "A tool whose arguments depend on the context is there with those that it has in each, and a warning. "
    "In strict forms optional parameters come as null: leave such out of the call. `text` is plain text, one "
    "line a tool."
)


def format_read(query: QueryDict, known: Sequence[str] = FORMATS) -> str | None:
    """The format that a query asks for, or None. Raises InvalidRequest for one that is not known."""
    asked = query.getlist("format")
    if not asked:
        return None
    if len(asked) > 1 or asked[0] not in known:
        message = f"format is one of {', '.join(known)}."
        raise InvalidRequest(message, errors=[{"pointer": "/format", "message": message}])
    return asked[0]


def tools_converted(provider: str, versions: Sequence[ToolVersion]) -> dict[str, Any]:
    """`{tools, warnings}`: each tool in the provider's form. One that has none becomes a warning
    `{tool, message}`; it never breaks the list. One whose schema depends on the context has a warning, too.
    """
    tools: list[dict[str, Any]] = []
    warnings: list[dict[str, str]] = []
    for version in versions:
        found = _converted(provider, version.tool.name, _source(version))
        if isinstance(found, Converted):
            tools.append(found.tool)
            if version.is_dynamic:
                warnings.append({"tool": version.tool.name, "message": DYNAMIC.format(version.tool.name)})
        else:
            warnings.append({"tool": version.tool.name, "message": found})
    return {"tools": tools, "warnings": warnings}


def tool_converted(provider: str, version: ToolVersion, schema: Mapping[str, Any]) -> dict[str, Any]:
    """`{tool, warnings}`: a tool in the provider's form with the schema of a context."""
    try:
        definition = {**version.definition, "inputSchema": schema}
        return {"tool": tool_for(provider, _named(definition, version.tool.name)).tool, "warnings": []}
    except UnfitError as error:
        return {"tool": None, "warnings": [str(error)]}


def tools_text(versions: Sequence[ToolVersion]) -> str:
    """The tools as lines of plain text, for a prompt."""
    return "".join(f"{_line(each)}\n" for each in versions)


def _line(version: ToolVersion) -> str:
    line = text_line(_named(version.definition, version.tool.name))
    return f"{line} Its arguments depend on the context." if version.is_dynamic else line


def _source(version: ToolVersion) -> DefinitionSource:
    return DefinitionSource(version.digest, version.definition)


def _named(definition: Any, name: str) -> dict[str, Any]:
    """The definition under the name that the tool has in this hub."""
    return {**definition, "name": name}


@lru_cache(maxsize=4096)
def _converted(provider: str, name: str, source: DefinitionSource) -> Converted | str:
    try:
        return tool_for(provider, _named(source.definition, name))
    except UnfitError as error:
        return str(error)
