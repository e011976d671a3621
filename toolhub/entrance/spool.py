"""Large bodies in temporary files, bounded together."""

import tempfile
import threading

from core.errors import Overloaded
from toolhub.entrance import limits

_lock = threading.Lock()
_on_disk = 0


class Spool(tempfile.SpooledTemporaryFile[bytes]):
    """A body of several parts: in memory up to a bound, then in a file that has no name."""

    def __init__(self) -> None:
        super().__init__(max_size=limits.MEMORY)
        self._counted = 0

    def write(self, part: bytes) -> int:  # type: ignore[override]
        """Append a part. Raises Overloaded when there is no room."""
        size = self.tell() + len(part)
        if size > limits.MEMORY and not self._count(size - self._counted):
            raise Overloaded("There is no room for large requests now.", retry_after=5)
        try:
            return super().write(part)
        except OSError as error:
            raise Overloaded("There is no room on disk for large requests now.", retry_after=5) from error

    def close(self) -> None:
        """Give its room back."""
        self._count(-self._counted)
        super().close()

    def _count(self, more: int) -> bool:
        global _on_disk  # noqa: PLW0603 - the bound is of the process
        with _lock:
            if more > 0 and _on_disk + more > limits.DISK:
                return False
            _on_disk += more
            self._counted += more
            return True
