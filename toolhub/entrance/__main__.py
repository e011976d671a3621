"""`python -m toolhub.entrance`: the web processes of the hub, served by granian."""

import functools
import os
import socket
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from granian import Granian
from granian._signals import set_sync_signals
from granian.constants import HTTPModes, Interfaces, RuntimeModes
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import WorkerProcess

from toolhub.entrance import limits
from toolhub.entrance.granian import Arrival

# Its stubs lack parts of the interface.
native: Any = import_module("granian._granian")
# Of one web process. Granian counts idle connections, too, and accepts none beyond them.
CONNECTIONS = 4096


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = ArgumentParser(prog="toolhub.entrance", description="Serves pages and API.")
    parser.add_argument("application", help="a WSGI application, such as toolhub.wsgi:application")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, required=True, help="processes")
    parser.add_argument("--threads", type=int, required=True, help="threads of each process")
    given = parser.parse_args()
    server = Granian(
        given.application,
        address=given.host,
        port=given.port,
        interface=Interfaces.RSGI,
        workers=given.workers,
        runtime_mode=RuntimeModes.mt,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=limits.HEADERS_S * 1000),
        websockets=False,
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        log_level=LogLevels.error,
        respawn_failed_workers=True,
        workers_kill_timeout=8,
    )
    server.serve(worker_serve, functools.partial(door_open, given.threads))


def door_open(threads: int, application: str) -> Callable[[Arrival], None]:
    """What takes requests for an application, made in the process that serves it."""
    module, _, name = application.partition(":")
    # The application sets Django up, without which the door cannot be imported.
    served = getattr(import_module(module), name)
    take: Callable[[Arrival], None] = import_module("toolhub.entrance.door").Door(served, threads).take
    return take


@WorkerProcess.wrap_target  # type: ignore[untyped-decorator]
def worker_serve(
    number: int,
    take: Callable[[Arrival], None],
    sock: tuple[Any, Any],
    ipc: Any,
    _loop: Any,
    _runtime_mode: RuntimeModes,
    runtime_threads: int,
    runtime_blocking_threads: int,
    _blocking_threads: int,
    idle_s: int,
    backpressure: int,
    _task_impl: Any,
    *settings: Any,
) -> None:
    """Serve in one process. It replaces granian's own, which calls an asyncio loop for each request."""
    http_mode, http1, http2, websockets, static_path, _log, ssl, _scope, metrics = settings
    # One Python thread of granian takes all requests.
    counts = (runtime_threads, runtime_blocking_threads, 1, idle_s, backpressure)
    worker = native.RSGIWorker(
        number, sock, ipc, *counts, http_mode, http1, http2, websockets, static_path, *ssl, metrics
    )
    stop: Any = set_sync_signals()  # type: ignore[no-untyped-call]
    stopped = threading.Event()
    stop.add_cb(stopped.set)
    at_once = SimpleNamespace(call_soon=_call, call_soon_threadsafe=_call)
    scheduler = native.CallbackScheduler(at_once, None, None, None, None)
    scheduler._schedule_fn = take  # noqa: SLF001 - how granian's own loops get requests
    worker.serve_mtr(scheduler, at_once, stop)
    stalls_end(limits.STALL_S)
    stopped.wait()


def _call(callback: Callable[..., Any], argument: Any, context: Any = None) -> None:
    """What an event loop would do later is done at once, in the thread that asks."""
    callback(argument)


def stalls_end(seconds: int) -> None:
    """Have the kernel end connections whose client takes nothing of an answer for so long (Linux).

    Connections get the option from the socket that listens, which granian does not hand out.
    """
    if not sys.platform.startswith("linux"):
        return
    for name in os.listdir("/proc/self/fd"):
        try:
            found = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        with found:
            if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, seconds * 1000)


if __name__ == "__main__":
    main()
