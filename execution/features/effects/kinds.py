"""The four types of effects, each worked out into a step."""

from collections.abc import Callable, Mapping
from typing import Any

from core.errors import ToolHubError
from execution.engine.changes import ABSENT, Change
from execution.engine.children import child_check
from execution.features.effects.steps import Notice, Step, Unworkable, Which
from execution.features.effects.view import Key, View
from execution.memory.models import Scope
from execution.memory.values import value_size

Declared = Mapping[str, Any]


def _state_change(declared: Declared, which: Which, view: View) -> Step:
    at = (Scope.WORKING.value, declared["state"])
    match declared["change"]:
        case "set":
            value = _given(declared, "value", view, at)
        case "clear":
            value = ABSENT
        case "increment":
            value = _moved(declared, view, at, 1)
        case _:
            value = _moved(declared, view, at, -1)
    return _changing(declared, which, view, at, value)


def _memory(declared: Declared, which: Which, view: View) -> Step:
    at = (declared["scope"], declared["key"])
    value = ABSENT if declared["operation"] == "delete" else _given(declared, "value", view, at)
    if "keep" in declared and isinstance(value, list):
        value = value[-declared["keep"] :]
    return _changing(declared, which, view, at, value)


def _notification(declared: Declared, which: Which, view: View) -> Step:
    payload = _given(declared, "payload", view, None)
    try:
        value_size(payload)
    except ToolHubError as error:
        raise Unworkable(error.message) from error
    return Step(which, reversible=False, notice=Notice(declared["event"], payload))


def _cascade(declared: Declared, which: Which, view: View) -> Step | None:
    if "condition" in declared and not view.holds(declared["condition"]):
        return None
    arguments = view.mapped(declared.get("arguments", {}))
    try:
        child = child_check(view.run, declared["tool"], arguments)
    except ToolHubError as error:
        raise Unworkable(f"{declared['tool']} may not be called: {error.message}") from error
    return Step(which, reversible=declared.get("reversible", True), child=child)


def _changing(declared: Declared, which: Which, view: View, at: Key, value: Any) -> Step:
    change = Change(*at, value)
    view.change(change)
    return Step(which, reversible=declared.get("reversible", True), changes=(change,))


def _given(declared: Declared, name: str, view: View, at: Key | None) -> Any:
    if "expression" in declared:
        return view.value(declared["expression"], at)
    return declared.get(name)


def _moved(declared: Declared, view: View, at: Key, sign: int) -> Any:
    """A number moved by the step; from 0 where there is none."""
    by = _given({"value": 1, **declared}, "value", view, at)
    before = view.current(*at)
    before = 0 if before is ABSENT else before
    for number in (before, by):
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise Unworkable(f"What stands under {at[1]}, or the step, is no number.")
    return before + sign * by


KINDS: Mapping[str, Callable[[Declared, Which, View], Step | None]] = {
    "state_change": _state_change,
    "memory": _memory,
    "notification": _notification,
    "cascade": _cascade,
}
