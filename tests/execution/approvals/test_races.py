"""Two approvers, an approver and the clock, an approver and the caller, all at the same moment: one of them wins."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit.models import Event
from core.errors import ToolHubError
from execution.engine.invariants import invariants_check
from execution.engine.perform import queue_work
from execution.engine.submit import run_cancel
from execution.features.approvals.decide import approval_deny, approval_grant
from execution.features.approvals.expiry import approvals_expire
from execution.models import Approval, Run
from security.models import User
from security.permissions import actor_of
from tests.execution.approvals.conftest import now_of

pytestmark = pytest.mark.django_db(transaction=True)
Ask = Callable[..., Approval]
ROUNDS = 8


def together(*acts: Callable[[], Any]) -> list[Any]:
    """All at once, each in a thread of its own; what each gave or raised."""
    barrier = threading.Barrier(len(acts))
    done: list[Any] = [None] * len(acts)

    def work(number: int, act: Callable[[], Any]) -> None:
        barrier.wait(10)
        try:
            done[number] = act()
        except ToolHubError as error:
            done[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return done


def later(seconds: float, act: Callable[[], Any]) -> Any:
    time.sleep(seconds)
    return act()


def refused(done: list[Any]) -> list[bool]:
    return [isinstance(one, ToolHubError) for one in done]


def decisions(approval: Approval) -> list[str]:
    return list(
        Event.objects.filter(run_id=approval.run_id, kind__startswith="approval.")
        .exclude(kind="approval.asked")
        .values_list("kind", flat=True)
    )


def test_two_people_decide_at_once_and_one_counts(asked: Ask, approver: User, people: Any) -> None:
    other = people("cy", "execution.approve_run")
    for _ in range(ROUNDS):
        approval = asked()
        done = together(
            partial(approval_grant, by=approver, approval_id=approval.pk),
            partial(approval_deny, by=other, approval_id=approval.pk, reason="no"),
        )
        assert sorted(refused(done)) == [False, True], done
        assert now_of(approval) in {("pending", "approved"), ("cancelled", "denied")}
        assert len(decisions(approval)) == 1
    queue_work("default")
    assert invariants_check().faults == {}


def test_one_person_who_presses_twice_starts_it_once(asked: Ask, approver: User) -> None:
    for _ in range(ROUNDS):
        approval = asked()
        done = together(*[partial(approval_grant, by=approver, approval_id=approval.pk)] * 3)
        assert sorted(refused(done)) == [False, True, True], done
    assert queue_work("default") == ROUNDS
    assert invariants_check().faults == {}


def test_a_decision_against_the_clock(asked: Ask, approver: User) -> None:
    for _ in range(ROUNDS):
        approval = asked()
        Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() + timedelta(milliseconds=60))
        grant = partial(approval_grant, by=approver, approval_id=approval.pk)
        together(partial(later, 0.055, grant), partial(later, 0.06, approvals_expire))
        later(0.05, approvals_expire)
        assert now_of(approval) in {("pending", "approved"), ("cancelled", "expired")}
        assert len(decisions(approval)) == 1
    queue_work("default")
    assert Run.objects.exclude(status__in=["completed", "cancelled"]).count() == 0
    assert invariants_check().faults == {}


def test_a_decision_against_a_cancel(asked: Ask, approver: User, admin: User) -> None:
    for _ in range(ROUNDS):
        approval = asked()
        together(
            partial(approval_grant, by=approver, approval_id=approval.pk),
            partial(run_cancel, by=actor_of(admin), run=approval.run),
        )
        status, decision = now_of(approval)
        assert (status, decision) in {("cancelled", "approved"), ("cancelled", "withdrawn")}
        assert len(decisions(approval)) == 1
    assert queue_work("default") == 0
    assert invariants_check().faults == {}
