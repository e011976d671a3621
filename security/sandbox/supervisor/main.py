"""The supervisor's way from the order to the report."""

import os

from security.sandbox.supervisor.branch import calls_serve
from security.sandbox.supervisor.channel import Channel
from security.sandbox.supervisor.child import Child
from security.sandbox.supervisor.order import order_read, order_take
from security.sandbox.supervisor.start import Late, Refused, tool_start
from security.sandbox.supervisor.sweep import sweep
from security.sandbox.supervisor.watch import Watch


def main(child: Child, network: int = -1) -> None:
    """Reads an order from standard input, carries it out, and reports on standard output.

    `child` becomes the tool. A listening socket of the tool's network goes through `network`, where that is a
    socket.
    """
    ordered = order_take(0)
    order = order_read(ordered)
    order.network = network
    channel = Channel(0, 1)
    if order.prepare:
        child.dismiss()
        calls_serve(order, channel)
        return
    try:
        tool = tool_start(order, ordered, child)
    except (Refused, OSError) as error:
        sweep(0)
        late = isinstance(error, Late)
        channel.end({"how": "refused", "why": str(error), "late": late}, b"")
        return
    watch = Watch(order, tool, channel)
    watch.run()
    if watch.report["how"] == "killed" and order.work:
        # The worker, whose part this is, may be gone.
        os.spawnv(os.P_WAIT, "/bin/rm", ["rm", "-rf", "--", order.work])  # noqa: S606
