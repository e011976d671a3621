"""The steward's duties, each under its own lock, so that any number of stewards may run."""

import functools
import logging
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, transaction

from audit.denials import denials_flush
from core.duties.journal import Journal
from core.outage import database_failure_log
from core.outbox.tidy import deliveries_expire
from core.submissions.services import submissions_expire
from execution.engine.bells import Bells
from execution.engine.calls.dynamic_schemas import schemas_expire
from execution.engine.deadlines import deadlines_end
from execution.engine.expiry import payloads_expire_some
from execution.engine.keys import keys_expire
from execution.engine.reaper import inline_release, runs_reap
from execution.engine.wait import retries_due
from execution.entry.schedules.fire import schedules_fire
from execution.features.approvals.expiry import approvals_expire
from execution.features.artefacts.services import contents_expire
from execution.features.callbacks.state import RUN_OUTCOME
from execution.features.recovery.end import escalations_send, fallbacks_end
from execution.memory.services import memory_expire
from execution.rollups.roll import rollups_keep
from registry.installations.care import installations_care, installations_tidy
from registry.installations.folders import folders_tidy_in_turn
from security.accounts.tidy import invitations_expire
from security.guessing.counters import tries_expire

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Duty:
    """Something the steward does every `every` seconds: one steward at a time, in one transaction.

    Not so where several do no harm (`alone` is false): then it makes its own transactions.
    """

    name: str
    every: float
    act: Callable[[], int]
    alone: bool = True


def duties() -> list[Duty]:
    """All duties. A new one is a line here."""
    return [
        Duty("bells", 1.0, Bells(settings.WORKERS).top_up),
        # Each steward counts beats by its own clock; whoever comes second to a run leaves it.
        Duty("reaper", 1.0, runs_reap, alone=False),
        Duty("deadlines", 1.0, deadlines_end, alone=False),
        Duty("retries", 0.5, retries_due),
        # Effects are planned outside of a transaction; whoever comes second to a run leaves it.
        Duty("fallbacks", 0.5, fallbacks_end, alone=False),
        Duty("escalations", 5.0, escalations_send),
        Duty("schedules", 1.0, schedules_fire),
        Duty("approvals", 2.0, approvals_expire),
        Duty("inline", 10.0, inline_release),
        Duty("denials", 10.0, denials_flush),
        Duty("payloads", 5.0, payloads_expire_some),
        Duty("artefacts", 300.0, contents_expire),
        Duty("keys", 600.0, keys_expire),
        # A callback can be sent again for as long as the run has what it says.
        Duty("messages", 300.0, functools.partial(deliveries_expire, but=(RUN_OUTCOME,))),
        Duty("invitations", 300.0, invitations_expire),
        Duty("tries", 60.0, tries_expire),
        Duty("submissions", 600.0, submissions_expire),
        Duty("schemas", 600.0, schemas_expire),
        Duty("memory", 60.0, memory_expire),
        Duty("rollups", 2.0, rollups_keep),
        Duty("installations", 2.0, installations_care),
        Duty("staged", 60.0, installations_tidy),
        Duty("folders", 60.0, folders_tidy_in_turn),
    ]


def duty_perform(duty: Duty) -> int | None:
    """Performs a duty, under its lock if it has one; None when another steward is at it."""
    if not duty.alone:
        return duty.act()
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                # The lock's number is stable over processes and versions.
                cursor.execute(
                    "SELECT pg_try_advisory_xact_lock(%s)", [zlib.crc32(f"duty:{duty.name}".encode())]
                )
                if not cursor.fetchone()[0]:
                    return None
        return duty.act()


def steward_run(stop: threading.Event) -> None:
    """Performs the duties when they are due, until `stop` is set. A failed duty is logged and tried again."""
    all_duties = duties()
    due = {duty.name: 0.0 for duty in all_duties}
    journal = Journal()
    while not stop.is_set():
        for duty in all_duties:
            if time.monotonic() < due[duty.name]:
                continue
            due[duty.name] = time.monotonic() + duty.every
            try:
                if duty_perform(duty) is not None:
                    journal.succeeded(duty.name)
            except (DatabaseError, InterfaceError) as error:
                database_failure_log(log, f"duty {duty.name}", error)
                close_old_connections()
                journal.failed(duty.name, error)
            except Exception as error:
                # A mistake in one duty must not end all others.
                log.exception("duty %s failed", duty.name)
                journal.failed(duty.name, error)
        stop.wait(0.2)
