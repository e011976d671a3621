"""A server that asks for a pause gets it, within bounds; and a short wait ends when it is over."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from execution.engine.begin import begin_next
from execution.engine.finish import run_finish
from execution.engine.outcomes import failure
from execution.features.retry.feature import RETRY_AFTER_MOST_MS
from execution.models import Attempt, Run, RunEvent, Status
from tests.execution.fixtures import Declare
from toolhub_sdk.runtimes.http.answers import retry_after_s

Call = Callable[..., Any]
NOW = datetime(2030, 1, 31, 9, 0, tzinfo=UTC)
LATER = {"HTTP_PREFER": "respond-async"}


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("Thu, 31 Jan 2030 09:01:30 GMT", 90),
        ("Thu, 31 Jan 2030 08:00:00 GMT", 0),
        ("9" * 30, 86_400),
        ("Thu, 31 Jan 2031 09:00:00 GMT", 86_400),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("Thu, 99 Foo 2030", None),
    ],
)
def test_a_pause_is_seconds_or_a_date(said: str, seconds: int | None) -> None:
    assert retry_after_s(said, NOW) == seconds


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked_s", "waits_ms", "capped"), [(2, 2_000, False), (10**6, RETRY_AFTER_MOST_MS, True)]
)
def test_the_next_attempt_waits_as_long_as_the_server_asks(
    call: Call, declare: Declare, asked_s: int, waits_ms: int, capped: bool
) -> None:
    declare("fx_echo", retry={"maxRetries": 2, "backoff": {"type": "none"}})
    call("fx_echo", {"value": 1}, **LATER)
    begun = begin_next("default")
    assert begun
    assert begun.lease
    details = {"retry_after_s": asked_s}
    run_finish(begun.lease, failure("RATE_LIMIT", "Too many.", at=NOW, details=details))
    run = Run.objects.get()
    assert run.status == Status.WAITING_RETRY
    assert Attempt.objects.get().delay_ms == waits_ms
    told = RunEvent.objects.get(kind="RETRY_WAITS").data
    assert (told["retry_after_ms"], told["capped"]) == (asked_s * 1000, capped)


@pytest.mark.django_db(transaction=True)
def test_a_short_wait_ends_without_a_steward(call: Call, declare: Declare) -> None:
    declare("fx_echo", retry={"maxRetries": 2, "backoff": {"type": "fixed", "delay": 50}})
    call("fx_echo", {"value": 1}, **LATER)
    begun = begin_next("default")
    assert begun
    assert begun.lease
    run_finish(begun.lease, failure("TIMEOUT", "Too long.", at=NOW))
    ends = time.monotonic() + 20
    while Run.objects.get().status == Status.WAITING_RETRY and time.monotonic() < ends:
        time.sleep(0.02)
    assert Run.objects.get().status == Status.PENDING
