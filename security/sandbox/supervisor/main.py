"""The supervisor's way from the order to the report."""

import os

from security.sandbox import native
from security.sandbox.supervisor.branch import calls_serve
from security.sandbox.supervisor.channel import Channel
from security.sandbox.supervisor.order import order_read
from security.sandbox.supervisor.start import Refused, tool_start
from security.sandbox.supervisor.sweep import sweep
from security.sandbox.supervisor.watch import Watch


def main(network: int = -1) -> None:
    """Reads an order from standard input, carries it out, and reports on standard output.

    A listening socket of the tool's network goes through `network`, where that is a socket.
    """
    # Folders that the supervisor makes have to be passable for the run's own user, whoever started the hub.
    os.umask(0o022)
    order = order_read(0)
    order.network = network
    native.prctl(native.PR_SET_CHILD_SUBREAPER, 1)
    channel = Channel(0, 1)
    if order.prepare:
        calls_serve(order, channel)
        return
    try:
        tool = tool_start(order)
    except (Refused, OSError) as error:
        sweep(0)
        channel.end({"how": "refused", "why": str(error)}, b"")
        return
    watch = Watch(order, tool, channel)
    watch.run()
    if watch.report["how"] == "killed" and order.work:
        # The worker, whose part this is, may be gone.
        os.spawnv(os.P_WAIT, "/bin/rm", ["rm", "-rf", "--", order.work])  # noqa: S606
