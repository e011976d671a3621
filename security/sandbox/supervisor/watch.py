"""The watch over a started tool: its pipes, its time and its bounds, until nothing of it is left."""

import os
import select
import time

from security.sandbox.supervisor.channel import BEGUN, CANCEL, GO, GO_HEAD, MARK, OUTPUT, PRINTED, Channel
from security.sandbox.supervisor.collect import collect
from security.sandbox.supervisor.order import Order, read_whole
from security.sandbox.supervisor.start import Tool
from security.sandbox.supervisor.sweep import tell
from security.sandbox.supervisor.usage import Usage

# So often the bounds are looked at, in seconds; the first time sooner, for tools that are quick.
LOOK_S, FIRST_S = 0.05, 0.02
# Sooner again where memory grows quickly; but what a look takes passes before the next, so that the pipes and
# the clock are served however much there is to be looked at.
SOON_S = 0.01
# The same while the program waits for its input, and how long and with how much processor time it may.
PARKED_LOOK_S, PARKED_S, PARKED_CPU_MS = 0.25, 300.0, 10_000
# How long a tool may take to end by itself, in seconds: when it is cancelled, when its time is over, and when
# it waited for nothing.
GRACE = {"cancelled": 1.0, "timeout": 0.5, "goodbye": 1.5}
# A log that grows beyond this is a flood.
LOG_MOST = 64 << 20
_BLOCK = 1 << 16


class Watch:
    """One tool's watch. `how` is why it was ended, None while it runs or when it ended by itself.

    A program is started before its input is there. Until then it is `parked`: its bounds hold, its time does
    not run, and what becomes of it is no outcome. A program that marks its beginning (order.py) is then
    `starting` until the mark comes: the start has a time of its own, and the tool's runs from the mark.
    """

    def __init__(self, order: Order, tool: Tool, channel: Channel) -> None:
        self._order, self._tool, self._channel = order, tool, channel
        self._usage = Usage(tool, order.limits)
        # What is still to be written, by descriptor.
        self._given: dict[int, memoryview] = {}
        self._files: list[tuple[str, bytes]] = []
        self.report: dict[str, object] = {}
        self._parked, self._leaving, self._starting = True, False, False
        # The seconds that the tool may take.
        self._seconds = 0.0
        self._log, self._fresh = bytearray(), bytearray()
        self._output = self._logged = 0
        self._open = {tool.stdout, tool.stderr}
        self._asked: str | None = None
        self._how: str | None = None
        self._began = time.monotonic()
        self._ends = self._began + PARKED_S
        self._look = self._began + FIRST_S
        self._poll = select.poll()
        for descriptor in (tool.stdout, tool.stderr):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._poll.register(tool.pidfd, select.POLLIN)
        self._poll.register(channel.given, select.POLLIN)

    def run(self) -> None:
        """Watches to the end, and tells the worker of it."""
        report, log = self._watch()
        self._channel.end(report, log, self._files)
        self.report = report

    def _watch(self) -> tuple[dict[str, object], bytes]:
        while self._how is None:
            now = time.monotonic()
            # A supervisor that the machine held up looks late: what has ended by itself had ended in time.
            if now >= self._ends and not self._is_over():
                self._time_over(now)
                continue
            if now >= self._look:
                self._look_now(now)
                continue
            if self._channel.waits:
                self._poll.register(self._channel.taken, select.POLLOUT)
            left_ms = max(0.0, min(self._look, self._ends) - now) * 1000
            ready = {descriptor for descriptor, _ in self._poll.poll(left_ms)}
            if self._channel.waits:
                self._poll.unregister(self._channel.taken)
                self._channel.flush()
            over = self._tool.pidfd in ready
            if not (over and self._parked):  # one that ended before its input is not given any
                self._serve(ready)
            if over:
                break
        return self._end()

    def _is_over(self) -> bool:
        return bool(select.select([self._tool.pidfd], [], [], 0)[0])

    def _look_now(self, began: float) -> None:
        self._how = self._usage.look()
        self._show()
        if (self._parked or self._starting) and self._usage.cpu_ms > PARKED_CPU_MS:
            self._how = "cpu"
        usual = PARKED_LOOK_S if self._parked else SOON_S if self._usage.is_growing else LOOK_S
        now = time.monotonic()
        self._look = max(began + usual, now + (now - began))

    def _time_over(self, now: float) -> None:
        """The first time the tool is asked to stop; the second time it is over."""
        if self._parked:
            self._part(now)
        elif self._starting and self._asked is None:
            # A supervisor that the machine held up looks late: the mark may be there.
            self._mark_look()
            if self._starting:
                self._how = "start"
        elif self._asked is None:
            self._ask("timeout", now)
        else:
            self._how = self._asked

    def _part(self, now: float) -> None:
        """Nobody wants an outcome any more. A program that waits may hear of it, as the end of its input."""
        if not (self._order.goodbye and self._parked) or self._leaving:
            self._how = "killed"
            return
        self._leaving = True
        self._ends = now + GRACE["goodbye"]
        self._tool.stdin_close()

    def _ask(self, why: str, now: float) -> None:
        self._asked = why
        self._ends = now + GRACE[why]
        tell(self._tool.told)

    def _serve(self, ready: set[int]) -> None:
        tool = self._tool
        for descriptor in self._given.keys() & ready:
            self._feed(descriptor)
        if tool.stdout in self._open & ready:
            self._take_output()
        if tool.stderr in self._open & ready:
            self._take_log()
        if self._channel.given in ready:
            self._hear()

    def _hear(self) -> None:
        word = os.read(self._channel.given, 1)
        if not word:  # the worker is gone, and with it whoever could use an outcome
            self._poll.unregister(self._channel.given)
            self._part(time.monotonic())
        elif word == GO:
            self._go()
        elif word == CANCEL and self._asked is None and not self._parked:
            # Before a call's own GO it is the call before that somebody still wanted to stop.
            self._ask("cancelled", time.monotonic())

    def _go(self) -> None:
        """The input is there: now the start or the tool has its time. A program that has ended gets none."""
        seconds, start_s, *lengths = GO_HEAD.unpack(read_whole(self._channel.given, GO_HEAD.size))
        given, secrets = (read_whole(self._channel.given, length) for length in lengths)
        if self._leaving or select.select([self._tool.told], [], [], 0)[0]:
            return  # what holds the program ends next
        self._parked = False
        self._seconds = seconds
        if self._order.marks:
            self._starting = True
            now = time.monotonic()
            self._ends, self._look = now + start_s, now + FIRST_S
        else:
            self._begin()
        self._give(self._tool.stdin, given)
        if self._tool.secrets >= 0:
            self._give(self._tool.secrets, secrets)

    def _begin(self) -> None:
        """The tool's code begins: from now on its time runs, and what it uses counts."""
        self._starting = False
        self._channel.send(BEGUN, b"")
        self._usage.begin()
        self._began = time.monotonic()
        self._look = self._began + FIRST_S
        if self._asked is None:
            self._ends = self._began + self._seconds

    def _mark_look(self) -> None:
        if self._starting and self._tool.stdout in self._open:
            self._take_output()

    def _give(self, descriptor: int, content: bytes) -> None:
        """Writes it as the program takes it: a pipe may be smaller than usual, and no tool is waited for."""
        os.set_blocking(descriptor, False)
        self._poll.register(descriptor, select.POLLOUT)
        self._given[descriptor] = memoryview(content)
        self._feed(descriptor)

    def _feed(self, descriptor: int) -> None:
        content = self._given[descriptor]
        try:
            written = os.write(descriptor, content[:_BLOCK]) if content else 0
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program closed its end: it wants no more
            written = len(content)
        self._given[descriptor] = content[written:]
        if written == len(content):
            del self._given[descriptor]
            self._poll.unregister(descriptor)
            self._tool.given(descriptor)

    def _take_output(self) -> None:
        block = self._read(self._tool.stdout)
        if self._starting and not self._output and block.startswith(MARK):
            block = block[len(MARK) :]
            self._begin()
        self._output += len(block)
        if self._output > self._order.limits["output_bytes"]:
            self._how = "output"
        elif block:
            self._channel.send(OUTPUT, block)

    def _take_log(self) -> None:
        block = self._read(self._tool.stderr)
        self._fresh += block[: max(0, int(self._order.limits["log_bytes"]) - self._logged)]
        self._logged += len(block)
        self._log += block
        if len(self._log) > 2 * self._order.limits["log_bytes"]:
            del self._log[: -int(self._order.limits["log_bytes"])]
        if self._logged > LOG_MOST:
            self._how = "output"

    def _show(self) -> None:
        """Tells what was printed since the last look: as much of the beginning as is kept of the end."""
        if self._fresh and not self._parked:
            self._channel.send(PRINTED, bytes(self._fresh))
            self._fresh.clear()

    def _read(self, descriptor: int) -> bytes:
        try:
            block = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            return b""
        if not block:
            self._open.discard(descriptor)
            self._poll.unregister(descriptor)
        return block

    def _end(self) -> tuple[dict[str, object], bytes]:
        ended = self._how is None
        self._mark_look()
        took_ms = 0.0 if self._starting else (time.monotonic() - self._began) * 1000
        over = None if self._how else self._usage.look_disk([])
        code = self._tool.end()
        while self._how is None and self._open:
            self._serve(set(self._open))
        over = self._usage.end() or over
        cgroup = self._tool.group_remove()
        how = self._how or over or ("timeout" if self._asked == "timeout" else "exited")
        report: dict[str, object] = {
            "how": how,
            "exit_code": code if ended else None,
            "duration_ms": round(took_ms, 3),
            "cpu_ms": round(self._usage.cpu_ms, 3),
            "max_memory_bytes": self._usage.memory,
            "disk_bytes": self._usage.disk,
            "cgroup": cgroup,
            "asked": self._asked is not None,
            "parked": self._parked,
            "begun": not self._parked and not self._starting,
            "logged": self._logged,
        }
        if self._usage.group:
            report["cgroup_bytes"] = self._usage.group
        if how == "exited" and not self._parked and self._tool.work >= 0:
            limits = self._order.limits
            most, count = int(limits["artefact_bytes"]), int(limits["artefacts"])
            self._files, report["skipped"] = collect(self._tool.work, most, count)
        return report, bytes(self._log[-int(self._order.limits["log_bytes"]) :])
