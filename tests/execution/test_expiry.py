"""Payloads of old runs are removed; states, hashes and audit stay, and everything says so."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from audit.models import Event
from execution.engine import expiry
from execution.engine.expiry import payloads_expire
from execution.engine.selectors import first_id_at
from execution.models import Run, RunEvent, Status
from execution.run_events import PROGRESS
from execution.steward import duties, duty_perform

pytestmark = pytest.mark.django_db
Post = Callable[..., Any]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
KEPT = ("status", "error", "warnings", "resources", "duration_ms", "completed_at", "created_at")


@pytest.fixture
def old_run(make_run: Callable[..., Run]) -> Callable[..., Run]:
    """A run that was made, and ended, so many days before NOW."""

    def make(days: float, status: Status = Status.COMPLETED, *, lasted: float = 0, **columns: Any) -> Run:
        made = NOW - timedelta(days=days + lasted)
        run_id = UUID(int=first_id_at(made).int | secrets.randbits(62) | 0x7 << 76 | 0x8 << 60)
        ended = made + timedelta(days=lasted)
        result = {"secret": 1} if status is Status.COMPLETED else None
        own = {"result": result, "request": {"hints": {"a": 1}}, "salt": b"s" * 16, "completed_at": ended}
        return make_run(status=status, id=run_id, created_at=made, **{**own, **columns})

    return make


def test_an_old_payload_goes_and_the_rest_stays(old_run: Callable[..., Run]) -> None:
    run = old_run(91, result_hash=b"h" * 32, arguments_hash=b"a" * 32, outcome_leaf=b"l" * 32)
    before = Run.objects.get(pk=run.pk)
    RunEvent.objects.create(run=run, seq=1, kind=PROGRESS, at=NOW, data={"attempt": 1, "partial": "secret"})
    assert payloads_expire(NOW - timedelta(days=90)) == 1
    after = Run.objects.get(pk=run.pk)
    assert (after.arguments, after.request, after.result, bytes(after.salt)) == ({}, {}, None, b"")
    assert after.payload_expired_at is not None
    assert [getattr(after, name) for name in KEPT] == [getattr(before, name) for name in KEPT]
    hashes = [bytes(getattr(after, name)) for name in ("arguments_hash", "result_hash", "outcome_leaf")]
    assert hashes == [b"a" * 32, b"h" * 32, b"l" * 32]
    assert run.events.get().data == {"expired": True}
    event = Event.objects.get(kind="run.payloads_expired")
    assert '"runs":1' in event.canonical


def test_only_what_ended_long_ago_goes(old_run: Callable[..., Run]) -> None:
    young = old_run(89)
    late = old_run(10, lasted=100)
    unknown = old_run(200, Status.OUTCOME_UNKNOWN, completed_at=None)
    failed = old_run(200, Status.FAILED, error={"code": "X"})
    assert payloads_expire(NOW - timedelta(days=90)) == 1
    expired = Run.objects.exclude(payload_expired_at=None)
    assert [run.pk for run in expired] == [failed.pk]
    assert {young.pk, late.pk, unknown.pk}.isdisjoint({run.pk for run in expired})


def test_it_is_the_same_twice_and_in_many_batches(
    old_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "BATCH", 2)
    for days in range(100, 105):
        old_run(days)
    assert payloads_expire(NOW - timedelta(days=90)) == 5
    first = set(Run.objects.values_list("pk", "payload_expired_at"))
    assert payloads_expire(NOW - timedelta(days=90)) == 0
    assert set(Run.objects.values_list("pk", "payload_expired_at")) == first
    assert Event.objects.filter(kind="run.payloads_expired").count() == 3


def test_the_steward_does_it_in_small_parts(
    old_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "BATCH", 2)
    duty = next(duty for duty in duties() if duty.name == "payloads")
    gone = (NOW - timezone.now()).days
    for days in (91, 92, 93):
        old_run(gone + days)
    assert [duty_perform(duty) for _ in range(3)] == [2, 1, 0]


def test_the_command_takes_its_days_from_the_setting_and_never_less_than_one(
    old_run: Callable[..., Run], make_run: Callable[..., Run]
) -> None:
    old_run((NOW - timezone.now()).days + 91)
    make_run(status=Status.COMPLETED, result=1, completed_at=timezone.now() - timedelta(hours=23))
    out = StringIO()
    call_command("runs_expire", stdout=out)
    call_command("runs_expire", "--days", "0", stdout=out)
    assert out.getvalue() == "1 payloads removed.\n0 payloads removed.\n"


def test_readers_are_told_that_it_expired(
    post: Post, client: Client, token_text: str, old_run: Callable[..., Run]
) -> None:
    run = old_run(91)
    RunEvent.objects.create(run=run, seq=1, kind="TOOL_CALL_REQUESTED", at=NOW)
    RunEvent.objects.create(run=run, seq=2, kind="TOOL_CALL_COMPLETED", at=NOW)
    payloads_expire(NOW)
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    body = client.get(f"/api/v1/runs/{run.pk}", **headers).json()  # type: ignore[arg-type]
    assert (body["success"], body["data"]) == (True, None)
    assert body["metadata"]["payload_expired_at"] is not None
    events = client.get(f"/api/v1/runs/{run.pk}/events", **headers).json()["events"]  # type: ignore[arg-type]
    assert events[0]["data"] == {"toolName": "fx_echo", "expired": True}
    assert events[1]["data"] == {"toolName": "fx_echo", "expired": True, "durationMs": None}
    for act in ("retry", "replay"):
        answer = post(run.pk, act)
        assert (answer.status_code, answer.json()["error"]["code"]) == (410, "PAYLOAD_EXPIRED")
    assert post(run.pk, "cleanup").status_code == 200
