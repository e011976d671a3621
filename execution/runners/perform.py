"""Carries a call out: what the tool gets, its runtime's run, and what is taken out of what comes of it."""

import dataclasses
import logging
import time

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from core.errors import ToolHubError
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.engine.runtimes import RUNTIMES
from execution.runners.equip import equip, redacted
from execution.runners.judging import refused_outcome
from execution.runners.logged import Logged
from security.redaction import hiding

log = logging.getLogger(__name__)
AGAIN_S = 0.5


def call_run(call: Call) -> Outcome:
    """Carries a call out with its tool's runtime; never raises for what a tool does."""
    try:
        runtime = RUNTIMES[call.runner]
    except ToolHubError as error:  # this machine lacks it
        return refused_outcome(error)
    refused = _equipped(call)
    if refused is not None:
        return refused
    call.log = logged = Logged(call)
    with hiding(call.redactor):
        outcome = redacted(call, runtime.run(call))
    told = logged.rest()
    return dataclasses.replace(outcome, told=[*told, *outcome.told]) if told else outcome


def _equipped(call: Call) -> Outcome | None:
    """Gives the call what it gets, once the database answers; the outcome where nothing may run.

    It is waited for as long as a lease lasts, as the outcome itself is; not for a call that has no run yet.
    """
    ends = time.monotonic() + settings.LEASE_S
    while True:
        try:
            return equip(call)
        except (OperationalError, InterfaceError):
            alone = call.moment is not None and not connection.in_atomic_block
            if not alone or call.cancelled.is_set() or time.monotonic() > ends:
                raise
            log.warning("%s waits for the database before it starts", call.tool)
            time.sleep(AGAIN_S)
            close_old_connections()
