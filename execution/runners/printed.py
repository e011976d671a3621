"""What a tool prints, as events of its run: its beginning while the tool works, its end with the outcome.

Whole lines are told, without what must not be: no text is cut within a secret. What lies between the
beginning and the end is left out, and counted.
"""

import time
from collections.abc import Mapping
from typing import Any

from execution.engine.call import Call
from execution.run_events import PRINTED
from execution.runners.machine_paths import told
from security.redaction import Redactor
from security.sandbox.launch import Finished

# At most so many bytes are told while it works, in events this many seconds apart; and so many at the end.
BEGIN_MOST, EVERY_S, END_MOST = 32 * 1024, 0.5, 16 * 1024
_TRIES = 20


class Printed:
    """Hears one attempt (security/sandbox/run.py: Listener).

    A program's standard output is told while it runs; at the end only where it came to no result.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._waits: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._sent = dict.fromkeys(self._waits, 0)
        self._next = time.monotonic() + EVERY_S

    def output(self, content: bytes) -> None:
        """More of standard output."""
        self._take("stdout", content)

    def log(self, content: bytes) -> None:
        """More of standard error."""
        self._take("stderr", content)

    def look(self) -> None:
        """Tells what there is, if it is time."""
        self._call.log.look()
        if time.monotonic() < self._next:
            return
        for stream, waits in self._waits.items():
            if (end := cut_before(bytes(waits), self._call.redactor)) > 0:
                self._call.tell(PRINTED, self._event(stream, bytes(waits[:end])))
                self._sent[stream] += end
                del waits[:end]
        self._next = time.monotonic() + EVERY_S

    def rest(self, done: Finished, completed: bool) -> list[Mapping[str, Any]]:
        """The events that are told with the outcome."""
        ends = {"stdout": (b"", 0)} if completed else {"stdout": (done.stdout, len(done.stdout))}
        ends["stderr"] = (done.log, max(done.logged, len(done.log)))
        events: list[Mapping[str, Any]] = []
        for stream, (text, total) in ends.items():
            left = total - self._sent[stream]
            if left > 0:
                kept = self._end(text, left)
                events.append(self._event(stream, kept, left - len(kept)))
        return events

    def _take(self, stream: str, content: bytes) -> None:
        waits = self._waits[stream]
        room = BEGIN_MOST - sum(self._sent.values()) - sum(map(len, self._waits.values()))
        waits += content[: max(0, room)]

    def _end(self, text: bytes, left: int) -> bytes:
        """What is told of the last `left` bytes, of which `text` is the end."""
        redactor = self._call.redactor
        # Where its beginning is not known, half of a secret may stand there.
        least = redactor.bytes_most if redactor and left > len(text) else 0
        text = text[-left:]
        begin = max(len(text) - END_MOST, least)
        if begin == 0 and left == len(text):
            return text
        return text[cut_after(text, begin, redactor) :]

    def _event(self, stream: str, text: bytes, left_out: int = 0) -> dict[str, Any]:
        shown = told(self._call, text.decode(errors="replace"))
        more = {"left_out": left_out} if left_out else {}
        return {"attempt": self._call.attempt, "stream": stream, "text": shown, **more}


def cut_before(text: bytes, redactor: Redactor | None) -> int:
    """Behind the last line after which a text may be cut; 0 where there is none."""
    end = len(text) - (redactor.lines_most if redactor else 0)
    for _ in range(_TRIES):
        end = text.rfind(b"\n", 0, max(0, end))
        if end < 0:
            return 0
        if _is_clean(text, end + 1, redactor):
            return end + 1
    return 0


def cut_after(text: bytes, begin: int, redactor: Redactor | None) -> int:
    """Behind the first line from `begin` on after which a text may be cut; its length where there is none."""
    for _ in range(_TRIES):
        begin = text.find(b"\n", begin) + 1
        if begin == 0:
            return len(text)
        if _is_clean(text, begin, redactor):
            return begin
    return len(text)


def _is_clean(text: bytes, at: int, redactor: Redactor | None) -> bool:
    """Whether nothing that must not be told lies across that place."""
    if redactor is None:
        return True
    parts = [redactor.text(each.decode(errors="replace")) for each in (text[:at], text[at:])]
    return redactor.text(text.decode(errors="replace")) == "".join(parts)
