"""Quotas and rates in the execute path: exactly so many pass, the others are told when to come back."""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Event
from core.json.canonical import canonical
from execution.engine import submit as services
from execution.engine.perform import queue_work
from execution.engine.store import current
from execution.models import Run, Status
from registry.models import Package, Tool
from security.models import Persona, User
from security.patterns import patterns_now
from security.permissions import actor_of
from security.policy.limits import limit_change, limit_create, limit_delete
from security.policy.models import Limit, Usage
from security.policy.tiers import tier_create, tier_set
from security.services import persona_create
from tests.execution.fixtures import Declare, stores
from tests.execution.retry.test_waiting import work_on

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
DAY = 86_400


@pytest.fixture(params=["hot path", "ORM"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of reading limits, where the database has both."""
    store = stores()[0] if request.param == "hot path" else stores()[-1]
    monkeypatch.setattr(current, "STORE", store)


def quota(by: User, amount: int, **more: Any) -> Limit:
    given = {"kind": "quota", "measure": "calls", "window_s": DAY, **more}
    return limit_create(by=by, amount=amount, **given)


def test_the_eleventh_call_of_ten_a_day_is_refused_with_its_reason(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    quota(admin, 10, persona=persona, tool="fx_echo")
    answers = [call("fx_echo", {"value": n}) for n in range(12)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2
    refused = answers[-1]
    assert refused.json()["error"]["code"] == "QUOTA_EXCEEDED"
    assert DAY - 60 < int(refused["Retry-After"]) <= DAY
    check = next(c for c in refused.json()["decision"]["checks"] if c["verdict"] == "fail")
    assert check["name"] == "limits"
    assert check["reason"] == "10 calls a day of this persona with fx_echo are used up."
    assert check["who"] == "an admin"
    assert Run.objects.count() == 10
    assert Usage.objects.get().used == 10
    assert Event.objects.get(kind="run.refused").actor_name == "researcher"
    assert call("fx_big", {"size": 1}).status_code == 200


def test_a_rate_lets_five_pass_in_a_second(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    limit_create(by=admin, kind="rate", measure="calls", amount=5, window_s=1, persona=persona)
    answers = [call("fx_echo", {"value": 0})]
    # The second lasts until all have called, however slow this machine is.
    Usage.objects.update(ends_at=timezone.now() + timedelta(seconds=60))
    answers += [call("fx_echo", {"value": n}) for n in range(1, 20)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 15
    assert {answer.json()["error"]["code"] for answer in answers[5:]} == {"RATE_LIMIT"}
    assert all(0 < int(answer["Retry-After"]) <= 60 for answer in answers[5:])
    check = next(c for c in answers[5].json()["decision"]["checks"] if c["verdict"] == "fail")
    assert check["reason"] == "5 calls a second of this persona are used up."
    Usage.objects.update(ends_at=timezone.now())
    again = [call("fx_echo", {"value": n}).status_code for n in range(2)]
    assert again == [200, 200]


def test_a_window_that_is_over_begins_anew(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    quota(admin, 1, persona=persona)
    assert [call("fx_echo", {"value": 1}).status_code for _ in range(2)] == [200, 429]
    Usage.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    assert [call("fx_echo", {"value": 1}).status_code for _ in range(2)] == [200, 429]


def test_a_changed_limit_applies_from_the_next_call_and_keeps_its_window(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    limit = quota(admin, 3, persona=persona)

    def statuses(count: int) -> list[int]:
        return [call("fx_echo", {"value": 1}).status_code for _ in range(count)]

    assert statuses(2) == [200, 200]
    began = Usage.objects.get().ends_at - timedelta(seconds=DAY)
    limit_change(by=admin, limit=limit, amount=2)
    assert statuses(1) == [429]
    limit_change(by=admin, limit=limit, amount=4, window_s=7200)
    assert Usage.objects.get().ends_at == began + timedelta(seconds=7200)
    refused = [call("fx_echo", {"value": 1}) for _ in range(3)]
    assert [one.status_code for one in refused] == [200, 200, 429]
    assert 7100 < int(refused[-1]["Retry-After"]) <= 7200
    # The window began a minute ago: one of ten seconds is over.
    Usage.objects.update(ends_at=timezone.now() + timedelta(seconds=7140))
    limit_change(by=admin, limit=limit, window_s=10)
    assert statuses(5) == [200] * 4 + [429]


def test_calls_that_are_refused_for_another_reason_are_not_counted(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    quota(admin, 2, persona=persona)
    assert call("fx_echo", {}).status_code == 422
    assert call("no_such", {}).status_code == 404
    assert not Usage.objects.exists()


def test_a_call_counts_against_all_of_its_limits_or_none(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    wide, narrow = quota(admin, 5, persona=persona), quota(admin, 1, tool="fx_echo")
    assert [call("fx_echo", {"value": 1}).status_code for _ in range(3)] == [200, 429, 429]
    assert dict(Usage.objects.values_list("limit", "used")) == {wide.pk: 1, narrow.pk: 1}


def test_a_repeated_key_is_answered_with_its_run_and_not_counted_again(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    quota(admin, 1, persona=persona)
    first = call("fx_echo", {"value": 1}, HTTP_IDEMPOTENCY_KEY="k").json()
    again = call("fx_echo", {"value": 1}, HTTP_IDEMPOTENCY_KEY="k")
    assert again.json()["metadata"]["run_id"] == first["metadata"]["run_id"]
    assert call("fx_echo", {"value": 1}, HTTP_IDEMPOTENCY_KEY="other").status_code == 429


def test_of_equal_calls_at_once_the_second_gets_the_run_that_took_the_last_place(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    quota(admin, 1, persona=persona)
    first = call("fx_echo", {"value": 1}, HTTP_IDEMPOTENCY_KEY="k").json()
    second = call("fx_echo", {"value": 1}, HTTP_IDEMPOTENCY_KEY="k")
    assert second.status_code == 200
    assert second.json()["metadata"]["run_id"] == first["metadata"]["run_id"]
    assert Run.objects.count() == 1
    assert not Event.objects.filter(kind="run.refused").exists()


def test_a_tiers_limit_counts_each_persona_and_a_tools_all_together(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    tier, other = tier_create(by=admin, name="free"), persona_create(by=admin, name="other")
    tier_set(by=admin, persona=persona, tier=tier)
    tier_set(by=admin, persona=other, tier=tier)
    each = quota(admin, 2, tier=tier)
    Usage.objects.create(limit=each, whose=other.pk, used=2, most=2, ends_at=timezone.now() + timedelta(1))
    assert [call("fx_echo", {"value": 1}).status_code for _ in range(3)] == [200, 200, 429]
    each.delete()
    together = quota(admin, 2, tool="fx_echo")
    Usage.objects.create(limit=together, whose=0, used=1, most=2, ends_at=timezone.now() + timedelta(1))
    assert [call("fx_echo", {"value": 1}).status_code for _ in range(2)] == [200, 429]


def test_seconds_and_bytes_are_booked_when_a_run_ends(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    time = quota(admin, 60, persona=persona, measure="seconds")
    size = quota(admin, 40, persona=persona, measure="bytes")
    first = call("fx_big", {"size": 50}).json()
    used = dict(Usage.objects.values_list("limit", "used"))
    # {"size":50} has 11 bytes; the result is a text of 50 letters between two quotes.
    assert used[size.pk] == 11 + 52
    assert used[time.pk] == round(first["metadata"]["duration_ms"])
    refused = call("fx_big", {"size": 1})
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "QUOTA_EXCEEDED")
    assert Run.objects.count() == 1


def test_a_run_by_a_worker_is_counted_at_acceptance_and_booked_at_its_end(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    calls, size = quota(admin, 1, persona=persona), quota(admin, 10_000, persona=persona, measure="bytes")
    detached = {"HTTP_PREFER": "respond-async"}
    assert [call("fx_big", {"size": 5}, **detached).status_code for _ in range(2)] == [202, 429]
    assert dict(Usage.objects.values_list("limit", "used")) == {calls.pk: 1, size.pk: 0}
    Run.objects.update(due_at=timezone.now() - timedelta(seconds=5))
    assert queue_work("default") == 1
    assert Run.objects.get().status == Status.COMPLETED
    assert dict(Usage.objects.values_list("limit", "used")) == {calls.pk: 1, size.pk: 10 + 7}


def test_each_attempt_of_a_run_is_booked(
    way: None, call: Call, declare: Declare, admin: User, persona: Persona, tmp_path: Path
) -> None:
    time = quota(admin, 60, persona=persona, measure="seconds")
    size = quota(admin, 10_000, persona=persona, measure="bytes")
    declare("fx_fail", retry={"maxRetries": 2}, columns={"extras": ["retry"]})
    arguments = {"file": str(tmp_path / "f"), "times": 2}
    call("fx_fail", arguments, HTTP_PREFER="respond-async")
    run = work_on()
    assert (run.status, run.attempt) == (Status.COMPLETED, 3)
    used = dict(Usage.objects.values_list("limit", "used"))
    assert used[size.pk] == 3 * len(canonical(arguments)) + len(canonical(run.result))
    assert used[time.pk] == sum(round(one.duration_ms) for one in run.attempts.all())


def test_a_cancel_between_attempts_books_nothing_more(
    way: None, call: Call, declare: Declare, admin: User, persona: Persona, tmp_path: Path
) -> None:
    quota(admin, 10_000, persona=persona, measure="bytes")
    declare("fx_fail", retry="STANDARD", columns={"extras": ["retry"]})
    arguments = {"file": str(tmp_path / "f")}
    call("fx_fail", arguments, HTTP_PREFER="respond-async")
    Run.objects.update(due_at=timezone.now() - timedelta(seconds=5))
    assert queue_work("default") == 1
    run = Run.objects.get()
    assert run.status == Status.WAITING_RETRY
    assert Usage.objects.get().used == len(canonical(arguments))
    assert services.run_cancel(by=actor_of(admin), run=run) is True
    assert Usage.objects.get().used == len(canonical(arguments))


def test_a_call_that_waits_for_approval_is_counted_when_it_is_asked(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    Tool.objects.filter(name="fx_echo").update(asks_approval=True)
    quota(admin, 1, persona=persona)
    assert [call("fx_echo", {"value": n}).status_code for n in range(2)] == [202, 429]
    assert Usage.objects.get().used == 1


def test_the_persona_page_and_the_simulator_tell_what_is_used(
    call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    quota(admin, 2, persona=persona, tool="fx_echo")
    eyes = Client()
    eyes.force_login(admin)
    assert "0 of 2 calls" in eyes.get("/personas/researcher/").content.decode()
    for _ in range(2):
        call("fx_echo", {"value": 1})
    page = eyes.get("/personas/researcher/").content.decode()
    assert "2 of 2 calls" in page
    assert "2 calls a day of this persona with fx_echo are used up." in page
    told = eyes.post(
        "/simulator/", {"persona": "researcher", "tool": "fx_echo", "arguments": '{"value": 1}'}
    ).content.decode()
    assert "429" in told
    assert "QUOTA_EXCEEDED" in told
    assert Usage.objects.get().used == 2


def test_a_call_without_a_limit_costs_no_statement_more(
    call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    call("fx_echo", {"value": 1})
    patterns_now()  # which each process reads every five seconds
    with CaptureQueriesContext(connection) as without:
        call("fx_echo", {"value": 1})
    quota(admin, 100, tool="fx_boom")
    patterns_now()
    with CaptureQueriesContext(connection) as beside:
        call("fx_echo", {"value": 1})
    assert len(beside) <= len(without)
    assert not [query for query in beside.captured_queries if "policy_usage" in query["sql"]]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tool", ["fx_echo", "fx_context"])
def test_of_many_calls_at_once_exactly_so_many_pass(
    fx: Package, admin: User, persona: Persona, token_text: str, tool: str
) -> None:
    quota(admin, 7, persona=persona)
    statuses: list[int] = []
    start = threading.Barrier(12)

    def work() -> None:
        client = Client()
        start.wait()
        for _ in range(3):
            answer = client.post(
                f"/api/v1/tools/{tool}/execute",
                {"arguments": {"value": 1} if tool == "fx_echo" else {}},
                content_type="application/json",
                HTTP_AUTHORIZATION=f"Bearer {token_text}",
            )
            statuses.append(answer.status_code)
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * 7 + [429] * 29
    assert Run.objects.count() == Usage.objects.get().used == 7


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("prefer", ["wait=5", "respond-async"])
def test_where_a_limit_is_taken_away_meanwhile_what_holds_now_decides(
    way: None,
    call: Call,
    fx: Package,
    admin: User,
    persona: Persona,
    monkeypatch: pytest.MonkeyPatch,
    prefer: str,
    left: int,
) -> None:
    limit = quota(admin, 10, persona=persona)
    carry_out = services._take

    def gone(*args: Any) -> Run:
        if Limit.objects.filter(pk=limit.pk).exists():
            quota(admin, 1, persona=persona)
            if not left:
                Usage.objects.create(
                    limit=Limit.objects.latest("pk"),
                    whose=persona.pk,
                    used=1,
                    most=1,
                    ends_at=timezone.now() + timedelta(days=1),
                )
            limit_delete(by=admin, limit=limit)
        return carry_out(*args)

    monkeypatch.setattr(services, "_take", gone)
    answer = call("fx_echo", {"value": 1}, HTTP_PREFER=prefer)
    taken = 200 if prefer == "wait=5" else 202
    assert answer.status_code == (taken if left else 429), answer.content
    assert Run.objects.count() == left
    assert Event.objects.filter(kind__in=["run.accepted", "run.refused"]).count() == 1
    assert [row.used for row in Usage.objects.all()] == [1]
