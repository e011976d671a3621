"""Claiming and starting: one worker per run, in fair order, and only while the rights still hold."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from execution.engine.claim import claim_this, lease_start
from execution.engine.deadlines import deadlines_end
from execution.engine.lease import Lease
from execution.engine.perform import queue_work, run_perform
from execution.models import Attempt, Run, RunEvent, Status
from registry.models import Assignment, Package, ToolVersion, VersionState
from registry.services import assignment_delete
from security.models import Grant, Persona, Token, User
from security.services import grant_create, grant_revoke, persona_switch, token_revoke
from tests.execution.fixtures import MakeRun, claim_next

PAST = timezone.now() - timedelta(hours=1)


@pytest.mark.django_db(transaction=True)
def test_two_claimers_never_get_the_same_run(make_run: MakeRun, settings: Any) -> None:
    settings.SESSION_RUNS_MAX = 0
    runs = [make_run() for _ in range(20)]
    together = threading.Barrier(4)

    def claim_all(_: int) -> list[Lease]:
        found = []
        together.wait(30)
        try:
            while lease := claim_next("default"):
                found.append(lease)
            return found
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        leases = [lease for found in pool.map(claim_all, range(4)) for lease in found]
    # a claimer may leave a run that another holds at that moment; nobody takes one twice
    assert max(Counter(lease.run.pk for lease in leases).values()) == 1
    rest = list(iter(lambda: claim_next("default"), None))
    assert {lease.run.pk for lease in [*leases, *rest]} == {run.pk for run in runs}
    assert Attempt.objects.count() == 20
    assert len(set(Attempt.objects.values_list("lease_token", flat=True))) == 20


@pytest.mark.django_db
def test_a_claim_is_a_lease_an_attempt_and_an_event(make_run: MakeRun, settings: Any) -> None:
    run = make_run()
    lease = claim_next("default")
    assert lease is not None
    assert (lease.run.pk, lease.attempt) == (run.pk, 1)
    run.refresh_from_db()
    assert (run.status, run.attempt, run.lease_token, run.started_at) == (
        Status.RUNNING,
        1,
        lease.token,
        None,
    )
    attempt = Attempt.objects.get()
    assert (attempt.number, attempt.lease_token, attempt.started_at) == (1, lease.token, None)
    assert [event.kind for event in RunEvent.objects.all()] == ["RUN_CLAIMED"]
    assert claim_next("default") is None


@pytest.mark.django_db
@pytest.mark.parametrize("status", [status for status in Status if status is not Status.PENDING])
def test_only_what_is_pending_is_claimed(make_run: MakeRun, status: Status) -> None:
    run = make_run(status=status)
    assert claim_next("default") is None
    assert claim_this(run) is None


@pytest.mark.django_db
def test_what_is_due_later_waits(make_run: MakeRun) -> None:
    make_run(due_at=timezone.now() + timedelta(hours=1))
    assert claim_next("default") is None


@pytest.mark.django_db
def test_another_queue_and_what_a_web_process_keeps_for_itself_are_left_alone(make_run: MakeRun) -> None:
    make_run(queue="sandbox")
    kept = make_run(inline=True)
    assert claim_next("default") is None
    assert claim_next("sandbox") is not None
    assert claim_this(kept) is not None


@pytest.mark.django_db
def test_the_oldest_of_one_kind_comes_first(make_run: MakeRun) -> None:
    order = [make_run(due_at=PAST + timedelta(seconds=second)) for second in (2, 0, 1)]
    claimed = [lease.run.pk for lease in iter(lambda: claim_next("default"), None)]
    assert claimed == [order[1].pk, order[2].pk, order[0].pk]


@pytest.mark.django_db
def test_the_persona_with_the_fewest_running_runs_comes_first(make_run: MakeRun, settings: Any) -> None:
    """a has waited longest and much; b gets every second turn."""
    settings.SESSION_RUNS_MAX = 0
    a, b = (Persona.objects.create(name=name) for name in "ab")
    for _ in range(4):
        make_run(persona=a, due_at=PAST)
    for _ in range(2):
        make_run(persona=b, due_at=PAST + timedelta(minutes=1))
    claimed = [lease.run.persona.name for lease in iter(lambda: claim_next("default"), None)]
    assert claimed == ["a", "b", "a", "b", "a", "a"]


@pytest.mark.django_db
def test_then_the_tool_with_the_fewest_running_runs(make_run: MakeRun, settings: Any) -> None:
    """Faults 12: a crowd of one tool does not keep another from its turn."""
    settings.SESSION_RUNS_MAX = 0
    for _ in range(3):
        make_run("fx_slow", due_at=PAST)
    make_run("fx_echo", due_at=PAST + timedelta(minutes=1))
    claimed = [lease.run.tool for lease in iter(lambda: claim_next("default"), None)]
    assert claimed == ["fx_slow", "fx_echo", "fx_slow", "fx_slow"]


@pytest.mark.django_db
def test_two_hundred_long_runs_of_one_tool_do_not_hold_up_fifty_short_ones_of_another(
    make_run: MakeRun,
) -> None:
    for _ in range(200):
        make_run("fx_slow", due_at=PAST)
    for _ in range(50):
        make_run("fx_echo")
    first = claim_next("default")
    assert first is not None
    assert first.run.tool == "fx_slow"
    for _ in range(50):  # while the first place is taken, by whoever has the second
        lease = claim_next("default")
        assert lease is not None
        assert lease.run.tool == "fx_echo"
        assert run_perform(lease)
    assert Run.objects.filter(tool="fx_echo", status=Status.COMPLETED).count() == 50


@pytest.mark.django_db
def test_a_lease_that_was_lost_starts_nothing(make_run: MakeRun) -> None:
    make_run()
    lease = claim_next("default")
    assert lease is not None
    Run.objects.update(lease_token=uuid.uuid4())
    assert lease_start(lease) is False
    assert Attempt.objects.get().started_at is None
    assert run_perform(lease) is False
    run = Run.objects.get()
    assert (run.status, run.started_at, run.result) == (Status.RUNNING, None, None)


@pytest.mark.django_db
def test_a_start_is_committed_before_the_tool_works(make_run: MakeRun) -> None:
    make_run()
    lease = claim_next("default")
    assert lease is not None
    assert lease_start(lease) is True
    assert Attempt.objects.get().started_at is not None
    assert RunEvent.objects.last().kind == "RUN_STARTED"  # type: ignore[union-attr]


Lose = Callable[[User, Persona], object]
LOST: dict[str, Lose] = {
    "the token": lambda by, p: token_revoke(by=by, token=Token.objects.get()),
    "the persona": lambda by, p: persona_switch(by=by, persona=p, on=False),
    "the assignment": lambda by, p: assignment_delete(by=by, assignment=Assignment.objects.get()),
    "the responsible person": lambda by, p: User.objects.filter(pk=by.pk).update(is_active=False),
}


@pytest.mark.django_db
@pytest.mark.parametrize("lose", LOST.values(), ids=LOST)
def test_rights_that_were_lost_meanwhile_end_the_run_before_its_start(
    make_run: MakeRun, admin: User, persona: Persona, lose: Lose
) -> None:
    make_run()
    lose(admin, persona)
    assert queue_work("default") == 1
    run = Run.objects.get()
    assert (run.status, run.started_at, run.result) == (Status.FAILED, None, None)
    assert run.error["code"] == "PERMISSION_DENIED"
    assert run.error["details"]["decision"]["allowed"] is False
    assert Attempt.objects.get().started_at is None
    assert "RUN_STARTED" not in RunEvent.objects.values_list("kind", flat=True)


# As in a worker, where no transaction is around the one that is taken back.
@pytest.mark.django_db(transaction=True)
def test_a_capability_that_was_revoked_meanwhile_ends_the_run(
    make_run: MakeRun, admin: User, persona: Persona
) -> None:
    grant = grant_create(by=admin, persona=persona, capability="file", reason="test")
    make_run("fx_capable", arguments={})
    grant_revoke(by=admin, grant=grant)
    queue_work("default")
    run = Run.objects.get()
    assert (run.status, run.error["code"], run.started_at) == (Status.FAILED, "CAPABILITY_MISSING", None)


@pytest.mark.django_db
def test_a_version_that_was_withdrawn_meanwhile_ends_the_run(make_run: MakeRun) -> None:
    make_run()
    ToolVersion.objects.update(state=VersionState.YANKED)
    queue_work("default")
    assert Run.objects.get().error["code"] == "VERSION_YANKED"


@pytest.mark.django_db
def test_what_expired_after_the_acceptance_does_not_matter(
    make_run: MakeRun, admin: User, persona: Persona
) -> None:
    grant = grant_create(by=admin, persona=persona, capability="file", reason="test")
    make_run("fx_capable", arguments={}, created_at=timezone.now() - timedelta(minutes=10))
    past = timezone.now() - timedelta(minutes=5)
    Grant.objects.filter(pk=grant.pk).update(expires_at=past)
    Token.objects.update(expires_at=past)
    queue_work("default")
    run = Run.objects.get()
    assert (run.status, run.result) == (Status.COMPLETED, "done")


@pytest.mark.django_db
def test_a_run_whose_deadline_passed_times_out_before_its_start(make_run: MakeRun) -> None:
    make_run(deadline_at=PAST)
    assert queue_work("default") == 0
    assert deadlines_end() == 1
    run = Run.objects.get()
    assert (run.status, run.error["code"], run.started_at) == (Status.TIMEOUT, "TIMEOUT", None)
    assert run.side_effect == "none"


@pytest.mark.django_db
def test_a_deadline_counts_only_until_the_first_attempt(make_run: MakeRun) -> None:
    make_run(deadline_at=PAST, attempt=1)
    assert deadlines_end() == 0
    assert queue_work("default") == 1


@pytest.mark.django_db
def test_a_run_whose_cancel_was_asked_is_cancelled_before_its_start(make_run: MakeRun, fx: Package) -> None:
    make_run(cancel_asked_at=PAST)
    queue_work("default")
    run = Run.objects.get()
    assert (run.status, run.error["code"], run.started_at) == (Status.CANCELLED, "CANCELLED", None)
