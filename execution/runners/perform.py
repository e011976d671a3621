"""Carries a call out: what the tool gets, its runtime's run, and what is taken out of what comes of it."""

import dataclasses

from core.errors import ToolHubError
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.engine.runtimes import RUNTIMES
from execution.runners.equip import equip, redacted
from execution.runners.judging import refused_outcome
from execution.runners.logged import Logged
from security.redaction import hiding


def call_run(call: Call) -> Outcome:
    """Carries a call out with its tool's runtime; never raises for what a tool does."""
    try:
        runtime = RUNTIMES[call.runner]
    except ToolHubError as error:  # this machine lacks it
        return refused_outcome(error)
    refused = equip(call)
    if refused is not None:
        return refused
    call.log = logged = Logged(call)
    with hiding(call.redactor):
        outcome = redacted(call, runtime.run(call))
    told = logged.rest()
    return dataclasses.replace(outcome, told=[*told, *outcome.told]) if told else outcome
