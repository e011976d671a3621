"""A tool's memory in one call."""

import pytest

from toolhub_sdk import Memory, ToolError


def test_it_reads_what_was_given_and_its_own_changes() -> None:
    memory = Memory({"working": {"a": 1}, "long-term": {"a": None}})
    assert (memory.read("a"), memory.read("a", "long-term", "x"), memory.read("a", "short-term", "x")) == (
        1,
        None,
        "x",
    )
    memory.write("a", (1, 2))
    memory.delete("a", "long-term")
    assert (memory.read("a"), memory.read("a", "long-term", "x")) == ([1, 2], "x")
    assert memory.changes == [
        {"scope": "working", "key": "a", "value": [1, 2]},
        {"scope": "long-term", "key": "a"},
    ]


def test_it_holds_only_the_keys_that_are_named() -> None:
    memory = Memory(named={"working": ["a", "b.*"]})
    memory.write("b.c", 1)
    for key, scope in (("c", "working"), ("ab", "working"), ("a", "long-term")):
        for use in (memory.read, memory.delete):
            with pytest.raises(ValueError, match="does not name"):
                use(key, scope)  # type: ignore[operator]


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(ToolError, match="INVALID_OUTPUT"):
        Memory().write("a", object())
