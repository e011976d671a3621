"""What a tool logs by `ctx.log`, as events of its run: the first entries while it works, the last at its end.

Secrets are taken out before a text is cut. What lies between both is left out, and counted.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from execution.engine.call import Call, untold
from execution.run_events import LOGGED
from execution.runners.machine_paths import told
from toolhub_sdk.context import CLIP, LEVELS

log = logging.getLogger("toolhub_sdk.tool")
# Characters that are kept while it works, in events this many seconds apart; and so many at the end.
BEGIN_MOST, EVERY_S, END_MOST = 32 * 1024, 0.5, 16 * 1024
MESSAGE_MOST, FIELD_MOST, NAME_MOST, FIELDS_MOST = 2000, 1000, 100, 20
# What an entry takes beside its texts.
_ENTRY = 60


class Logged:
    """Keeps the entries of one attempt, from whatever thread they come."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._lock = threading.Lock()
        self._waits: list[dict[str, Any]] = []
        self._last: deque[tuple[int, dict[str, Any]]] = deque()
        self._begun = self._ended = self._left_out = 0
        self._over = False
        self._next = time.monotonic() + EVERY_S

    def add(self, message: Any, fields: Any, level: Any) -> None:
        """An entry, in whatever form the tool says it."""
        known = str(level) if str(level) in LEVELS else "info"
        entry: dict[str, Any] = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "level": known,
            "message": self._kept(message, MESSAGE_MOST),
            "fields": self._fields(fields),
        }
        if self._keep(entry):
            texts = (self._call.tool, self._call.run_id, entry["message"], entry["fields"])
            log.log(LEVELS[known], "%s %s %r %r", *texts)

    def look(self) -> None:
        """Tells what there is, if it is time and somebody hears it."""
        if time.monotonic() < self._next or self._call.tell is untold:
            return
        with self._lock:
            waits, self._waits = self._waits, []
        if waits:
            self._call.tell(LOGGED, self._event(waits))
        self._next = time.monotonic() + EVERY_S

    def rest(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The events that are told with the outcome. What is logged later comes too late."""
        with self._lock:
            self._over = True
            told = [self._event(self._waits)] if self._waits else []
            if self._last:
                told.append(self._event([entry for _, entry in self._last], self._left_out))
        return [(LOGGED, data) for data in told]

    def _keep(self, entry: dict[str, Any]) -> bool:
        """Whether it is one of the first: no flood of them goes to the hub's own log."""
        size = _ENTRY + len(entry["message"]) + sum(map(len, (*entry["fields"], *entry["fields"].values())))
        with self._lock:
            if self._over:
                return False
            if not self._last and self._begun + size <= BEGIN_MOST:
                self._begun += size
                self._waits.append(entry)
                return True
            self._last.append((size, entry))
            self._ended += size
            while self._ended > END_MOST and len(self._last) > 1:
                self._ended -= self._last.popleft()[0]
                self._left_out += 1
            return False

    def _fields(self, fields: Any) -> dict[str, str]:
        given = list(fields.items())[:FIELDS_MOST] if isinstance(fields, Mapping) else []
        return {self._kept(name, NAME_MOST): self._kept(value, FIELD_MOST) for name, value in given}

    def _kept(self, said: Any, most: int) -> str:
        text = str(said).encode(errors="replace").decode()
        kept: str = told(self._call, text)
        if self._call.redactor and len(text) >= CLIP:
            # The tool's side cut it: half of a secret may stand at its end.
            kept = kept[: -self._call.redactor.bytes_most]
        return kept if len(kept) <= most else kept[:most] + "…"

    def _event(self, entries: list[dict[str, Any]], left_out: int = 0) -> dict[str, Any]:
        more = {"left_out": left_out} if left_out else {}
        return {"attempt": self._call.attempt, "entries": entries, **more}
