"""Each outcome says how far its effect can have gone, and a caller who could do it twice is warned."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from audit.models import Event
from execution.engine.begin import begin_next
from execution.engine.finish import run_finish
from execution.engine.outcomes import Outcome, failure, success
from execution.engine.side_effects import MAY_HAVE_HAPPENED
from execution.engine.store import current
from execution.models import Attempt, Run, Status
from execution.side_effects import SideEffect
from registry.models import ToolVersion
from tests.execution.fixtures import MakeRun, reap, stores

pytestmark = pytest.mark.django_db
AT = datetime(2030, 1, 31, tzinfo=UTC)
NONE, POSSIBLE, DONE = SideEffect
TIMED_OUT = failure("TIMEOUT", "It took too long.", at=AT, status=Status.TIMEOUT)
REFUSED = failure("FX_REFUSED", "No.", at=AT, side_effect=DONE)
UNBEGUN = failure("SANDBOX_UNAVAILABLE", "No sandbox.", at=AT, side_effect=NONE)
WORKED = success(1, started_at=AT, ended_at=AT, duration_ms=1.0)


def finished(outcome: Outcome) -> Run:
    begun = begin_next("default")
    assert begun
    assert begun.lease
    assert run_finish(begun.lease, outcome)
    return Run.objects.get(pk=begun.lease.run.pk)


@pytest.mark.parametrize(
    ("pure", "idempotent", "outcome", "effect", "warned"),
    [
        (True, False, TIMED_OUT, NONE, False),
        (True, False, WORKED, NONE, False),
        (False, False, WORKED, DONE, False),
        (False, False, TIMED_OUT, POSSIBLE, True),
        (False, True, TIMED_OUT, POSSIBLE, False),
        (False, False, REFUSED, DONE, False),
        (False, False, UNBEGUN, NONE, False),
    ],
)
def test_an_outcome_says_how_far_the_effect_can_have_gone(
    make_run: MakeRun,
    monkeypatch: pytest.MonkeyPatch,
    pure: bool,
    idempotent: bool,
    outcome: Outcome,
    effect: SideEffect,
    warned: bool,
) -> None:
    for store in stores():
        run = make_run(events_count=1)
        ToolVersion.objects.update(is_pure=pure, is_idempotent=idempotent, state_reason=uuid.uuid4().hex)
        monkeypatch.setattr(current, "STORE", store)
        run = finished(outcome)
        assert (run.side_effect, Attempt.objects.get(run=run).side_effect) == (effect, effect)
        assert (MAY_HAVE_HAPPENED in (run.error or {}).get("suggestions", ())) is warned
        told = Event.objects.get(run_id=run.pk, kind="run.outcome")
        assert f'"side_effect":"{effect}"' in told.canonical


def test_the_attempt_that_went_furthest_counts(make_run: MakeRun) -> None:
    ToolVersion.objects.update(is_pure=False, is_idempotent=True, state_reason=uuid.uuid4().hex)
    make_run(events_count=1)
    begun = begin_next("default")
    assert begun
    assert reap() == 1  # the worker was lost after the start
    run = finished(UNBEGUN)
    assert [one.side_effect for one in run.attempts.order_by("number")] == [POSSIBLE, NONE]
    assert (run.side_effect, run.attempt) == (POSSIBLE, 2)


def test_the_caller_reads_it(call: Callable[..., Any], fx: object) -> None:
    assert call("fx_echo", {"value": 1}).json()["metadata"]["side_effect"] == "none"
