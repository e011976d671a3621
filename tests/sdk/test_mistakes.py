"""What an author reads who makes a mistake: which tool and which part of it, what is wrong, what to write."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolhub_sdk import DeclaredError, Example, Field, Rule, ToolContext, tool

HEAD = """
from toolhub_sdk import Package, tool
PACKAGE = Package(name="oops", version="0.1.0", title="Oops", description="None.", license="MIT", author="A")
"""


def one(text: str = "") -> str:
    """Returns a text."""
    return text


async def waits(text: str) -> str:
    """Returns a text."""
    return text


async def waits_and_yields(text: str) -> AsyncIterator[str]:
    """Returns a text."""
    yield text


def yields(text: str) -> Iterator[str]:
    """Returns a text."""
    yield text


def two_contexts(ctx: ToolContext, other: ToolContext) -> None:
    """Does nothing."""


def no_default(text: Any = object()) -> None:  # noqa: B008
    """Does nothing."""


def no_schema(number: complex) -> None:
    """Does nothing."""


def by_place(text: str, /) -> None:
    """Does nothing."""


EXAMPLE = Example({"text": "a"}, "a")
RULE = Rule("arguments.text != ''", "Empty.")


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        ({"timeout": 5}, "one: @tool takes no timeout. Did you mean timeout_ms?"),
        ({"capability": "a"}, "one: @tool takes no capability."),
        ({"effect": []}, "one: @tool takes no effect. Did you mean side_effects or effects?"),
        ({"timeout_ms": "2s"}, "one: timeout_ms is a whole number, not '2s'."),
        ({"max_cpu_ms": 1.5}, "one: max_cpu_ms is a whole number, not 1.5."),
        ({"max_output_bytes": True}, "one: max_output_bytes is a whole number, not True."),
        ({"max_concurrency": 0}, "one: max_concurrency is greater than 0."),
        (
            {"capabilities": "file:read"},
            "one: capabilities is a list of texts. Write capabilities=['file:read'].",
        ),
        ({"tags": "text"}, "one: tags is a list of texts. Write tags=['text']."),
        ({"network": {"a:443"}}, "one: network is a list of texts, not {'a:443'}."),
        ({"examples": EXAMPLE}, "one: examples is a list of Examples. Write examples=["),
        (
            {"examples": [({"text": "a"}, "a")]},
            "one: examples is a list of Examples, and ({'text': 'a'}, 'a') is none.",
        ),
        ({"errors": ("NOT_FOUND",)}, "one: errors is a list of DeclaredErrors, and 'NOT_FOUND' is none."),
        ({"errors": "NOT_FOUND"}, "one: errors is a list of DeclaredErrors, and 'N' is none."),
        ({"validators": RULE}, "one: validators is a list of Rules. Write validators=["),
        ({"effects": {"type": "memory"}}, "one: effects is a list of objects. Write effects=["),
        ({"preconditions": ["ready"]}, "one: preconditions is a list of objects, and 'ready' is none."),
    ],
)
def test_a_term_that_is_none_is_told_with_what_to_write(terms: dict[str, Any], told: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        tool(**terms)(one)
    assert str(refused.value).startswith(told)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (waits, "waits is async. Write a plain function; it may call asyncio.run()."),
        (waits_and_yields, "waits_and_yields is async. Write a plain function"),
        (yields, "yields yields. Return the result; ctx.emit() tells parts of it."),
        (two_contexts, "two_contexts: ctx and other are both the context."),
        (no_default, "no_default: the default of text is not JSON."),
        (no_schema, "no_schema: number: <class 'complex'> has no schema."),
        (by_place, "by_place: text cannot be given by name."),
    ],
)
def test_a_function_that_can_be_no_tool_is_told_why(function: Callable[..., object], told: str) -> None:
    with pytest.raises(TypeError) as refused:
        tool()(function)
    assert str(refused.value).startswith(told)


@pytest.mark.parametrize("bounds", [{"minimum": 2, "maximum": 1.5}, {"min_length": 3, "max_length": 2}])
def test_a_field_that_nothing_fits_is_refused(bounds: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is above its most"):
        Field(**bounds)
    Field(**dict.fromkeys(bounds, 2))


def test_what_says_nothing_is_as_if_it_were_left_out() -> None:
    said = {"title": None, "memory": None, "max_cpu_ms": None, "validate": None, "cache_seconds": None}
    assert tool(**said)(one) is one  # type: ignore[arg-type]
    declared = tool(errors=[DeclaredError("A")], cache_seconds=0)(one)
    assert declared is one


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("", "ValueError: oops has no tools. Write @tool(…) above a function of the module."),
        ("def a(:", "SyntaxError: invalid syntax (oops.py, line 4)"),
        ("\nNAMES = {}\nNAMES['a']", "KeyError: 'a' (oops.py, line 6)"),
        ("@tool(tags='x')\ndef a() -> None: ...", "(oops.py, line 4)"),
        ("import nothing_there", "pip install -r requirements.txt"),
    ],
)
def test_a_mistake_in_a_module_is_told_with_its_line(tmp_path: Path, code: str, told: str) -> None:
    (tmp_path / "oops.py").write_text(HEAD + code)
    words = [sys.executable, "-m", "toolhub_sdk", "check", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("oops cannot be read: ")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
