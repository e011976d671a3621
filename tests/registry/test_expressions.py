"""CEL in contracts is compiled when it is published; what is wrong is told with a pointer and a remedy."""

import copy
from typing import Any

import pytest

from registry.manifests import manifest_problems
from tests.registry.test_manifests import GOOD, HERE, changed

EFFECT = {"type": "memory", "description": "B.", "scope": "working", "operation": "write", "key": "k"}
BAD: list[tuple[str, Any, str, str]] = [
    ("retry", {"maxRetries": 1, "retryIf": "error.code =="}, "/retry/retryIf", "This is no CEL"),
    ("retry", {"maxRetries": 1, "retryIf": "result == 1"}, "/retry/retryIf", "'result'"),
    (
        "preconditions",
        [{"type": "state", "description": "B.", "state": "a", "expression": "current > 0"}],
        "/preconditions/0/expression",
        "'current'",
    ),
    (
        "preconditions",
        [{"type": "custom", "description": "B.", "expression": "[[1].map(x, [2].map(y, y))]"}],
        "/preconditions/0/expression",
        "nest map",
    ),
    ("effects", [{**EFFECT, "expression": "value"}], "/effects/0/expression", "'value'"),
    (
        "effects",
        [{"type": "cascade", "description": "D.", "tool": "warn", "condition": "result.", "arguments": {}}],
        "/effects/0/condition",
        "This is no CEL",
    ),
    (
        "effects",
        [{"type": "cascade", "description": "D.", "tool": "warn", "arguments": {"a/b": "x"}}],
        "/effects/0/arguments/a~1b",
        "'x'",
    ),
    (
        "effects",
        [{**EFFECT, "value": 1, "rollback": {"tool": "undo", "arguments": {"a": "1 +"}}}],
        "/effects/0/rollback/arguments/a",
        "This is no CEL",
    ),
]


@pytest.mark.parametrize(("member", "value", "place", "words"), BAD)
def test_an_expression_that_cannot_work_is_refused(member: str, value: Any, place: str, words: str) -> None:
    (problem,) = manifest_problems(changed(f"{HERE}/{member}", value))
    assert problem.pointer == f"{HERE}{place}"
    assert words in problem.message
    assert problem.remedy


def test_names_of_macros_and_words_in_texts_are_no_variables() -> None:
    made = copy.deepcopy(GOOD)
    contract = made["tools"][0]["_meta"]["io.toolhub/contract"]
    contract["effects"] = [
        {**EFFECT, "expression": "current.filter(one, one.url != 'value (x, y)') + [{'url': result.url}]"}
    ]
    assert manifest_problems(made) == []


STATE = {"type": "state_change", "description": "A.", "state": "n"}
NOTICE = {"type": "notification", "description": "N.", "event": "e"}
UNFIT = [
    ({**STATE, "change": "set"}, "value"),
    ({**STATE, "change": "set", "value": 1, "expression": "1"}, "expression"),
    ({**STATE, "change": "clear", "value": 1}, "value"),
    ({**STATE, "change": "clear", "expression": "1"}, "expression"),
    ({**STATE, "change": "increment", "value": "1"}, "value"),
    ({**STATE, "change": "decrement", "value": True}, "value"),
    (EFFECT, "value"),
    ({**EFFECT, "operation": "update"}, "value"),
    ({**EFFECT, "value": 1, "expression": "1"}, "expression"),
    ({**EFFECT, "operation": "delete", "value": 1}, "value"),
    ({**EFFECT, "operation": "delete", "keep": 1}, "keep"),
    ({**EFFECT, "value": [], "keep": 0}, "keep"),
    ({**NOTICE, "payload": 1, "expression": "1"}, "expression"),
    ({**NOTICE, "reversible": True}, "reversible"),
]


@pytest.mark.parametrize(("effect", "member"), UNFIT)
def test_members_of_effects_belong_together(effect: dict[str, Any], member: str) -> None:
    (problem,) = manifest_problems(changed(f"{HERE}/effects", [effect]))
    assert problem.pointer == f"{HERE}/effects/0/{member}"
    assert problem.remedy


GOOD_EFFECTS = [
    {**STATE, "change": "increment"},
    {**STATE, "change": "decrement", "value": 2.5},
    {**STATE, "change": "set", "value": None},
    {**STATE, "change": "clear"},
    {**EFFECT, "operation": "delete"},
    NOTICE,
    {**NOTICE, "reversible": False},
    {"type": "cascade", "description": "D.", "tool": "warn"},
]


def test_all_forms_of_effects_are_taken() -> None:
    assert manifest_problems(changed(f"{HERE}/effects", GOOD_EFFECTS)) == []
