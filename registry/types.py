"""The five types of tools that callers know, made from what carries a tool out."""

from django.db.models import Q

TYPES = ("builtin", "mcp", "external", "composed", "pipeline")
# Every other runner carries out code that is installed here: builtin.
_BY_RUNNER = {"mcp": "mcp", "http": "external", "composed": "composed", "pipeline": "pipeline"}


def type_of(runner: str) -> str:
    """The type of a tool that this runner carries out."""
    return _BY_RUNNER.get(runner, "builtin")


def has_type(names: tuple[str, ...], column: str) -> Q:
    """The rows whose runner, in `column`, makes one of these types."""
    found = Q(**{f"{column}__in": [runner for runner, name in _BY_RUNNER.items() if name in names]})
    return found | ~Q(**{f"{column}__in": list(_BY_RUNNER)}) if "builtin" in names else found
