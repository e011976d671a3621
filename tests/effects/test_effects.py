"""Effects of tools from outside, as an agent meets them: memory, session events, child runs, rollback."""

import pytest

from tests.effects.conftest import Ask, Perform

pytestmark = [pytest.mark.sandbox]
HERE = {"context": {"session_id": "S"}}


def mem(ask: Ask, scope: str, key: str) -> object:
    """The value, or the code of the error."""
    told = ask("GET", f"memory/{scope}/{key}?session_id=S")
    return told["value"] if "value" in told else told["error"]["code"]


def test_a_counter_is_set_cleared_and_moved(perform: Perform, ask: Ask) -> None:
    found = []
    for tool in ("fx_set", "fx_clear", "fx_increment", "fx_clear", "fx_decrement"):
        perform(tool, {"word": "a"}, **HERE)
        found.append(mem(ask, "working", "k"))
    assert found == [5, "NOT_FOUND", 1, "NOT_FOUND", -1]


def test_history_events_and_child_runs_follow(perform: Perform, ask: Ask) -> None:
    for number in range(3):
        perform("fx_hist", {"url": f"u{number}"}, **HERE)
    history = mem(ask, "short-term", "browser.history")
    assert [one["url"] for one in history] == ["u0", "u1", "u2"]  # type: ignore[attr-defined]
    events = ask("GET", "sessions/S/events")["events"]
    assert [(one["event"], one["payload"]["path"]) for one in events] == [
        ("file:changed", f"u{number}") for number in range(3)
    ]
    assert perform("fx_casc", {"word": "a", "go": False}, **HERE)["children"] == []
    told = perform("fx_casc", {"word": "a", "go": True}, **HERE)
    (child,) = told["children"]
    read = ask("GET", f"runs/{child['run_id']}")
    assert (read["data"], read["metadata"]["parent_run_id"]) == ("a!", told["metadata"]["run_id"])


def test_an_error_is_told_to_the_session(perform: Perform, ask: Ask) -> None:
    perform("fx_api_fail", {"fail": False}, **HERE)
    assert ask("GET", "sessions/S/events")["error"]["code"] == "NOT_FOUND"
    told = perform("fx_api_fail", {"fail": True}, **HERE)
    assert told["error"]["code"] == "API_FAILED"
    (event,) = ask("GET", "sessions/S/events")["events"]
    assert (event["event"], event["payload"]["error"]["code"]) == ("api:error", "API_FAILED")


def test_what_can_be_taken_back_is(perform: Perform, ask: Ask) -> None:
    perform("fx_set", {"word": "a"}, **HERE)
    told = perform("fx_abc", {"word": "no number"}, **HERE)
    assert (told["metadata"]["status"], told["error"]["code"]) == ("failed", "EFFECT_FAILED")
    assert (mem(ask, "working", "k"), mem(ask, "short-term", "b")) == (5, "no number")
    assert mem(ask, "short-term", "c") == "NOT_FOUND"
    events = ask("GET", f"runs/{told['metadata']['run_id']}/events")["events"]
    order = [(one["event"], one["data"]["description"][0]) for one in events if "effect" in one["data"]]
    assert order == [
        ("EFFECT_APPLIED", "B"),
        ("EFFECT_FAILED", "C"),
        ("EFFECT_TAKEN_BACK", "A"),
    ]
    assert perform("fx_abc", {"word": "7"}, **HERE)["success"] is True
    assert (mem(ask, "working", "k"), mem(ask, "short-term", "c")) == ("7", 7)
