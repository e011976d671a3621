"""Every expression of a contract sees the same of a call, with the same defaults."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from execution.models import Run
from tests.execution.fixtures import Declare

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
# True for a call that gives no context, and one that has the ids of the tool's own context.
SEEN = (
    "context.session_id == 'default' && context.loop_id == 'default' && context.task_id == 'default' && "
    "context.agent_id == 'default' && context.user_id == 'default' && context.project == null && "
    "size(context_data) == 0 && persona == 'researcher' && size(now) > 19 && arguments.value == 1"
)
PLACES: dict[str, dict[str, Any]] = {
    "a rule": {"validators": [{"expression": SEEN, "message": "No."}]},
    "a custom precondition": {
        "preconditions": [{"type": "custom", "description": "Sees.", "expression": SEEN}]
    },
    "an effect": {
        "effects": [
            {"type": "memory", "description": "Sees.", "scope": "working", "key": "k", "operation": "write",
             "expression": f"({SEEN}) ? 'seen' : result.missing"}
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_call_without_context_is_seen_alike_everywhere(call: Call, declare: Declare, place: str) -> None:
    declare("fx_echo", **PLACES[place])
    answer = call("fx_echo", {"value": 1})
    assert (answer.status_code, answer.json().get("success")) == (200, True), answer.content


@pytest.mark.parametrize("place", PLACES)
def test_what_is_missing_is_named(call: Call, declare: Declare, place: str) -> None:
    contract = {
        name: [{key: value.replace(SEEN, "context_data.town == 'x'") if isinstance(value, str) else value
                for key, value in one.items()} for one in many]
        for name, many in PLACES[place].items()
    }  # fmt: skip
    declare("fx_echo", **contract)
    assert "town" in call("fx_echo", {"value": 1}).content.decode()


def test_a_retry_sees_the_call(call: Call, declare: Declare, tmp_path: Path) -> None:
    seen = SEEN.replace("arguments.value == 1", "arguments.times == 9 && attempt == 1")
    declare(
        "fx_fail", retry={"maxRetries": 3, "backoff": {"type": "fixed", "delay": 60_000}, "retryIf": seen}
    )
    call("fx_fail", {"file": str(tmp_path / "trace"), "times": 9}, HTTP_PREFER="wait=5")
    assert Run.objects.get().status == "waiting_retry"
