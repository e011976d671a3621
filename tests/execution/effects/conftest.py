"""A tool under effects, and what they leave behind."""

from collections.abc import Callable
from typing import Any

import pytest

from execution.memory.models import Item, SessionEvent
from execution.models import Run
from tests.execution.fixtures import Declare
from tests.receiver import receiver

__all__ = ["receiver"]
Perform = Callable[..., Any]
EFFECTS = "EFFECT_"


@pytest.fixture
def perform(call: Callable[..., Any], declare: Declare) -> Perform:
    """Calls fx_echo, or another tool, under these effects; the answer. A tool keeps them for later calls."""

    def do(*effects: dict[str, Any], value: Any = None, tool: str = "fx_echo", **more: Any) -> Any:
        if effects:
            declare(tool, effects=list(effects))
        arguments = more.pop("arguments", {"value": value})
        return call(tool, body={"arguments": arguments, **more}).json()

    return do


def remembered() -> dict[str, Any]:
    """All memory: `scope key` to value."""
    rows = Item.objects.order_by("space__scope", "key").values_list("space__scope", "key", "value")
    return {f"{scope} {key}": value for scope, key, value in rows}


def notices() -> list[tuple[str, Any]]:
    return list(SessionEvent.objects.order_by("seq").values_list("name", "payload"))


def told(run: Run | None = None) -> list[tuple[str, int]]:
    """What a run's events say of its effects: the kind, and the effect's number."""
    run = run or Run.objects.latest("id")
    rows = run.events.filter(kind__startswith=EFFECTS).order_by("seq")
    return [(event.kind.removeprefix(EFFECTS), event.data["effect"]) for event in rows]


def state(key: str, change: str = "set", **members: Any) -> dict[str, Any]:
    return {
        "type": "state_change",
        "description": f"{change} {key}.",
        "state": key,
        "change": change,
        **members,
    }


def memory(key: str, operation: str = "write", scope: str = "short-term", **members: Any) -> dict[str, Any]:
    what = {"scope": scope, "operation": operation, "key": key}
    return {"type": "memory", "description": f"{operation} {key}.", **what, **members}


def notice(event: str, **members: Any) -> dict[str, Any]:
    return {"type": "notification", "description": f"Tell {event}.", "event": event, **members}


def cascade(tool: str, **members: Any) -> dict[str, Any]:
    return {"type": "cascade", "description": f"Call {tool}.", "tool": tool, **members}
