"""Work of this process, done in a thread that can be left behind when its time is up or it is cancelled."""

import contextlib
import contextvars
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from queue import Empty, SimpleQueue

from django.db import DatabaseError, connections

from execution.engine.call import Call, dropped
from execution.engine.outcomes import Outcome, failure
from execution.models import Status
from execution.runners.causes import failed_error
from execution.runners.hands import hand_give
from execution.runners.judging import cancelled_error, ended, timeout_error
from execution.side_effects import SideEffect
from security.redaction import hiding

log = logging.getLogger(__name__)
# A tool that was told to stop gets this long before the run ends without it.
GRACE_S = 1.0
# So often it is looked whether a run was cancelled, in seconds.
LOOK_S = 0.05

Work = Callable[[Call], Outcome]


def run_apart(call: Call, work: Work) -> Outcome:
    """The outcome of the work, or that of being stopped. What it raises is a failure of the tool."""
    call.begin()
    done: SimpleQueue[Outcome] = SimpleQueue()
    started_at = datetime.now(UTC)
    hand_give(lambda: _work_apart(call, work, done))
    for left in _until(call.deadline, call.cancelled):
        with contextlib.suppress(Empty):
            return done.get(timeout=min(LOOK_S, left))
        call.log.look()
    timed_out = not call.cancelled.is_set()
    call.cancelled.set()
    effect = SideEffect.POSSIBLE
    with contextlib.suppress(Empty):
        outcome = done.get(timeout=GRACE_S)
        if not timed_out:
            return outcome
        # Its result is late; how far its effect went is known all the same.
        effect = outcome.side_effect or effect
    return _stopped(call, started_at, effect, timed_out=timed_out)


def run_here(call: Call, work: Work) -> Outcome:
    """The same in the caller's own thread, for work that waits for nothing: it is not stopped."""
    call.begin()
    return contextvars.Context().run(_outcome, call, work)


def _work_apart(call: Call, work: Work, done: SimpleQueue[Outcome]) -> None:
    done.put(_outcome(call, work))
    if call.emit is not dropped:
        try:
            connections.close_all()  # parts that were emitted opened one of this thread's own
        except DatabaseError:
            log.warning("a connection of %s did not close", call.tool)


def _outcome(call: Call, work: Work) -> Outcome:
    with hiding(call.redactor):
        try:
            return work(call)
        except BaseException as error:
            log.exception("%s failed", call.tool)
            message = failed_error(call, type(error).__name__)["message"]
            effect = SideEffect.POSSIBLE
            return failure("EXECUTION_FAILED", message, at=datetime.now(UTC), side_effect=effect)


def _until(deadline: float, cancelled: threading.Event) -> Iterator[float]:
    """Seconds left, again and again, until none are or somebody cancels."""
    while (left := deadline - time.monotonic()) > 0 and not cancelled.is_set():
        yield left


def _stopped(call: Call, started_at: datetime, effect: SideEffect, *, timed_out: bool) -> Outcome:
    status, error = (
        (Status.TIMEOUT, timeout_error(call)) if timed_out else (Status.CANCELLED, cancelled_error())
    )
    spent = (datetime.now(UTC) - started_at).total_seconds() * 1000
    return ended(status, error, started_at=started_at, duration_ms=spent, side_effect=effect)
