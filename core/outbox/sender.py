"""Sends what is owed, beside a process's other work, so that a slow receiver holds up nothing else."""

import logging
import threading

from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from core.outage import database_failure_log
from core.outbox.send import delivery_try
from core.outbox.services import delivery_claim

log = logging.getLogger(__name__)
THREADS = 4
LOOK_EVERY_S = 0.5
# How long a thread waits for a database that is away.
AGAIN_S = 3.0


class Senders:
    """Threads that send until they are stopped: `with Senders(): …`. Any number of processes may."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        # One looks at a time: an idle hub costs one query per look, however many threads there are.
        self._turn = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, name=f"sender {number}", daemon=True)
            for number in range(THREADS)
        ]

    def __enter__(self) -> "Senders":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        # A request that is under way is not waited for: it is sent again when its claim is over.
        for thread in self._threads:
            thread.join(1.0)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._send_one()
            except (DatabaseError, InterfaceError) as error:
                database_failure_log(log, "what is owed to addresses outside", error)
                close_old_connections()
                self._stop.wait(AGAIN_S)
            except Exception:
                # A mistake of ours in one message must not keep the others back: it is due again later.
                log.exception("a message to an address outside failed")
                self._stop.wait(LOOK_EVERY_S)
        connections.close_all()

    def _send_one(self) -> None:
        with self._turn:
            while not (delivery := delivery_claim()):
                if self._stop.wait(LOOK_EVERY_S):
                    return
        delivery_try(delivery)
