"""The way to the worker: frames of a kind, a length and bytes; from it two words, to begin and to stop."""

import marshal
import os
import struct

OUTPUT, LOG, FILE, END = b"O", b"L", b"F", b"E"
# What the log has begun with, while the tool runs; LOG is its end, and comes with the report.
PRINTED = b"P"
# The tool's code begins: what was done before was the start.
BEGUN = b"B"
# By this, as the first byte of its output, a program says so.
MARK = b"\n"
CANCEL = b"C"
# Followed by the seconds that the tool may take and those that its start may, the lengths of its input and
# its secrets, and by these.
GO = b"G"
GO_HEAD = struct.Struct("=2d2I")
HEAD = struct.Struct("=cI")
Files = list[tuple[str, bytes]]


class Channel:
    """Keeps what the worker does not take yet, so that a slow worker never stops the watch."""

    def __init__(self, given: int, taken: int) -> None:
        self.given, self.taken = given, taken
        self._pending = bytearray()
        os.set_blocking(taken, False)

    @property
    def waits(self) -> bool:
        """Whether something is still to be written."""
        return bool(self._pending)

    def send(self, kind: bytes, content: bytes) -> None:
        """Sends a frame, now or when the worker takes it."""
        self._pending += HEAD.pack(kind, len(content)) + content
        self.flush()

    def flush(self) -> None:
        """Writes what the worker takes. A worker that is gone takes everything."""
        while self._pending:
            try:
                written = os.write(self.taken, memoryview(self._pending)[: 1 << 16])
            except BlockingIOError:
                return
            except OSError:
                self._pending.clear()
                return
            del self._pending[:written]

    def end(self, report: dict[str, object], log: bytes, files: "Files | None" = None) -> None:
        """The last frames; returns when the worker has them or is gone."""
        os.set_blocking(self.taken, True)
        frames = [(FILE, marshal.dumps(one)) for one in files or ()]
        for kind, content in (*frames, (LOG, log), (END, marshal.dumps(report))):
            self._pending += HEAD.pack(kind, len(content)) + content
        self.flush()
        os.set_blocking(self.taken, False)
