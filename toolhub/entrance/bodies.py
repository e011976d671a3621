"""Bodies on their way: read part by part without a thread, bounded in time, number, size and disk."""

import functools
import threading
import time
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from typing import IO

from core.errors import InvalidRequest, Overloaded, ToolHubError
from core.parsers import too_large
from toolhub.entrance import limits
from toolhub.entrance.granian import Chunk, Exchange
from toolhub.entrance.spool import Spool

LOOK_S = 0.5
Done = Callable[[IO[bytes], int], None]
Refuse = Callable[[ToolHubError], None]
Senders = Callable[[], tuple[str, ...]]


class Body:
    """One body. Either `done` gets it whole with its length, or `refuse` gets the reason why not.

    `length` is its Content-Length, None for a body in chunks; `most` bounds it. `senders` gives whom it
    counts for.
    """

    __slots__ = (
        *("_all", "_begun", "_chunk", "_done", "_exchange", "_length", "_most", "_received", "_refuse"),
        *("_spool", "senders"),
    )

    def __init__(
        self, exchange: Exchange, length: int | None, most: int, senders: Senders, done: Done, refuse: Refuse
    ) -> None:
        self._exchange, self._length, self._most = exchange, length, most
        self.senders, self._done, self._refuse = functools.cache(senders), done, refuse
        self._received = 0
        self._spool: Spool | None = None

    def read(self, everybody: set["Body"]) -> None:
        """Begin to read it; `everybody` are all bodies on their way."""
        self._all = everybody
        everybody.add(self)
        self._begun = time.monotonic()
        self._exchange.__aiter__()
        self._next()

    def look(self, now: float) -> None:
        """Give it up if it is too slow. Any thread may ask."""
        over = now - self._begun - limits.GRACE_S
        if over > 0 and self._received < over * limits.RATE:
            self._chunk.cancel()

    def _next(self) -> None:
        self._chunk = self._exchange.__anext__()
        self._chunk.add_done_callback(self._came)

    def _came(self, chunk: Chunk) -> None:
        try:
            part = b"" if chunk.cancelled() else chunk.result()
            if part and self._received + len(part) == self._length and self._spool is None:
                # Nearly every body comes in one piece.
                self._received += len(part)
                self._end(BytesIO(part))
            elif part:
                self._take(part)
            elif chunk.cancelled():
                raise self._slow()
            else:
                self._close()
        except ToolHubError as error:
            self._all.discard(self)
            if self._spool is not None:
                self._spool.close()
            self._refuse(error)

    def _take(self, part: bytes) -> None:
        self._received += len(part)
        if self._received > self._most:
            raise too_large(self._most)
        if self._spool is None:
            self._spool = Spool()
        self._spool.write(part)
        if self._received == self._length:
            self._end(self._spool)
        else:
            self._next()

    def _close(self) -> None:
        """The last part was empty: the body has ended, or its connection broke."""
        try:
            self._exchange.__anext__().cancel()
            is_whole = False
        except StopAsyncIteration:
            is_whole = self._length in (None, self._received)
        if not is_whole:
            raise InvalidRequest(f"The body ended after {self._received} bytes, before it was complete.")
        self._end(self._spool or BytesIO())

    def _end(self, file: IO[bytes]) -> None:
        self._all.discard(self)
        file.seek(0)
        self._done(file, self._received)

    def _slow(self) -> ToolHubError:
        seconds = time.monotonic() - self._begun
        return ToolHubError(
            f"The body came too slowly: {self._received} bytes in {seconds:.0f} s. After the first "
            f"{limits.GRACE_S:g} s, at least {limits.RATE} bytes per second are expected.",
            code="BODY_TOO_SLOW",
        )


class Bodies:
    """All bodies on their way in this process. One thread begins them; another looks after the slow ones."""

    def __init__(self) -> None:
        self._all: set[Body] = set()
        self._some = threading.Event()
        threading.Thread(target=self._watch, name="bodies", daemon=True).start()

    def begin(self, body: Body) -> None:
        """Read a body. Raises Overloaded when too many are on their way."""
        if len(self._all) >= limits.FEW:
            self._room(body)
        body.read(self._all)
        if not self._some.is_set():
            self._some.set()

    def _room(self, body: Body) -> None:
        if len(self._all) >= limits.BODIES:
            raise Overloaded("Too many requests are on their way.", retry_after=5)
        count = Counter(sender for other in self._all.copy() for sender in other.senders())
        if any(count[sender] >= limits.SHARE for sender in body.senders()):
            message = f"{limits.SHARE} requests of this token or address are on their way already."
            raise ToolHubError(message, code="RATE_LIMIT", retry_after=5)

    def _watch(self) -> None:
        pause = threading.Event()
        while self._some.wait():
            pause.wait(LOOK_S)
            self._some.clear()
            for body in self._all.copy():
                self._some.set()
                body.look(time.monotonic())
