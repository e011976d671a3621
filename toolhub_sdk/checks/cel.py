"""Whether a text is an expression in CEL that is safe to carry out. The hub compiles by just this.

Without limits a nested `map` over 10,000 items took the library 8.6 s, and 30,000 signs in a row ended the
process.
"""

import functools
import importlib
import re
import sys
from types import ModuleType
from typing import Any

EXPRESSION_MAX = 2000
_PARENTHESES_MAX = 32
_STRING = re.compile(r"""[rR]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
_MACRO = re.compile(r"\.\s*(?:map|filter|all|exists|exists_one)\s*\(")
_MACRO_NAME = re.compile(_MACRO.pattern + r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*,")
_FAULT = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_WORDS = 200


class ExpressionError(ValueError):
    """The text is no expression, or one beyond the limits; the message says at which character, from 1."""


def expression_check(expression: str) -> None:
    """Raises ExpressionError, and ModuleNotFoundError where the library is not installed."""
    if not expression.strip() or len(expression) > EXPRESSION_MAX:
        raise ExpressionError(f"An expression has 1 to {EXPRESSION_MAX} characters.")
    bare = _STRING.sub("''", expression)
    if _macros_nested(bare):
        raise ExpressionError("An expression may not nest map, filter, all or exists.")
    if _depth(bare) > _PARENTHESES_MAX:
        raise ExpressionError(f"An expression nests at most {_PARENTHESES_MAX} brackets.")
    library()
    try:
        expression_compiled(expression)
    except Exception as error:
        raise ExpressionError(f"This is no CEL{_where(expression, str(error))}") from error


def expression_names(expression: str) -> frozenset[str]:
    """The variables that an expression that was checked names, but for those of its own macros."""
    bare = _STRING.sub("''", expression)
    return frozenset(expression_compiled(expression).variables()) - set(_MACRO_NAME.findall(bare))


@functools.lru_cache(maxsize=1024)
def expression_compiled(expression: str) -> Any:
    """The program of an expression that was checked; `execute(values)` carries it out."""
    return library().compile(expression)


@functools.cache
def library() -> Any:
    """The library without its command line, which loads a terminal's worth of packages into every process."""
    sys.modules.setdefault("cel.cli", ModuleType("cel.cli"))
    return importlib.import_module("cel")


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
