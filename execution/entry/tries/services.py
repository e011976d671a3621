"""The write door of tries: a call that a person makes from the console."""

from dataclasses import replace

from execution.engine.requests import CallRequest
from execution.engine.waiting import run_await
from execution.entry.dynamic.services import Asked, hook_request, schema_known, schema_made
from execution.event_kinds import RUN_TRIED
from execution.models import Run
from execution.runs.again import submit_on_record
from registry.selectors import tools_named
from security.models import Persona, User
from security.permissions import require
from security.tokens import principal_of_persona


def run_try(*, by: User, persona: Persona, tool: str, request: CallRequest) -> Run:
    """Calls a tool as a persona, on the person's responsibility; a worker carries it out.

    The persona's rights decide, as for a call with a token. The ledger has `run.tried` by the person
    beside the run's own events; a refusal stays there, too. Raises Denied and what `run_submit` raises.
    """
    return submit_on_record(
        by=by, persona=persona, tool=tool, request=request, kind=RUN_TRIED, said={"persona": persona.name}
    )


def schema_try(*, by: User, persona: Persona, tool: str, request: CallRequest, seconds: float) -> Asked:
    """The schema of a tool's arguments in a context, as a persona gets it; waits so long for its hook.

    Where it is not known, the hook is called as a run on the person's responsibility, as by `run_try`.
    Raises Denied and what `run_submit` raises.
    """
    require(by, "execution.add_run", persona, *tools_named(tool))
    principal = principal_of_persona(persona, by)
    known = schema_known(principal=principal, name=tool, request=request)
    if known.cached:
        return known
    run = run_try(by=by, persona=persona, tool=tool, request=hook_request(request))
    run = run_await(run, persona.pk, seconds)
    return replace(known, schema=schema_made(run), run=run)
