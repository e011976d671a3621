"""Effects that change memory and send events: worked out from the outcome, written with it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from audit.models import Event
from execution.engine import finish
from execution.engine.expiry import payloads_expire
from execution.engine.lease import Lease
from execution.engine.submit import run_cancel
from execution.memory.models import Item
from execution.models import Run, Status
from security.models import User
from security.permissions import actor_of
from tests.execution.effects.conftest import Perform, memory, notice, notices, remembered, state, told
from tests.execution.fixtures import Declare, MakeRun, reap
from tests.execution.retry.test_waiting import work_on

pytestmark = pytest.mark.django_db
HISTORY = memory(
    "browser.history",
    "update",
    expression="(current == null ? [] : current) + [{'url': result.url, 'at': now}]",
    keep=100,
)


def test_a_state_is_set_counted_and_cleared(perform: Perform) -> None:
    perform(state("k", value=5))
    assert remembered() == {"working k": 5}
    perform(state("k", "increment"))
    perform(state("k", "increment", value=10))
    perform(state("k", "decrement", expression="arguments.value"), value=4)
    assert remembered() == {"working k": 12}
    perform(state("k", "clear"))
    assert remembered() == {}
    perform(state("k", "clear"))
    perform(state("k", "increment"))
    assert remembered() == {"working k": 1}
    perform(state("m", "decrement"))
    assert remembered() == {"working k": 1, "working m": -1}


@pytest.mark.parametrize("scope", ["working", "short-term", "long-term"])
def test_memory_is_written_updated_and_deleted(perform: Perform, scope: str) -> None:
    perform(memory("k", scope=scope, expression="{'got': result, 'sent': arguments.value}"), value=[1])
    assert remembered() == {f"{scope} k": {"got": [1], "sent": [1]}}
    perform(memory("k", "update", scope, expression="current.got + [2]"))
    assert remembered() == {f"{scope} k": [1, 2]}
    perform(memory("k", scope=scope, value=None))
    assert remembered() == {f"{scope} k": None}
    perform(memory("k", "delete", scope))
    assert remembered() == {}


def test_a_history_keeps_its_last_hundred(perform: Perform) -> None:
    perform(HISTORY, value={"url": "https://a.org/0"})
    # As 97 calls more leave it.
    Item.objects.update(value=[{"url": f"https://a.org/{n}", "at": 0} for n in range(98)])
    for number in range(98, 103):
        assert perform(value={"url": f"https://a.org/{number}"})["success"] is True
    (history,) = remembered().values()
    assert [one["url"] for one in history] == [f"https://a.org/{n}" for n in range(3, 103)]


def test_later_effects_see_what_earlier_ones_did(perform: Perform) -> None:
    perform(
        state("n", value=1),
        state("n", "increment"),
        memory("m", scope="working", expression="current == null ? 'none' : current"),
        state("m", expression="current + '!'"),
        state("n", "increment"),
    )
    assert remembered() == {"working m": "none!", "working n": 3}
    assert told() == [("APPLIED", number) for number in range(1, 6)]


def test_an_event_goes_to_the_session_it_was_called_in(perform: Perform) -> None:
    changed = notice("file:changed", expression="{'path': result, 'by': context.session_id}")
    perform(changed, value="a.txt", context={"session_id": "s"})
    perform(notice("plain", payload={"a": [None]}), notice("bare"), context={"session_id": "s"})
    assert notices() == [
        ("file:changed", {"path": "a.txt", "by": "s"}),
        ("plain", {"a": [None]}),
        ("bare", None),
    ]
    assert remembered() == {}


# on, what the tool does, whether the effect follows
ON = [
    ("success", True, True),
    ("success", False, False),
    ("failure", True, False),
    ("failure", False, True),
    ("always", True, True),
    ("always", False, True),
]


@pytest.mark.parametrize(("on", "succeeds", "follows"), ON)
def test_an_effect_follows_the_outcome_that_it_is_for(
    perform: Perform, on: str, succeeds: bool, follows: bool
) -> None:
    tool, arguments = ("fx_echo", {"value": 1}) if succeeds else ("fx_refuse", {"details": 1})
    perform(notice("told", on=on), tool=tool, arguments=arguments)
    assert bool(notices()) is follows


def test_an_effect_on_failure_sees_the_error(perform: Perform) -> None:
    wanted = notice("api:error", on="failure", expression="{'code': error.code, 'result': result}")
    answer = perform(wanted, tool="fx_refuse", arguments={"details": 1})
    assert answer["error"]["code"] == "FX_REFUSED"
    assert notices() == [("api:error", {"code": "FX_REFUSED", "result": None})]


def test_a_timeout_is_a_failure(perform: Perform) -> None:
    answer = perform(
        notice("late", on="failure", expression="error.code"),
        tool="fx_sleep",
        arguments={"seconds": 1.3},
        limits={"timeoutMs": 50},
    )
    assert answer["metadata"]["status"] == "timeout"
    assert notices() == [("late", "TIMEOUT")]


def test_only_the_last_attempt_has_effects(declare: Declare, call: Any, tmp_path: Any) -> None:
    told_twice = [notice("failed", on="failure"), notice("done")]
    declare("fx_fail", effects=told_twice, retry={"maxRetries": 2})
    call("fx_fail", {"file": str(tmp_path / "f"), "times": 2}, HTTP_PREFER="respond-async")
    assert work_on().status == Status.COMPLETED
    assert notices() == [("done", None)]


BAD: list[tuple[dict[str, Any], str]] = [
    (memory("c", expression="result.missing"), 'it names "missing"'),
    (memory("c", expression="1 / 0"), "ZeroDivisionError"),
    (memory("c", expression="timestamp('2026-01-01T00:00:00Z')"), "not JSON"),
    (memory("c", value="x" * 61_439), "bytes"),
    (state("text", "increment"), "no number"),
    (state("c", "increment", expression="'1'"), "no number"),
    (state("c", expression="9007199254740993"), "not JSON"),
    (notice("c", expression="result.missing"), 'it names "missing"'),
    (notice("c", payload="x" * 61_439), "bytes"),
]


@pytest.mark.parametrize(("bad", "why"), BAD)
def test_a_failed_effect_takes_the_reversible_ones_back_in_reverse(
    perform: Perform, bad: dict[str, Any], why: str
) -> None:
    perform(state("text", value="words"), state("a", value="before"))
    answer = perform(
        state("a", value="after"),
        memory("b", value="stays", reversible=False),
        notice("sent"),
        state("d", "increment"),
        bad,
        memory("never", value=1),
        value={"x": 1},
    )
    assert remembered() == {"short-term b": "stays", "working a": "before", "working text": "words"}
    assert notices() == [("sent", None)]
    error = answer["error"]
    assert (answer["success"], error["code"], error["recoverable"]) == (False, "EFFECT_FAILED", False)
    assert (error["details"]["effect"], error["details"]["data"]) == (5, {"x": 1})
    assert why in error["details"]["reason"]
    assert told() == [
        ("APPLIED", 2),
        ("APPLIED", 3),
        ("FAILED", 5),
        ("TAKEN_BACK", 4),
        ("TAKEN_BACK", 1),
    ]
    run = Run.objects.latest("id")
    assert (run.status, run.result, run.result_hash, run.attempt) == (Status.FAILED, {"x": 1}, None, 1)
    assert (answer["data"], answer["metadata"]["result_hash"]) == (None, None)
    assert "data" not in run.attempts.get().error["details"]
    assert run.events.last().kind == "TOOL_CALL_FAILED"  # type: ignore[union-attr]


def test_what_cannot_be_taken_back_and_fails_itself_does_not_stay(perform: Perform, settings: Any) -> None:
    settings.MEMORY_KEYS_MAX = 1
    perform(
        state("a", value=1),
        memory("b", value=1, reversible=False),
        memory("c", value=1, reversible=False),
        memory("d", expression="result.missing"),
    )
    assert remembered() == {"short-term b": 1}
    assert told()[-2:] == [("FAILED", 3), ("TAKEN_BACK", 1)]


def test_what_stays_does_not_rest_on_what_was_taken_back(perform: Perform) -> None:
    perform(state("text", value="words"))
    perform(
        state("n", "increment"),
        state("n", "increment", value=10, reversible=False),
        state("n", "increment", value=100, reversible=False),
        state("text", value=5),
        state("text", "increment", reversible=False),
        state("x", expression="1 / 0"),
    )
    assert remembered() == {"working n": 110, "working text": "words"}
    order = [("APPLIED", 2), ("APPLIED", 3), ("FAILED", 6)]
    assert told() == [*order, ("TAKEN_BACK", 5), ("TAKEN_BACK", 4), ("TAKEN_BACK", 1)]


def test_an_effect_of_a_failure_that_fails_leaves_the_tools_own_error(perform: Perform) -> None:
    answer = perform(
        state("a", value=1, on="always"),
        notice("x", on="failure", expression="error.missing"),
        tool="fx_refuse",
        arguments={"details": 1},
    )
    assert answer["error"]["code"] == "FX_REFUSED"
    assert any("Effect 2 failed" in warning for warning in answer["metadata"]["warnings"])
    assert remembered() == {}


def test_a_failed_effect_is_not_retried(perform: Perform, declare: Declare) -> None:
    declare("fx_echo", retry={"maxRetries": 3})
    answer = perform(memory("c", expression="result.missing"))
    assert (answer["error"]["code"], answer["metadata"]["attempts"]) == ("EFFECT_FAILED", 1)
    assert Run.objects.get().status == Status.FAILED


def test_a_run_without_fitting_effects_is_told_nothing_of_them(perform: Perform) -> None:
    perform(notice("x", on="failure"))
    assert told() == []


def test_large_results_count_only_where_an_expression_names_them(perform: Perform) -> None:
    big = "x" * 70_000
    assert perform(state("k", expression="arguments.value + 1"), value=1)["success"] is True
    assert perform(state("k", value=2), value=big)["success"] is True
    answer = perform(state("k", expression="size(result)"), value=big)
    assert answer["error"]["code"] == "EFFECT_FAILED"


def test_what_the_tool_gave_goes_with_the_payloads_age(
    perform: Perform, client: Client, token_text: str
) -> None:
    perform(memory("c", expression="result.missing"), value={"secret": "hunter2"})
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    run = Run.objects.get()

    def read() -> str:
        paths = (f"/api/v1/runs/{run.pk}", f"/api/v1/runs/{run.pk}/events")
        return "".join(client.get(path, **headers).content.decode() for path in paths)  # type: ignore[arg-type]

    assert read().count("hunter2") >= 2
    assert payloads_expire(timezone.now() + timedelta(days=1)) == 1
    told = read()
    assert "hunter2" not in told
    assert "EFFECT_FAILED" in told


@pytest.mark.parametrize("extra", ["effects", "memory"])
def test_a_replay_of_what_changes_memory_is_the_recording(
    perform: Perform, declare: Declare, post: Any, extra: str
) -> None:
    """A tool that is pure by itself would say the same again; what follows from it must not happen twice."""
    declare("fx_echo", memory={"working": ["k"]} if extra == "memory" else {})
    run = perform(*([state("n", "increment")] if extra == "effects" else []), value=1)["metadata"]["run_id"]
    answer = post(run, "replay").json()
    assert (answer["recorded"], answer["same"], Run.objects.count()) == (True, True, 1)
    assert remembered() == ({"working n": 1} if extra == "effects" else {})


LATER = [
    memory("always", value=1, on="always"),
    memory("failure", expression="error.code", on="failure"),
    memory("success", value=1),
]


@pytest.mark.parametrize("status", [Status.WAITING_RETRY, Status.PENDING])
@pytest.mark.parametrize("attempt", [0, 2])
def test_a_cancel_between_attempts_has_the_effects_of_always(
    make_run: MakeRun, declare: Declare, admin: User, status: Status, attempt: int
) -> None:
    declare("fx_echo", effects=LATER, columns={"extras": ["effects"]})
    run = make_run(status=status, attempt=attempt)
    assert run_cancel(by=actor_of(admin), run=run) is True
    run.refresh_from_db()
    assert run.status == Status.CANCELLED
    assert remembered() == ({"short-term always": 1} if attempt else {})
    kinds = ["CANCEL_ASKED", *["EFFECT_APPLIED"] * bool(attempt), "TOOL_CALL_FAILED"]
    assert list(run.events.order_by("seq").values_list("kind", flat=True)) == kinds
    assert Event.objects.filter(kind="run.cancel_asked").count() == 1
    assert run_cancel(by=actor_of(admin), run=run) is False


def test_an_effect_of_such_a_cancel_that_fails_leaves_it_cancelled(
    make_run: MakeRun, declare: Declare, admin: User
) -> None:
    effects = [state("a", value=1, on="always"), state("b", expression="1 / 0", on="always")]
    declare("fx_echo", effects=effects, columns={"extras": ["effects"]})
    run = make_run(status=Status.WAITING_RETRY, attempt=1)
    assert run_cancel(by=actor_of(admin), run=run) is True
    run.refresh_from_db()
    assert (run.status, run.error["code"]) == (Status.CANCELLED, "CANCELLED")  # type: ignore[index]
    assert any("Effect 2 failed" in warning for warning in run.warnings)
    assert remembered() == {}


def test_a_run_whose_workers_are_lost_has_the_effects_of_its_failure(
    leased: Callable[..., Lease], declare: Declare
) -> None:
    declare("fx_echo", effects=LATER, columns={"extras": ["effects"]})
    leased(attempt=3)
    assert reap() == 1
    run = Run.objects.get()
    assert (run.status, run.error["code"]) == (Status.FAILED, "WORKER_LOST")  # type: ignore[index]
    assert remembered() == {"short-term always": 1, "short-term failure": "WORKER_LOST"}
    kinds = ["LEASE_LOST", "EFFECT_APPLIED", "EFFECT_APPLIED", "TOOL_CALL_FAILED"]
    assert list(run.events.order_by("seq").values_list("kind", flat=True)) == kinds
    assert reap() == 0


def test_a_failed_effect_whose_commit_was_not_answered_is_no_late_result(
    perform: Perform, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []

    def unanswered(name: str) -> None:
        if name == "finish.after" and not lost:
            lost.append(name)
            raise OperationalError

    monkeypatch.setattr(finish, "failpoint", unanswered)
    monkeypatch.setattr(finish, "close_old_connections", lambda: None)
    monkeypatch.setattr(finish, "AGAIN_S", 0)
    answer = perform(state("m", expression="1 / 0"))
    assert (lost, answer["error"]["code"]) == (["finish.after"], "EFFECT_FAILED")
    assert "LATE_RESULT" not in Run.objects.get().events.values_list("kind", flat=True)
