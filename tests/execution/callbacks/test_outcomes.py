"""Whoever makes an outcome owes the callback with it: once, in the same transaction."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from django.db import transaction

from core.actors import SYSTEM
from core.outbox.models import Delivery
from core.outbox.sender import Senders
from core.outbox.services import delivery_add
from execution.engine.lease import Lease
from execution.engine.perform import run_perform
from execution.engine.submit import run_cancel
from execution.models import Run, Status
from execution.runs.resolve import run_resolve
from execution.runs.verdicts import Verdict
from security.models import User
from tests.execution.fixtures import MakeRun, claim_next, reap
from tests.receiver import Receiver, status

pytestmark = pytest.mark.django_db
URL = "https://example.org/hook"


def owed() -> list[Any]:
    return [delivery.subject for delivery in Delivery.objects.all()]


def test_a_worker_that_finishes(make_run: MakeRun) -> None:
    run = make_run(request={"callback_url": URL})
    lease = claim_next("default")
    assert lease
    assert run_perform(lease)
    assert owed() == [run.pk]
    assert Delivery.objects.get().url == URL


def test_a_run_that_is_cancelled_while_it_waits(make_run: MakeRun) -> None:
    run = make_run(request={"callback_url": URL})
    assert run_cancel(by=SYSTEM, run=run)
    assert owed() == [run.pk]


def test_a_run_that_is_refused_before_its_start(make_run: MakeRun, persona: Any) -> None:
    persona.assignments.all().delete()
    run = make_run(request={"callback_url": URL})
    lease = claim_next("default")
    assert lease
    assert run_perform(lease)
    assert Run.objects.get(pk=run.pk).error["code"] == "PERMISSION_DENIED"
    assert owed() == [run.pk]


def test_a_run_whose_workers_are_lost(leased: Callable[..., Lease]) -> None:
    lease = leased("fx_echo", attempt=3)
    Run.objects.update(request={"callback_url": URL})
    assert reap() == 1
    assert owed() == [lease.run.pk]


def test_a_run_whose_outcome_is_unknown_owes_it_when_a_person_resolves_it(
    leased: Callable[..., Lease], admin: User
) -> None:
    lease = leased("fx_count")
    Run.objects.update(request={"callback_url": URL})
    assert reap() == 1
    assert owed() == []
    run = Run.objects.get(pk=lease.run.pk)
    assert run.status == Status.OUTCOME_UNKNOWN
    run_resolve(by=admin, run=run, verdict=Verdict.NOT_DONE, reason="looked")
    assert owed() == [run.pk]


def test_an_outcome_that_is_taken_back_owes_nothing(make_run: MakeRun) -> None:
    run = make_run(request={"callback_url": URL})
    with transaction.atomic():
        run_cancel(by=SYSTEM, run=run)
        assert owed() == [run.pk]
        transaction.set_rollback(True)
    assert owed() == []


@pytest.mark.django_db(transaction=True)
def test_a_message_without_a_transaction_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(transaction.TransactionManagementError):
        delivery_add(kind="run.outcome", subject=make_run().pk, owner="x", url=URL)


@pytest.mark.django_db(transaction=True)
def test_the_stewards_senders_send_what_is_owed(
    called: Callable[..., dict[str, Any]], receiver: Receiver
) -> None:
    heard = threading.Event()

    def hear(handler: BaseHTTPRequestHandler) -> None:
        status(204)(handler)
        heard.set()

    receiver.answers = [hear]
    called()
    with Senders():
        assert heard.wait(30)
