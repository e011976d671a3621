"""Where a contract has expressions in CEL, what each of them may name, and what is wrong with them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolhub_sdk.checks.cel import ExpressionError, expression_check, expression_names
from toolhub_sdk.checks.graph import Path
from toolhub_sdk.checks.rule_names import unknown_argument
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import Problem, pointer

_PYTHON = re.compile(r"\b(and|or|not|is|None|True|False)\b")
# What every expression sees of the call.
CALL = ("arguments", "context", "context_data", "persona", "now")
RETRY = ("error", "attempt", *CALL)
STATE = ("value", *CALL)
EFFECT = ("result", "error", "current", *CALL)


@dataclass(frozen=True)
class Expression:
    """An expression at a path of the contract, and the names that it may use."""

    path: Path
    text: str
    names: tuple[str, ...]


def expression_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the expressions of a manifest whose form is right, with a pointer to each."""
    for index, definition in enumerate(manifest["tools"]):
        at = ("tools", index, "_meta", CONTRACT)
        schema = definition["inputSchema"]
        for expression in expressions_of(definition.get("_meta", {}).get(CONTRACT, {})):
            problem = _problem(expression, pointer([*at, *expression.path]), schema)
            if problem:
                yield problem


def _problem(expression: Expression, place: str, schema: Mapping[str, Any]) -> Problem | None:
    try:
        expression_check(expression.text)
    except ExpressionError as error:
        remedy = "Write one expression of CEL, such as size(arguments.town) > 1."
        if _PYTHON.search(expression.text):
            remedy = "In CEL it is &&, || and ! for and, or and not, and ==, null, true and false."
        return Problem(place, str(error), remedy)
    known = ", ".join(expression.names)
    for name in sorted(expression_names(expression.text) - set(expression.names)):
        own = name in schema.get("properties", {}) and "arguments" in expression.names
        remedy = f"Write arguments.{name}." if own else f"Use {known}."
        return Problem(place, f"The expression names {name[:80]!r}, which is not there.", remedy)
    unknown = unknown_argument({"expression": expression.text}, schema)
    if unknown and "arguments" in expression.names:
        return Problem(place, unknown, "Name an argument of the tool, or add it to inputSchema.")
    return None


def expressions_of(contract: Mapping[str, Any]) -> Iterator[Expression]:
    """All expressions of a contract whose form is right."""
    for index, one in enumerate(contract.get("validators", [])):
        yield Expression(("validators", index, "expression"), one["expression"], CALL)
    retry = contract.get("retry")
    if isinstance(retry, Mapping) and "retryIf" in retry:
        yield Expression(("retry", "retryIf"), retry["retryIf"], RETRY)
    for index, one in enumerate(contract.get("preconditions", [])):
        if "expression" in one:
            names = STATE if one["type"] == "state" else CALL
            yield Expression(("preconditions", index, "expression"), one["expression"], names)
    for index, one in enumerate(contract.get("effects", [])):
        for path, text in _of_effect(one):
            yield Expression(("effects", index, *path), text, EFFECT)


def _of_effect(effect: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for name in ("expression", "condition"):
        if name in effect:
            yield (name,), effect[name]
    for name, text in effect.get("arguments", {}).items():
        yield ("arguments", name), text
    for name, text in effect.get("rollback", {}).get("arguments", {}).items():
        yield ("rollback", "arguments", name), text
