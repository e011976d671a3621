"""Caps: how many runs are carried out at once, by session, tool, persona and hub (also by claims at once)."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from execution.engine import caps
from execution.engine.begin import begin_next
from execution.engine.perform import queue_work
from execution.engine.store import current
from execution.models import Run, Status
from registry.models import Package, ToolVersion
from registry.services import assignment_create
from security.models import Persona, User
from security.services import persona_create, token_create
from security.tokens import principal_find
from tests.execution.fixtures import MakeRun, stores
from toolhub_sdk.package import CONTRACT

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
PAST = timezone.now() - timedelta(hours=1)


def begun() -> list[Run]:
    """Begins runs until nothing more may begin; nobody carries them out."""
    found = []
    while (one := begin_next("default")) is not None:
        assert one.lease
        found.append(one.lease.run)
    return found


def test_a_session_has_three_runs_at_once(make_run: MakeRun) -> None:
    for _ in range(5):
        make_run(session="s", due_at=PAST)
    other = make_run(session="t")
    without = make_run()
    assert len(begun()) == 5
    assert Run.objects.filter(status=Status.RUNNING, session="s").count() == 3
    assert {other.pk, without.pk} <= set(
        Run.objects.filter(status=Status.RUNNING).values_list("pk", flat=True)
    )


@pytest.mark.parametrize("named", ["", "default"])
def test_calls_without_a_session_share_the_persona_s_default_session(make_run: MakeRun, named: str) -> None:
    for session in ("", "default", named, named, named):
        make_run(session=session, due_at=PAST)
    make_run(session="s")
    assert sorted(run.session in ("", "default") for run in begun()) == [False, True, True, True]
    Run.objects.filter(status=Status.RUNNING, session__in=("", "default")).update(session="t")
    assert len(begun()) == 2


def test_what_the_web_process_carries_out_takes_no_place_of_the_default_session(make_run: MakeRun) -> None:
    for _ in range(3):
        make_run(status=Status.RUNNING, inline=True, attempt=1)
    for _ in range(4):
        make_run(due_at=PAST)
    assert len(begun()) == 3


def test_default_sessions_of_two_personas_are_two(make_run: MakeRun, admin: User, fx: Package) -> None:
    other = persona_create(by=admin, name="other")
    assignment_create(by=admin, persona=other, package=fx)
    token = principal_find(token_create(by=admin, persona=other, name="t")[1])
    assert token
    for _ in range(4):
        make_run(due_at=PAST)
        make_run(due_at=PAST, persona=other, token_id=token[0].token_id)
    counts = Counter(run.persona_id for run in begun())
    assert sorted(counts.values()) == [3, 3]


def test_both_ways_choose_the_same(make_run: MakeRun, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prepared statements and the ORM, over running and waiting runs of every kind of session."""
    settings.SESSION_RUNS_MAX = 2
    for session, inline in itertools.product(("", "default", "s"), (True, False)):
        make_run(status=Status.RUNNING, attempt=1, session=session, inline=inline)
    waiting = [make_run(session=session) for session in ("s", "", "default", "t")]
    found = []
    for store in stores():
        monkeypatch.setattr(current, "STORE", store)
        with transaction.atomic():
            chosen = current.STORE.choose("default")
            transaction.set_rollback(True)
        found.append(chosen and chosen.run_id)
    # Two of workers are in the default session, two in s.
    assert set(found) == {waiting[-1].pk}


def test_sessions_of_two_personas_by_one_name_are_two(make_run: MakeRun) -> None:
    other = Persona.objects.create(name="other")
    for persona in (None, other):
        for _ in range(4):
            make_run(session="s", **({"persona": persona} if persona else {}))
    # The other persona may call nothing: its runs end, and none is left waiting for a cap.
    while begin_next("default") is not None:
        pass
    counts = {status: Run.objects.filter(status=status).count() for status in Status}
    assert (counts[Status.RUNNING], counts[Status.FAILED], counts[Status.PENDING]) == (3, 4, 1)


def test_a_place_that_gets_free_is_taken(make_run: MakeRun, settings: Any) -> None:
    settings.SESSION_RUNS_MAX = 1
    for _ in range(3):
        make_run(session="s")
    assert queue_work("default") == 3
    assert Run.objects.filter(status=Status.COMPLETED).count() == 3


def test_a_tool_s_runs_at_once_are_what_it_declares(make_run: MakeRun) -> None:
    for number in range(4):
        make_run("fx_slow", at_once=2, due_at=PAST + timedelta(seconds=number))
    make_run("fx_echo", due_at=PAST + timedelta(minutes=1))
    assert sorted(run.tool for run in begun()) == ["fx_echo", "fx_slow", "fx_slow"]


@pytest.mark.parametrize(("setting", "most"), [("PERSONA_RUNS_MAX", 2), ("HUB_RUNS_MAX", 3)])
def test_a_persona_and_the_whole_hub_may_have_a_cap(
    make_run: MakeRun, settings: Any, setting: str, most: int
) -> None:
    setattr(settings, setting, most)
    for tool in ("fx_echo", "fx_slow") * 3:
        make_run(tool)
    assert len(begun()) == most


def test_zero_means_any_number(make_run: MakeRun, settings: Any) -> None:
    settings.SESSION_RUNS_MAX = 0
    for _ in range(5):
        make_run(session="s")
    assert len(begun()) == 5


def test_a_call_s_session_and_its_tool_s_cap_stand_in_the_run(call: Call, fx: Package) -> None:
    version = ToolVersion.objects.get(tool__name="fx_count")
    version.definition["_meta"][CONTRACT]["resourceBounds"]["maxConcurrency"] = 7
    version.save()
    body = {"arguments": {"file": "/dev/null"}, "context": {"session_id": "mine"}}
    assert call("fx_count", body=body, HTTP_PREFER="respond-async").status_code == 202
    run = Run.objects.get()
    assert (run.session, run.at_once) == ("mine", 7)


def test_a_quick_call_whose_cap_is_full_waits_for_a_worker(
    call: Call, fx: Package, make_run: MakeRun, settings: Any, tmp_path: Any
) -> None:
    settings.SESSION_RUNS_MAX = 1
    settings.INLINE_MAX_MS = 30_000
    make_run("fx_count", Status.RUNNING, session="mine", attempt=1)
    body = {"arguments": {"file": str(tmp_path / "f")}, "context": {"session_id": "mine"}}
    body["limits"] = {"timeoutMs": 1000}
    answer = call("fx_count", body=body, HTTP_PREFER="wait=1")
    run = Run.objects.latest("id")
    assert (answer.status_code, run.status, run.inline) == (202, Status.PENDING, False)
    assert not (tmp_path / "f").exists()


@pytest.mark.django_db(transaction=True)
def test_claims_at_once_do_not_share_the_last_place_of_a_default_session(
    make_run: MakeRun, settings: Any
) -> None:
    """The second waits for the first one's commit, and counts again then."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer")
    settings.SESSION_RUNS_MAX = 1
    for _ in range(4):
        make_run()
    start = threading.Barrier(4, timeout=30)

    def claim() -> None:
        try:
            with transaction.atomic():
                connection.ensure_connection()
                start.wait()
            begin_next("default")
        finally:
            connection.close()

    with transaction.atomic():
        first = begin_next("default")
        assert first
        others = [threading.Thread(target=claim) for _ in range(3)]
        for thread in others:
            thread.start()
        start.wait()
        _wait_for_waiters(3)
    for thread in others:
        thread.join()
    assert Run.objects.filter(status=Status.RUNNING).count() == 1


def _wait_for_waiters(count: int) -> None:
    """Return once so many sessions wait for an advisory lock of this database."""
    waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    for _ in range(6000):
        with connection.cursor() as cursor:
            cursor.execute(waits)
            if cursor.fetchone()[0] >= count:
                return
        threading.Event().wait(0.01)
    raise AssertionError("nobody waits for the lock")


@pytest.mark.django_db(transaction=True)
def test_two_claims_at_once_do_not_share_the_last_place(
    make_run: MakeRun, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have seen the place free before either takes it."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer")
    settings.SESSION_RUNS_MAX = 1
    for _ in range(2):
        make_run(session="s")
    both, hold = threading.Barrier(2, timeout=30), caps.caps_of
    first = threading.local()

    def held(choice: caps.Choice) -> Any:
        if not hasattr(first, "over"):
            first.over = True
            both.wait()
        return hold(choice)

    monkeypatch.setattr(caps, "caps_of", held)

    def claim() -> None:
        try:
            begin_next("default")
        finally:
            connection.close()

    threads = [threading.Thread(target=claim) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Run.objects.filter(status=Status.RUNNING).count() == 1
    assert Run.objects.filter(status=Status.PENDING).count() == 1
