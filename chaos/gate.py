"""A TCP proxy before a service, whose port can be blocked, or whose connections can be cut."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

from bench.server import free_port

BLOCK = 65536


class Gate:
    """Listens on `port` of 127.0.0.1 and passes everything on to `target`, until told otherwise."""

    def __init__(self, target: int) -> None:
        self.port, self._target = free_port(), target
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()
        self._open.set()
        self._refusing = False
        self._trap: bytes | None = None
        self._after = b""
        self.trapped = threading.Event()
        self._ends: set[asyncio.StreamWriter] = set()
        listening = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="gate", daemon=True)
        self._thread.start()
        listening.wait()

    def block(self) -> None:
        """From now on not a byte gets through, in either direction; nobody is told."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def unblock(self) -> None:
        """What was kept back gets through."""
        self._loop.call_soon_threadsafe(self._open.set)

    def cut(self) -> None:
        """Ends every connection, and each new one at once."""

        def do() -> None:
            self._refusing = True
            self._abort_all()

        self._loop.call_soon_threadsafe(do)

    def mend(self) -> None:
        """New connections are passed on again."""

        def do() -> None:
            self._refusing = False

        self._loop.call_soon_threadsafe(do)

    def trap(self, words: bytes, *, after: bytes = b"") -> None:
        """The next message with these words arrives at the target, but its answer is lost.

        `after`: only on a connection that has passed these on before.
        """
        self.trapped.clear()
        self._after, self._trap = after, words

    @property
    def is_used(self) -> bool:
        """Whether anybody has a connection."""
        return bool(self._ends)

    def close(self) -> None:
        """Ends all connections and listens no more."""

        def do() -> None:
            self._open.set()
            self._abort_all()
            self._loop.stop()

        self._loop.call_soon_threadsafe(do)
        self._thread.join()

    def _run(self, listening: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", self.port))
        listening.set()
        self._loop.run_forever()
        server.close()
        if tasks := asyncio.all_tasks(self._loop):
            self._loop.run_until_complete(asyncio.wait(tasks, timeout=1))
        self._loop.close()

    def _abort_all(self) -> None:
        for end in self._ends:
            end.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._refusing:
                raise ConnectionRefusedError
            far_reader, far = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far}
        self._ends |= ends
        ready, lost = asyncio.Event(), asyncio.Event()
        try:
            await asyncio.gather(
                self._pump(reader, far, lambda data: self._told(data, ready, lost)),
                self._pump(far_reader, writer, lambda _data: self._answered(lost)),
            )
        finally:
            self._ends -= ends
            for end in ends:
                end.transport.abort()

    def _told(self, data: bytes, ready: asyncio.Event, lost: asyncio.Event) -> bool:
        if self._trap and self._after in data:
            ready.set()
        if self._trap and ready.is_set() and self._trap in data:
            self._trap = None
            lost.set()
        return True

    def _answered(self, lost: asyncio.Event) -> bool:
        if lost.is_set():
            # The target did its work; its asker hears nothing but the end.
            self.trapped.set()
        return not lost.is_set()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passes: Callable[[bytes], bool]
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(BLOCK):
                await self._open.wait()
                if not passes(data):
                    break
                writer.write(data)
                await writer.drain()
        await self._open.wait()
        writer.close()
