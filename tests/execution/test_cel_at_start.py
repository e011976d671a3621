"""CEL of conditions is evaluated in no transaction, neither when a call comes nor before its run starts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from execution.engine.perform import queue_work
from execution.engine.store import current
from execution.models import Run, Status
from registry.models import Package
from security import conditions
from security.models import Grant, Persona, User
from security.services import grant_create
from tests.execution.fixtures import stores

pytestmark = pytest.mark.django_db(transaction=True)
Call = Callable[..., Any]


@pytest.fixture(params=["hot path", "ORM"])
def evaluations(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each evaluation, whether it happened in a transaction; both ways of beginning."""
    store = stores()[0] if request.param == "hot path" else stores()[-1]
    monkeypatch.setattr(current, "STORE", store)
    seen: list[bool] = []
    holds = conditions.cel_holds

    def observed(expression: str, values: Any) -> bool:
        seen.append(connection.in_atomic_block)
        return holds(expression, values)

    monkeypatch.setattr(conditions, "cel_holds", observed)
    return seen


@pytest.fixture
def conditional(fx: Package, admin: User, persona: Persona) -> None:
    """What fx_capable needs, granted under a condition in CEL."""
    only = [{"kind": "cel", "expression": "!has(arguments.never)"}]
    grant_create(by=admin, persona=persona, capability="file", reason="r", conditions=only)


def due() -> None:
    Run.objects.update(due_at=timezone.now() - timedelta(seconds=5))


def test_a_run_by_a_worker_is_judged_outside_of_the_claim(
    evaluations: list[bool], conditional: None, call: Call
) -> None:
    assert call("fx_capable", {}, HTTP_PREFER="respond-async").status_code == 202
    due()
    assert queue_work("default") == 1
    assert Run.objects.get().status == Status.COMPLETED
    assert evaluations == [False, False]


def test_a_run_in_the_web_process_is_judged_once(
    evaluations: list[bool], conditional: None, call: Call, settings: Any
) -> None:
    settings.PERSONA_RUNS_MAX = 5  # so that it begins in the transaction that accepts it
    assert call("fx_capable", {}).json()["data"] == "done"
    assert evaluations == [False]


def test_a_condition_that_changed_while_a_run_waited_ends_it_before_its_start(
    evaluations: list[bool], conditional: None, call: Call
) -> None:
    assert call("fx_capable", {}, HTTP_PREFER="respond-async").status_code == 202
    Grant.objects.update(conditions=[{"kind": "cel", "expression": "has(arguments.never)"}])
    due()
    queue_work("default")
    run = Run.objects.get()
    assert (run.status, run.started_at, run.error["code"]) == (Status.FAILED, None, "CAPABILITY_MISSING")
    assert evaluations == [False, False]


def test_a_grant_without_cel_takes_the_short_way(
    evaluations: list[bool], fx: Package, admin: User, persona: Persona, call: Call
) -> None:
    grant_create(by=admin, persona=persona, capability="file", reason="r")
    other = [{"kind": "cel", "expression": "true"}]
    grant_create(by=admin, persona=persona, capability="network", reason="r", conditions=other)
    assert call("fx_capable", {}, HTTP_PREFER="respond-async").status_code == 202
    due()
    assert queue_work("default") == 1
    assert Run.objects.get().status == Status.COMPLETED
    assert evaluations == []
