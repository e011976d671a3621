"""The write door of tries: a call that a person makes from the console."""

from execution.models import Run
from execution.runs.again import submit_on_record
from execution.runs.requests import CallRequest
from security.models import Persona, User


def run_try(*, by: User, persona: Persona, tool: str, request: CallRequest) -> Run:
    """Calls a tool as a persona, on the person's responsibility; a worker carries it out.

    The persona's rights decide, as for a call with a token. The ledger has `run.tried` by the person
    beside the run's own events; a refusal stays there, too. Raises Denied and what `run_submit` raises.
    """
    return submit_on_record(
        by=by, persona=persona, tool=tool, request=request, kind="run.tried", said={"persona": persona.name}
    )
