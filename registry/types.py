"""The types of tools that callers know, made from the runtimes."""

from django.db.models import Q

from toolhub_sdk.runtimes.registry import runtime_find, runtimes
from toolhub_sdk.runtimes.traits import ToolType

TYPES = tuple(kind.value for kind in ToolType if any(each.tool_type is kind for each in runtimes().values()))


def type_of(runner: str) -> str:
    """The type of a tool of this runtime; one that the hub no longer has carried out installed code."""
    runtime = runtime_find(runner)
    return runtime.tool_type.value if runtime else ToolType.BUILTIN.value


def has_type(names: tuple[str, ...], column: str) -> Q:
    """The rows whose runtime, in `column`, makes one of these types."""
    others = [name for name, each in runtimes().items() if each.tool_type not in names]
    named = [name for name, each in runtimes().items() if each.tool_type in names]
    return ~Q(**{f"{column}__in": others}) if ToolType.BUILTIN in names else Q(**{f"{column}__in": named})
