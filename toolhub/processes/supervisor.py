"""Keeps the hub's processes going in the foreground until SIGINT, SIGTERM or SIGHUP."""

import http.client
import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable

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
        self.answered = threading.Event()
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
        threading.Thread(target=self._await_answer, args=(waker,), daemon=True).start()
        try:
            while not self._finished():
                self._start_due()
                self._wait(wake)
                self._collect()
        finally:
            for child in self.children:
                child.kill()
        return self.status

    def _finished(self) -> bool:
        return self.stops > 0 and all(child.process is None for child in self.children)

    def _start_due(self) -> None:
        for child in self.children:
            if not self.stops and child.process is None and time.monotonic() >= child.due:
                self.selector.register(child.start(), selectors.EVENT_READ, child)

    def _wait(self, wake: int) -> None:
        times = [child.due for child in self.children if child.process is None and not self.stops]
        times += [self.deadline] + ([] if self.ready else [self.slow])
        patience = max(0.0, min(times) - time.monotonic())
        for key, _ in self.selector.select(None if patience == float("inf") else patience):
            if key.fd == wake:
                told = sum(byte in STOP for byte in os.read(wake, 512))
                for _ in range(told):
                    self._stop()
            else:
                self._show(key.data)
        if self.answered.is_set() and not self.ready and not self.stops:
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
            if child.process is None or child.process.poll() is None:
                continue
            if child.process.stdout is not None:
                self.selector.unregister(child.process.stdout)
            self._show(child, rest=True)
            code = child.ended()
            if code is None or self.stops:
                continue
            if not self.ready and child.failures >= START_FAILURES:
                self._tell(
                    f"{child.program.name} {words(code)} {child.failures} times; giving up. See above."
                )
                self._stop(1)
                continue
            self._tell(f"{child.program.name} {words(code)}; starting it again in {child.delay:g} s.")
            child.back_off()

    def _await_answer(self, waker: int) -> None:
        """Asks /readyz until it answers 200; no proxy is used."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.plan.host, self.plan.host)  # noqa: S104
        pause = threading.Event()
        while not self.stops:
            connection = http.client.HTTPConnection(host, self.plan.port, timeout=5)
            try:
                connection.request("GET", "/readyz")
                if connection.getresponse().status == http.client.OK:
                    self.answered.set()
                    os.write(waker, b"\0")
                    return
            except (OSError, http.client.HTTPException):
                pause.wait(0.05)
            finally:
                connection.close()
            pause.wait(0.1)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
