"""What no schema says of a contract's effects: which members belong together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolhub_sdk.problem import Problem

_LEAVE = "Leave it out."


def effect_problems(effects: Sequence[Mapping[str, Any]], at: str) -> Iterator[Problem]:
    """What is wrong with effects whose form is right."""
    for index, effect in enumerate(effects):
        yield from _PROBLEMS[effect["type"]](effect, f"{at}/{index}")


def _state_change(effect: Mapping[str, Any], at: str) -> Iterator[Problem]:
    change = effect["change"]
    yield from _one_value(effect, "value", at, needed=change == "set", allowed=change != "clear")
    value = effect.get("value", 1)
    if change in {"increment", "decrement"} and (
        isinstance(value, bool) or not isinstance(value, int | float)
    ):
        yield Problem(f"{at}/value", "A step is a number.", "Write a number, such as 1.")


def _memory(effect: Mapping[str, Any], at: str) -> Iterator[Problem]:
    deletes = effect["operation"] == "delete"
    yield from _one_value(effect, "value", at, needed=not deletes, allowed=not deletes)
    if deletes and "keep" in effect:
        yield Problem(f"{at}/keep", "What is deleted keeps nothing.", _LEAVE)


def _notification(effect: Mapping[str, Any], at: str) -> Iterator[Problem]:
    yield from _one_value(effect, "payload", at, needed=False, allowed=True)
    if effect.get("reversible"):
        yield Problem(f"{at}/reversible", "An event cannot be taken back.", "Write false, or leave it out.")


def _cascade(effect: Mapping[str, Any], at: str) -> Iterator[Problem]:
    return iter(())


def _one_value(
    effect: Mapping[str, Any], name: str, at: str, *, needed: bool, allowed: bool
) -> Iterator[Problem]:
    given = [one for one in (name, "expression") if one in effect]
    if not allowed:
        for one in given:
            yield Problem(f"{at}/{one}", "There is no value in this effect.", _LEAVE)
    elif len(given) == 2:
        yield Problem(f"{at}/expression", f"There is a {name} already.", f"Write {name} or expression.")
    elif needed and not given:
        yield Problem(f"{at}/{name}", f"{name} is missing.", f"Add {name} or expression.")


_PROBLEMS = {
    "state_change": _state_change,
    "memory": _memory,
    "notification": _notification,
    "cascade": _cascade,
}
