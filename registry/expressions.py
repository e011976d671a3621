"""Compiles the CEL of a manifest's contracts when it is published, and says what is wrong with it."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.cel import cel_check, cel_names
from core.errors import InvalidRequest
from toolhub_sdk.checks.expressions import Expression, expressions_of
from toolhub_sdk.checks.problem import Problem, pointer
from toolhub_sdk.package import CONTRACT


def expression_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the expressions of a manifest whose form is right, with a pointer to each."""
    for index, definition in enumerate(manifest["tools"]):
        at = ("tools", index, "_meta", CONTRACT)
        for expression in expressions_of(definition.get("_meta", {}).get(CONTRACT, {})):
            problem = _problem(expression, pointer([*at, *expression.path]))
            if problem:
                yield problem


def _problem(expression: Expression, place: str) -> Problem | None:
    try:
        cel_check(expression.text)
    except InvalidRequest as error:
        return Problem(place, error.message, "Write one expression of CEL, such as size(arguments.town) > 1.")
    known = ", ".join(expression.names)
    for name in sorted(cel_names(expression.text) - set(expression.names)):
        return Problem(place, f"The expression names {name[:80]!r}, which is not there.", f"Use {known}.")
    return None
