"""The types of tools that callers know, made from the runtimes."""

from django.db.models import Q

from toolhub_sdk.runtimes.registry import runtimes
from toolhub_sdk.runtimes.traits import ToolType

_BY_RUNNER = {name: each.tool_type.value for name, each in runtimes().items()}
TYPES = tuple(kind.value for kind in ToolType if kind.value in _BY_RUNNER.values())


def type_of(runner: str) -> str:
    """The type of a tool of this runtime; one that the hub no longer has carried out installed code."""
    return _BY_RUNNER.get(runner, ToolType.BUILTIN.value)


def has_type(names: tuple[str, ...], column: str) -> Q:
    """The rows whose runtime, in `column`, makes one of these types."""
    others = [runner for runner, kind in _BY_RUNNER.items() if kind not in names]
    named = [runner for runner, kind in _BY_RUNNER.items() if kind in names]
    return ~Q(**{f"{column}__in": others}) if ToolType.BUILTIN in names else Q(**{f"{column}__in": named})
