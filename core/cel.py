"""Conditions in CEL (the Common Expression Language's specification), within limits under which it is safe.

Without limits a nested `map` over 10,000 items took the library 8.6 s, and values nested 10,000 deep or
30,000 signs in a row ended the process. What goes beyond them fails, which for a condition means no.
Conditions hold this process's lock while they run.
"""

import functools
import importlib
import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from core.errors import InvalidRequest
from core.json.canonical import CanonicalError, canonical

EXPRESSION_MAX = 2000
ITEMS_MAX = 500
VALUE_BYTES_MAX = 65_536
DEPTH_MAX = 64
_PARENTHESES_MAX = 32
_STRING = re.compile(r"""[rR]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
_MACRO = re.compile(r"\.\s*(?:map|filter|all|exists|exists_one)\s*\(")
_MACRO_NAME = re.compile(_MACRO.pattern + r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*,")
_FAULT = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_WORDS = 200


class ConditionFailed(Exception):
    """The condition could not be told true or false. The text says why, and holds no value."""


def cel_check(expression: str) -> None:
    """Raises InvalidRequest for an expression that is none or goes beyond the limits.

    The message says at which character, counted from 1.
    """
    if not len(expression.strip()) >= 1 or len(expression) > EXPRESSION_MAX:
        raise InvalidRequest(f"An expression has 1 to {EXPRESSION_MAX} characters.")
    bare = _STRING.sub("''", expression)
    if _macros_nested(bare):
        raise InvalidRequest("An expression may not nest map, filter, all or exists.")
    if _depth(bare) > _PARENTHESES_MAX:
        raise InvalidRequest(f"An expression nests at most {_PARENTHESES_MAX} brackets.")
    try:
        _compiled(expression)
    except Exception as error:
        raise InvalidRequest(f"This is no CEL{_where(expression, str(error))}") from error


def cel_names(expression: str) -> frozenset[str]:
    """The variables that a checked expression names, but for those of its own macros."""
    bare = _STRING.sub("''", expression)
    return frozenset(_compiled(expression).variables()) - set(_MACRO_NAME.findall(bare))


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
        return _compiled(expression).execute(dict(values))
    except Exception as error:
        raise ConditionFailed(f"it failed with {type(error).__name__}") from error


def _where(expression: str, said: str) -> str:
    """What the library says of the first fault, with the character where it is."""
    found = _FAULT.search(said)
    if found is None:
        return f": {said[:_WORDS]}"
    line, column, why = int(found[1]), int(found[2]), found[3]
    at = sum(len(one) + 1 for one in expression.split("\n")[: line - 1]) + column
    if at > len(expression):
        return f": it ends too early, after character {len(expression)}."
    why = why.partition(" expecting ")[0][:_WORDS]
    return f" at character {at}: {why}, near {expression[at - 1 : at + 19]!r}."


@functools.lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    return _library().compile(expression)


@functools.cache
def _library() -> Any:
    """The library without its command line, which loads a terminal's worth of packages into every process."""
    sys.modules.setdefault("cel.cli", ModuleType("cel.cli"))
    return importlib.import_module("cel")


def _macros_nested(bare: str) -> bool:
    """Whether a macro's brackets hold another macro."""
    for found in _MACRO.finditer(bare):
        depth = 1
        for at in range(found.end(), len(bare)):
            depth += {"(": 1, ")": -1}.get(bare[at], 0)
            if depth == 0:
                break
            if _MACRO.match(bare, at):
                return True
    return False


def _depth(bare: str) -> int:
    most = depth = 0
    for char in bare:
        depth += 1 if char in "([{" else -1 if char in ")]}" else 0
        most = max(most, depth)
    return most


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
