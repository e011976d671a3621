"""Threads that stay between two works."""

import decimal
import threading
from queue import SimpleQueue

from execution.runners.hands import hand_give


def worked(work: object) -> object:
    done: SimpleQueue[object] = SimpleQueue()
    hand_give(lambda: done.put(work()))  # type: ignore[operator]
    return done.get(timeout=10)


def test_what_one_work_sets_in_its_context_the_next_does_not_see() -> None:
    before = decimal.getcontext().prec

    def narrow() -> int:
        decimal.getcontext().prec = 3
        return decimal.getcontext().prec

    assert worked(narrow) == 3
    for _ in range(20):
        assert worked(lambda: decimal.getcontext().prec) == before


def test_works_at_the_same_time_have_threads_of_their_own() -> None:
    together = threading.Barrier(3)
    done: SimpleQueue[int] = SimpleQueue()

    def meet() -> None:
        together.wait(10)
        done.put(threading.get_ident())

    for _ in range(2):
        for _ in range(3):
            hand_give(meet)
        assert len({done.get(timeout=10) for _ in range(3)}) == 3
