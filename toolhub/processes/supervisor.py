"""Keeps the hub's processes going in the foreground until SIGINT, SIGTERM or SIGHUP."""

import os
import selectors
import signal
import sys
import time
from collections.abc import Callable

from toolhub.processes.answer import Answer
from toolhub.processes.child import Child, words
from toolhub.processes.plan import Plan

STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# So often may a process end before the hub has ever answered.
START_FAILURES = 4
SLOW_START_S = 60.0


class Supervisor:
    """Runs one plan. `say` writes one line for people."""

    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        self.plan, self.say = plan, say
        self.children = [Child(program, plan) for program in plan.programs]
        self.width = max(len(program.name) for program in plan.programs)
        self.selector = selectors.DefaultSelector()
        self.stops = 0
        self.status = 0
        self.answer = Answer(plan.host, plan.port)
        self.ready = False
        self.deadline = float("inf")
        self.slow = time.monotonic() + SLOW_START_S

    def run(self) -> int:
        """Until told to stop; gives the exit status."""
        wake, waker = os.pipe()
        for end in (wake, waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in (*STOP, signal.SIGCHLD):
            signal.signal(number, lambda _number, _frame: None)
        self.selector.register(wake, selectors.EVENT_READ)
        try:
            while not self._finished():
                self._start_due()
                self._wait(wake)
                self._collect()
        finally:
            self.answer.give_up()
            for child in self.children:
                child.kill()
        return self.status

    def _finished(self) -> bool:
        return self.stops > 0 and all(child.pid is None for child in self.children)

    def _start_due(self) -> None:
        for child in self.children:
            if not self.stops and child.pid is None and time.monotonic() >= child.due:
                child.start()
                self.selector.register(child.output, selectors.EVENT_READ, child)
        self.answer.await_once()

    def _wait(self, wake: int) -> None:
        times = [child.due for child in self.children if child.pid is None and not self.stops]
        times += [self.deadline] + ([] if self.ready else [self.slow])
        patience = max(0.0, min(times) - time.monotonic())
        for key, _ in self.selector.select(None if patience == float("inf") else patience):
            if key.fd == wake:
                told = sum(byte in STOP for byte in os.read(wake, 512))
                for _ in range(told):
                    self._stop()
            else:
                self._show(key.data)
        if not self.ready and not self.stops and self.answer.has_come():
            self.ready = True
            self._tell(self.plan.banner)
        if not self.ready and not self.stops and time.monotonic() >= self.slow:
            self._tell("The hub does not answer yet; the lines above may say why. Ctrl-C stops it.")
            self.slow = float("inf")
        if time.monotonic() >= self.deadline:
            self.deadline = float("inf")
            for child in self.children:
                child.kill()

    def _show(self, child: Child, *, rest: bool = False) -> None:
        for line in child.read(rest=rest):
            self._tell(f"{child.program.name:<{self.width}} | {line}")

    def _tell(self, text: str) -> None:
        """A terminal that is gone is a reason to stop, not to fall over."""
        try:
            self.say(text)
        except OSError:
            self.say = lambda _text: None
            self._stop()

    def _stop(self, status: int = 0) -> None:
        self.stops += 1
        if self.stops > 2:
            return
        if self.stops == 1:
            self.status = status
            self.deadline = time.monotonic() + self.plan.grace_s + 5
            self._tell("Stopping; Ctrl-C again stops at once.")
            if not self.ready and self.plan.account:
                self._tell(self.plan.account)
        for child in self.children:
            child.ask_to_stop()

    def _collect(self) -> None:
        """What has ended is told, and will be started again."""
        for child in self.children:
            if child.pid is None or child.is_running():
                continue
            self.selector.unregister(child.output)
            self._show(child, rest=True)
            code = child.ended()
            if self.stops:
                continue
            if not self.ready and child.failures >= START_FAILURES:
                self._tell(
                    f"{child.program.name} {words(code)} {child.failures} times; giving up. See above."
                )
                self._stop(1)
                continue
            self._tell(f"{child.program.name} {words(code)}; starting it again in {child.delay:g} s.")
            child.back_off()


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
