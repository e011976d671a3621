"""Doing a run's request again, as a new run that is linked to the old one."""

from collections.abc import Mapping

from django.db import transaction

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.errors import ToolHubError
from execution.engine.requests import CallRequest
from execution.engine.selectors import finished_require, payload_require
from execution.engine.submit import Manner, run_submit
from execution.event_kinds import RUN_RETRIED
from execution.models import Run
from registry.selectors import tools_named
from security.models import Persona, User
from security.permissions import actor_of, require
from security.principals import PersonaPrincipal
from security.tokens import principal_of_persona

_CARRIED = ("context", "context_data", "hints", "limits", "isolation_level", "hook")


def request_again(
    run: Run, *, version: str | None = None, replay_of: Mapping[str, str] | None = None
) -> CallRequest:
    """The request of a run, for the same version unless another is named. Raises ToolHubError (410)."""
    payload_require(run)
    carried = {name: run.request[name] for name in _CARRIED if name in run.request}
    return CallRequest(
        arguments=run.arguments,
        version=version or run.tool_version.version,
        origin=run.pk,
        replay_of=dict(replay_of or {}),
        **carried,
    )


def run_retry(*, principal: PersonaPrincipal, run: Run, manner: Manner, key: str | None = None) -> Run:
    """Makes a finished run's request again, under the caller's persona and through every check.

    Raises what `run_submit` raises, and ToolHubError (409, 410).
    """
    finished_require(run)
    return run_submit(principal=principal, name=run.tool, request=request_again(run), manner=manner, key=key)


def run_again_by(*, by: User, run: Run, request: CallRequest, kind: EventKind) -> Run:
    """A new run that a person asks for, under the run's persona. Raises as `submit_on_record`."""
    return submit_on_record(by=by, persona=run.persona, tool=run.tool, request=request, kind=kind, again=run)


def submit_on_record(
    *,
    by: User,
    persona: Persona,
    tool: str,
    request: CallRequest,
    kind: EventKind,
    again: Run | None = None,
    said: Mapping[str, str] | None = None,
) -> Run:
    """A new run that a person asks for: under the persona's rights, on the person's responsibility.

    It waits for a worker. The ledger has an event `kind` by the person beside the run's own: at the run
    that is done `again`, else at the new one. What the decision refuses is raised, and stays in the
    ledger. Raises Denied and what `run_submit` raises.
    """
    require(by, "execution.add_run", persona, *tools_named(tool))
    refused: ToolHubError | None = None
    with transaction.atomic():
        try:
            new = submit_for(by, persona, tool, request)
        except ToolHubError as error:
            # Raised after the commit, so that the refusal stays on record.
            refused = error
        else:
            about = again or new
            record(
                Entry(kind, actor_of(by), "tool", tool, {"new_run": str(new.pk), **(said or {})}, about.pk)
            )
    if refused:
        raise refused
    return new


def run_retry_by(*, by: User, run: Run) -> Run:
    """Makes a finished run's request again for a person. Raises as `run_again_by`, and (409, 410)."""
    finished_require(run)
    return run_again_by(by=by, run=run, request=request_again(run), kind=RUN_RETRIED)


def submit_for(by: User, persona: Persona, tool: str, request: CallRequest) -> Run:
    """Submits a request under the persona, without a token; a worker carries it out."""
    return run_submit(
        principal=principal_of_persona(persona, by),
        name=tool,
        request=request,
        manner=Manner(0.0, detached=True),
    )
