"""Work in a process of its own, so that none of its connections and threads stays in this one."""

import os
from collections.abc import Callable

from toolhub.processes.fork import die_with, forked

REFUSED = 3


class Refused(Exception):
    """The message is a sentence for the person who starts the hub."""


class Aside:
    """`work`, begun in a process of its own; what it gives or refuses comes through a pipe."""

    def __init__(self, name: str, work: Callable[[], str]) -> None:
        above = os.getpid()
        self._output, says = os.pipe()

        def run() -> int:
            die_with(above)
            try:
                said, status = work(), 0
            except Refused as refused:
                said, status = str(refused), REFUSED
            with os.fdopen(says, "w") as pipe:
                pipe.write(said)
            return status

        self._pid = forked(name, run)
        os.close(says)

    def result(self) -> str:
        """Waits for it. Raises Refused with its reason; what else went wrong it has said itself."""
        with os.fdopen(self._output) as pipe:
            said = pipe.read()
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code:
            raise Refused(said if code == REFUSED else "The preparation failed; the lines above may say why.")
        return said
