"""Conditions in CEL (the Common Expression Language's specification), within limits under which it is safe.

Values nested 10,000 deep ended the process. What goes beyond the limits fails, which for a condition means
no. Conditions hold this process's lock while they run.
"""

from collections.abc import Mapping
from typing import Any

from core.errors import InvalidRequest
from core.json.canonical import CanonicalError, canonical
from toolhub_sdk.checks.cel import (
    EXPRESSION_MAX,
    ExpressionError,
    expression_check,
    expression_compiled,
)
from toolhub_sdk.checks.cel import expression_names as cel_names

__all__ = ["EXPRESSION_MAX", "ConditionFailed", "cel_check", "cel_holds", "cel_names", "cel_value"]

ITEMS_MAX = 500
VALUE_BYTES_MAX = 65_536
DEPTH_MAX = 64


class ConditionFailed(Exception):
    """The condition could not be told true or false. The text says why, and holds no value."""


def cel_check(expression: str) -> None:
    """Raises InvalidRequest for an expression that is none or goes beyond the limits.

    The message says at which character, counted from 1.
    """
    try:
        expression_check(expression)
    except ExpressionError as error:
        raise InvalidRequest(str(error)) from error


def cel_value(expression: str, values: Mapping[str, Any]) -> Any:
    """What a checked expression makes of the values, which are JSON, as JSON. Raises ConditionFailed."""
    found = _executed(expression, values)
    try:
        canonical(found)
    except CanonicalError as error:
        raise ConditionFailed("it gave something that is not JSON") from error
    return found


def cel_holds(expression: str, values: Mapping[str, Any]) -> bool:
    """Whether a checked expression is true of the values, which are JSON. Raises ConditionFailed."""
    found = _executed(expression, values)
    if not isinstance(found, bool):
        raise ConditionFailed("it gave something that is neither true nor false")
    return found


def _executed(expression: str, values: Mapping[str, Any]) -> Any:
    try:
        size = len(canonical(values))
    except CanonicalError as error:
        raise ConditionFailed("its values are not plain JSON") from error
    if size > VALUE_BYTES_MAX:
        raise ConditionFailed(f"its values have more than {VALUE_BYTES_MAX} bytes")
    _values_check(values)
    try:
        return expression_compiled(expression).execute(dict(values))
    except KeyError as error:
        name = str(error.args[0])[:80] if error.args else ""
        raise ConditionFailed(f'it names "{name}", which is missing here') from error
    except Exception as error:
        raise ConditionFailed(f"it failed with {type(error).__name__}") from error


def _values_check(values: Any) -> None:
    pending: list[tuple[Any, int]] = [(values, 0)]
    while pending:
        value, depth = pending.pop()
        if depth > DEPTH_MAX:
            raise ConditionFailed(f"its values nest deeper than {DEPTH_MAX}")
        if isinstance(value, list) and len(value) > ITEMS_MAX:
            raise ConditionFailed(f"a list has more than {ITEMS_MAX} items")
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        pending.extend((one, depth + 1) for one in inner)
