"""What carries runs out, by kind. A new runner is one module and one line here."""

from execution.runners import builtin, command, http, python
from execution.runners.call import Call, Runner
from execution.runners.equip import equip
from execution.runs.outcomes import Outcome

RUNNERS: dict[str, Runner] = {
    "builtin": builtin.run,
    "command": command.run,
    "http": http.run,
    "python": python.run,
}


def call_run(call: Call) -> Outcome:
    """Carries a call out with its tool's runner; never raises for what a tool does."""
    return equip(call) or RUNNERS[call.runner](call)


__all__ = ["RUNNERS", "Call", "call_run"]
