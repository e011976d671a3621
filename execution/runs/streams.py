"""A run's events as a stream: long poll, and server-sent events (WHATWG HTML §9.2).

Who listens is looked at again before each event is told: a token that was revoked hears no more.
A stream holds a thread of its web process while it lasts, and no database connection while it
waits; waiters are bounded, and so are streams. It ends with the run's outcome, or after two
minutes: the client goes on from its last event's number.
"""

import time
from collections.abc import Callable, Iterator
from uuid import UUID

import orjson
from django.conf import settings

from execution.engine.brief import events_of
from execution.engine.events import Step, event_view
from execution.engine.states import FINAL
from execution.engine.waiters import WAITERS
from execution.models import Run, RunEvent

# A comment line so often keeps proxies from closing a silent stream, in seconds.
ALIVE_S = 15.0


def events_wait(run_id: UUID, seq: int, seconds: float) -> bool:
    """Waits for an event above `seq`, or for the outcome; false when too many wait already."""

    def ready(waiting: UUID) -> bool:
        newer = RunEvent.objects.filter(run_id=waiting, seq__gt=seq).exists()
        return newer or Run.objects.filter(pk=waiting, status__in=FINAL).exists()

    return WAITERS.wait(run_id, seconds, ready)


def event_stream(run_id: UUID, seq: int, may_hear: Callable[[], bool]) -> Iterator[bytes]:
    """The stream's bytes from the event after `seq` on; `id:` is the event's number, for Last-Event-ID.

    It ends where who asked may not hear it any more.
    """
    ends = time.monotonic() + settings.WAIT_MAX_S
    while time.monotonic() < ends and may_hear():
        run = Run.objects.select_related("tool_version").get(pk=run_id)
        for event in events_of(run, seq):
            seq = event.seq
            yield _message(event, run)
        if run.status in FINAL:
            return
        if not events_wait(run_id, seq, min(ALIVE_S, ends - time.monotonic())):
            return
        yield b": alive\n\n"


def _message(event: RunEvent | Step, run: Run) -> bytes:
    view = orjson.dumps(event_view(event, run))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), view)
