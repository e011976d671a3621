"""Whether a text is an expression in CEL that is safe to carry out. The hub compiles by just this.

Without limits a nested `map` over 10,000 items took the library 8.6 s, and 30,000 signs in a row ended the
process.
"""

import functools
import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

EXPRESSION_MAX = 2000
_PARENTHESES_MAX = 32
_STRING = re.compile(r"""[rR]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
_MACRO = re.compile(r"\.\s*(?:map|filter|all|exists|exists_one)\s*\(")
_MACRO_NAME = re.compile(_MACRO.pattern + r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*,")
_FAULT = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_WORDS = 200
_SIZE = "_len"
# A comment, a text (raw, in three quotation marks, or plain), or a name. A call of size has the group.
_TOKEN = re.compile(
    r"""//[^\n]*"""
    r"""|(?:[bB]?[rR]|[rR][bB])(?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"[^"\n]*"|'[^'\n]*')"""
    r"""|[bB]?(?:\"{3}(?:\\[\s\S]|[^\\])*?\"{3}|'{3}(?:\\[\s\S]|[^\\])*?'{3}"""
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<size>\bsize(?=\s*\())|\w+"""
)


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


class Program:
    """A compiled expression. `size` of a text is the number of its characters, as the specification of CEL
    and `maxLength` of JSON Schema have it; the library counts bytes of UTF-8.
    """

    def __init__(self, expression: str) -> None:
        self._program = library().compile(_TOKEN.sub(_sized, expression))
        self._counts = _SIZE in self._program.functions()

    def execute(self, values: Mapping[str, Any]) -> Any:
        """Return what the expression makes of the values."""
        given = dict(values)
        if not self._counts:
            return self._program.execute(given)
        return self._program.execute(library().Context(variables=given, functions={_SIZE: _size}))

    def variables(self) -> Sequence[str]:
        """Return the names that the expression uses, those of its own macros among them."""
        found: Sequence[str] = self._program.variables()
        return found


@functools.lru_cache(maxsize=1024)
def expression_compiled(expression: str) -> Program:
    """The program of an expression that was checked; `execute(values)` carries it out."""
    return Program(expression)


def _sized(found: re.Match[str]) -> str:
    """Put the hub's own function in the place of `size`: a name as long, so that faults keep their places."""
    return _SIZE if found["size"] else found[0]


def _size(value: object) -> int:
    if isinstance(value, str | bytes | list | tuple | dict):
        return len(value)
    raise TypeError("size takes a text, bytes, a list or a map")


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
