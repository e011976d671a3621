"""Every pattern of Python's `re` in the product is linear: twice the text, twice the steps.

The patterns are found in the source, and each is pumped where it repeats something (regex_work.py). Patterns of
other people are RE2's, which is linear by construction.
"""

import ast
import importlib
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.text.regex_work import Matcher, TooMuch, adversaries

ROOT = Path(__file__).parents[2]
APPS = (
    "core",
    "audit",
    "security",
    "registry",
    "execution",
    "monitoring",
    "toolhub",
    "toolhub_sdk",
    "catalogue",
)
SEARCHING = frozenset({"search", "sub", "subn", "findall", "finditer", "split"})
CALLS = SEARCHING | {"compile", "match", "fullmatch"}
Pattern = tuple[str, int, bool]
"""The pattern, its flags, and whether a text is searched for it."""
SIZES = (64, 512)
STEPS_MOST = 200_000
MOST = 2.4


def searched(text: str, flags: int = 0) -> list[Pattern]:
    return [(text, flags, True)]


# Patterns that a function makes; each entry gives examples of the same form.
MADE: dict[str, Callable[[Any], list[Pattern]]] = {
    "toolhub_sdk.normal_form:_run_pattern": lambda module: searched(module._run_pattern(False).pattern),
    "toolhub_sdk.lint.instructions:<module>": lambda module: [
        (compiled.pattern, re.IGNORECASE, True) for _, compiled in module._COMPILED
    ],
    "toolhub_sdk.checks.words:form_remedy": lambda module: searched(r"^(/([^~/]|~[01])*)*$"),
    "execution.runners.machine_paths:_folders": lambda module: searched(module._folders()[1].pattern),
    "security.redaction:_url_forms": lambda module: searched(module._url_forms("a secret/é")[0].pattern),
    "security.accounts.sessions:device_words": lambda module: [
        (sign, 0, True) for table in (module._BROWSERS, module._SYSTEMS) for sign in table.values()
    ],
}


@cache
def sources() -> dict[str, ast.Module]:
    """Each module of the product by its name. Read when a test wants them: all is collected more often."""
    files = [file for app in APPS for file in sorted((ROOT / app).rglob("*.py"))]
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            file.read_text()
        )
        for file in files
        if "migrations" not in file.parts and "templates" not in file.parts
    }


def methods_by_name() -> dict[str, set[str]]:
    """The methods that are called on each name, wherever it is: how a compiled pattern is used."""
    used: dict[str, set[str]] = {}
    for tree in sources().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
                name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                used.setdefault(name, set()).add(node.attr)
    return used


def patterns() -> Iterator[tuple[str, Pattern]]:
    used = methods_by_name()
    for name, tree in sources().items():
        for place, call, assigned in calls_of_re(tree):
            made = MADE.get(f"{name}:{place}")
            if made:
                yield from ((f"{name}:{place}", one) for one in made(importlib.import_module(name)))
                continue
            yield f"{name}:{call.lineno}", read(name, call, used.get(assigned, set()))


def read(name: str, call: ast.Call, methods: set[str]) -> Pattern:
    """The pattern of a call that names it in full. Raises for one that is made by a function."""
    values = vars(importlib.import_module(name))
    try:
        text, *flags = (eval(ast.unparse(each), values) for each in (call.args[0], *flags_of(call)))
    except NameError as error:
        raise AssertionError(f"{name}:{call.lineno} makes its pattern: add an example to MADE") from error
    assert isinstance(call.func, ast.Attribute)
    method = call.func.attr
    searching = method in SEARCHING or (method == "compile" and (bool(methods & SEARCHING) or not methods))
    return text.decode("latin-1") if isinstance(text, bytes) else text, sum(flags), searching


def flags_of(call: ast.Call) -> list[ast.expr]:
    """The flags that are given to a call of `re`: they are named as members of it."""
    given = [*call.args[1:], *(each.value for each in call.keywords)]
    return [each for each in given if ast.unparse(each).startswith("re.")]


def calls_of_re(tree: ast.Module) -> Iterator[tuple[str, ast.Call, str]]:
    """Calls of `re`: the function around each, and the name that its result gets at the module's level."""

    def walk(node: ast.AST, place: str, assigned: str) -> Iterator[tuple[str, ast.Call, str]]:
        for child in ast.iter_child_nodes(node):
            inner, name = place, assigned
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                inner = child.name
            if isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
                name = child.targets[0].id
            if (
                isinstance(child, ast.Call)
                and isinstance(child.func, ast.Attribute)
                and isinstance(child.func.value, ast.Name)
                and child.func.value.id == "re"
                and child.func.attr in CALLS
            ):
                yield inner, child, name
            yield from walk(child, inner, name)

    return walk(tree, "<module>", "")


def growth(pattern: Pattern, text: Callable[[int], str]) -> float:
    """How much more work the double of a text is: of a small one, else of one beyond the pattern's bounds."""
    matcher = Matcher(pattern[0], pattern[1], most=STEPS_MOST)
    ratio = 0.0
    for size in SIZES:
        try:
            work = [matcher.work(text(length), searching=pattern[2]) for length in (size, 2 * size)]
        except TooMuch:
            return math.inf
        ratio = work[1] / max(work[0], size)
        if ratio <= MOST:
            break
    return ratio


def test_every_pattern_is_linear(subtests: Any) -> None:
    found = list(dict.fromkeys(patterns()))
    assert len(found) > 100
    for place, pattern in found:
        with subtests.test(place=place):
            worst = max((growth(pattern, text) for text in adversaries(pattern[0], pattern[1])), default=1.0)
            assert worst <= MOST, (
                f"{place}: {pattern[0]!r} takes {worst:.1f} times the steps for twice the text"
            )


@pytest.mark.parametrize(
    ("pattern", "searching", "linear"),
    [
        (r"(?:a+)+b", False, False),
        (r"\s+$", True, False),
        (r"(\w+)\s*,\s*(\w+)", True, False),
        (r"a*a*b", False, False),
        (r"[a-z]+", True, True),
        (r"[a-z]{1,20}\d", True, True),
        (r"(?:/(?:[^~/]|~[01])*)*", False, True),
    ],
)
def test_the_count_tells_patterns_apart(pattern: str, searching: bool, linear: bool) -> None:
    worst = max(growth((pattern, 0, searching), text) for text in adversaries(pattern, 0))
    assert (worst <= MOST) == linear


@pytest.mark.parametrize(
    "pattern", [r"(a|ab)*c", r"(?<!\s)x{2,}+\S", r"([ab]+)-\1", r"^\w+$", r"(?i:q)b|c?d"]
)
def test_the_counting_matcher_finds_what_re_finds(pattern: str) -> None:
    for text in ("", "ababc", "xxy", " xx", "ab-ab", "Qb d cd", "word", "a\n"):
        expected = re.search(pattern, text)
        assert Matcher(pattern).first_end(text) == (expected and expected.end())
