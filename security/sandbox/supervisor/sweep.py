"""The end of a tool: every process that came of it, also by a double fork or in a session of its own."""

import os
import select
import signal

from security.sandbox.supervisor import tree

# So many times the quick look is enough; the complete one reads of every process of the machine.
_QUICK = 4


def tell(pidfd: int) -> None:
    """Asks one process to stop."""
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
    except ProcessLookupError:
        return


def sweep(pid: int) -> int | None:
    """Kills and reaps everything; the exit code of `pid`, negative for a signal.

    This process is the subreaper: whoever loses its parent becomes its child. So when it has no child left,
    nothing is left. All are stopped before they are killed, so that none makes new ones meanwhile.
    """
    children, code = _reap(pid)
    rounds = 0
    while children:
        # Mostly those left are just ending: the quick look does for the first rounds.
        look = tree.descendants if rounds < _QUICK else tree.all_descendants
        below, rounds = look(os.getpid()), rounds + 1
        family = {os.getpid(), *below}
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for each in below:
                _signal(each, number, family)
        children, ended = _reap(pid)
        code = ended if ended is not None else code
        if children:
            select.select([], [], [], 0.001)
    return code


def _reap(pid: int) -> tuple[bool, int | None]:
    """Reaps who has ended: whether a child is left, and the exit code of `pid` if it was among them."""
    code = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False, code
        if not ended:
            return True, code
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)


def _signal(pid: int, number: int, family: set[int]) -> None:
    """Signals a process that is still of this family: its number may meanwhile be somebody else's."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        one = tree.entry(pid)
        if one is not None and one.parent in family:
            signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        return
    finally:
        os.close(pidfd)
