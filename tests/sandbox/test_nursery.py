"""A nursery that dies or hangs while it is asked for a supervisor costs a call no more than its time."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from core.errors import ToolHubError
from security.sandbox import nursery, warm
from security.sandbox.launch import Launch
from security.sandbox.levels import Level
from security.sandbox.supervisor.nursery import STARTED

pytestmark = pytest.mark.sandbox
Sleeper = subprocess.Popen[bytes]


@pytest.fixture
def stand_in() -> Iterator[Callable[[Callable[[list[int]], None]], Sleeper]]:
    """`stand_in(answer)` puts one in a nursery's place that gives the descriptors of each request to `answer`."""
    kept = nursery._nursery[:]
    nursery._nursery.clear()
    doors: list[socket.socket] = []

    def do(answer: Callable[[list[int]], None]) -> Sleeper:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        doors.append(theirs)
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        nursery._nursery.append((ours, process))

        def serve() -> None:
            while given := socket.recv_fds(theirs, 1, 4)[1]:
                answer(given)

        threading.Thread(target=serve, daemon=True).start()
        return process

    yield do
    while nursery._nursery:
        nursery._end()
    for each in doors:
        each.close()
    nursery._nursery[:] = kept


def test_a_supervisor_that_dies_before_it_answers_is_replaced(stand_in: Callable[..., Sleeper]) -> None:
    asked = []

    def answer(given: list[int]) -> None:
        asked.append(given)
        if len(asked) == 2:
            os.write(given[0], STARTED.pack(os.getpid()))
        for each in given:
            os.close(each)

    stand_in(answer)
    nursery.Supervisor(b"an order").close(over=True)
    assert len(asked) == 2


def test_one_that_is_over_before_it_is_looked_at_has_said_what_it_said(
    stand_in: Callable[..., Sleeper],
) -> None:
    """Its program may end without its input; it is neither replaced nor lost."""
    asked = []
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    def answer(given: list[int]) -> None:
        asked.append(given)
        os.write(given[2], b"a report")
        os.write(given[0], STARTED.pack(gone.pid))
        for each in given:
            os.close(each)

    process = stand_in(answer)
    made = nursery.Supervisor(b"an order")
    assert not made.is_alive
    assert os.read(made.out, 100) == b"a report"
    made.close()
    assert len(asked) == 1
    assert process.poll() is None, "the nursery is well"


def test_one_that_hangs_is_waited_for_only_so_long_and_ended(
    stand_in: Callable[..., Sleeper], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its order goes to another, of a new nursery; and where that hangs, too, nothing was run."""
    monkeypatch.setattr(nursery, "ANSWER_S", 2.0)
    kept: list[list[int]] = []
    process = stand_in(kept.append)
    nursery.Supervisor(b"an order").close()
    assert process.poll() is not None
    assert len(kept) == 1
    with pytest.raises(BrokenPipeError):
        os.write(kept[0][0], STARTED.pack(os.getpid()))
    monkeypatch.setattr(nursery, "ANSWER_S", 0.1)
    nursery._end()
    stand_in(kept.append)
    open_ = nursery._open
    monkeypatch.setattr(nursery, "_open", lambda: stand_in(kept.append) and nursery._nursery[-1][0])
    with pytest.raises(ToolHubError) as refused:
        nursery.Supervisor(b"an order")
    assert (refused.value.code, refused.value.retryable) == ("START_FAILED", True)
    assert len(kept) == 3
    monkeypatch.setattr(nursery, "_open", open_)
    for each in (one for given in kept for one in given):
        os.close(each)


def test_what_cannot_be_started_for_the_next_call_changes_nothing_of_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise ToolHubError("No supervisor could be started.", code="SANDBOX_UNAVAILABLE")

    monkeypatch.setattr(warm, "_next", full)
    launch = Launch(argv=["/bin/echo", "done"], level=Level.ISOLATED)
    assert warm.warm_run(launch, threading.Event()).stdout == b"done\n"
