"""Preconditions of a tool from outside, as an agent meets them: each of them fails, then holds."""

from typing import Any

import pytest

from execution.features.preconditions.resources import resource_add, resource_switch
from security.models import Persona, User
from security.services import grant_create
from tests.effects.conftest import Ask, Perform

pytestmark = [pytest.mark.sandbox]
HERE = {"context": {"session_id": "s"}}
SAID = {
    "res": "The printer works.",
    "state": "Calls are left.",
    "grant": "It may drive a browser.",
    "dep": "fx_dep has run.",
    "count": "Two is asked for at most.",
}


def test_a_call_comes_through_once_everything_holds(
    perform: Perform, ask: Ask, admin: User, persona: Persona
) -> None:
    def pre(count: int = 1) -> Any:
        return perform("fx_pre", {"count": count}, **HERE)

    told = pre(count=3)
    assert told["error"]["code"] == "PRECONDITION_FAILED"
    assert told["error"]["suggestions"] == list(SAID.values())
    ask("PUT", "memory/short-term/api.rateLimit.remaining?session_id=s", {"value": 1})
    grant_create(by=admin, persona=persona, capability="browser:automate", reason="test")
    told = pre()
    assert told["error"]["suggestions"] == [SAID["res"], SAID["dep"]]
    assert [one["passed"] for one in told["preconditions"]["results"]] == [False, True, True, False, True]
    perform("fx_dep", {"word": "a"}, **HERE)
    told = pre()
    assert (told["data"], told["metadata"]["degraded"]) == ([SAID["res"]], True)
    resource = resource_add(by=admin, name="fx.res")
    told = pre()
    assert (told["data"], told["metadata"]["degraded"]) == ([], False)
    resource_switch(by=admin, resource=resource, is_up=False)
    assert pre()["metadata"]["degraded"] is True
    ask("PUT", "memory/short-term/api.rateLimit.remaining?session_id=s", {"value": 0})
    assert pre()["error"]["suggestions"] == [SAID["res"], SAID["state"]]


def test_a_tool_sees_the_ids_and_data_of_its_call(perform: Perform) -> None:
    ids = {f"{name}_id": name for name in ("session", "task", "loop", "agent", "user")}
    told = perform(
        "fx_ctx", {}, context={**ids, "project": {"p": 1}}, context_data={"a": [1]}, hints={"h": None}
    )
    assert told["data"] == {**ids, "project": {"p": 1}, "context_data": {"a": [1]}, "hints": {"h": None}}
    told = perform("fx_ctx", {})
    assert {told["data"][name] for name in ids} == {"default"}
