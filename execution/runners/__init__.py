"""What carries runs out, by kind. A new runner is one module and one line here."""

import dataclasses

from execution.engine.outcomes import Outcome
from execution.runners import builtin, command, container, http, python, wasm
from execution.runners.call import Call, Runner
from execution.runners.equip import equip, redacted
from execution.runners.logged import Logged
from security.redaction import hiding

RUNNERS: dict[str, Runner] = {
    "builtin": builtin.run,
    "command": command.run,
    "container": container.run,
    "http": http.run,
    "python": python.run,
    "vm": container.run,
    "wasm": wasm.run,
}


def call_run(call: Call) -> Outcome:
    """Carries a call out with its tool's runner; never raises for what a tool does."""
    refused = equip(call)
    if refused is not None:
        return refused
    call.log = logged = Logged(call)
    with hiding(call.redactor):
        outcome = redacted(call, RUNNERS[call.runner](call))
    told = logged.rest()
    return dataclasses.replace(outcome, told=[*told, *outcome.told]) if told else outcome


__all__ = ["RUNNERS", "Call", "call_run"]
