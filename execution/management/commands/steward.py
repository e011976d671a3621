"""`manage.py steward`: rings bells, reaps lost runs, makes retries due, calls by the clock, sends callbacks.

Senders have threads of their own: a slow receiver holds up no duty.
"""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from core.outbox.sender import Senders
from execution.steward import steward_run


class Command(BaseCommand):
    # They load every page, which a steward never shows; `make check` runs them.
    requires_system_checks = ()
    help = "Performs the hub's standing duties until it is stopped. Any number may run."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        with Senders():
            steward_run(stop)
