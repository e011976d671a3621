"""Runs that follow from another: cascades and compensations, under the same persona, checked as any call."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from core.errors import ToolHubError
from execution.engine.accept import accept_pending, accepted_of
from execution.engine.calls.checks import Checked, call_check
from execution.engine.calls.refusals import refusal_record
from execution.engine.facts import rights_of
from execution.engine.features import Conflict
from execution.engine.requests import CallRequest
from execution.models import Run
from security.principals import PersonaPrincipal

DEPTH_MAX = 8
_CARRIED = ("context", "context_data", "hints", "isolation_level")


@dataclass(frozen=True)
class Child:
    """A call that passed every check and may be made as a child."""

    principal: PersonaPrincipal
    checked: Checked


def child_check(run: Run, tool: str, arguments: Mapping[str, Any]) -> Child:
    """A call of another tool that would be accepted now, as a child of the run.

    Outside of any transaction: conditions of grants are CEL. Raises ToolHubError where it is refused; the
    ledger hears of that.
    """
    rights = rights_of(run)
    if rights is None:
        raise ToolHubError("Nobody answers for this run any more.", code="PERMISSION_DENIED")
    principal, state = rights
    if state == "revoked":
        error = ToolHubError("The token that the run came with was revoked.", code="PERMISSION_DENIED")
        refusal_record(principal, tool, error, {"parent": str(run.pk)})
        raise error
    return child_check_for(principal, run, tool, arguments)


def child_check_for(principal: PersonaPrincipal, run: Run, tool: str, arguments: Mapping[str, Any]) -> Child:
    """The same for somebody who answers for it in the place of the run's own caller."""
    refuse = functools.partial(refusal_record, principal)
    try:
        _bounds_check(run)
    except ToolHubError as error:
        refuse(tool, error, {"parent": str(run.pk)})
        raise
    request = CallRequest(
        arguments=dict(arguments),
        parent=run.pk,
        root=run.root or run.pk,
        depth=run.depth + 1,
        **{name: run.request[name] for name in _CARRIED if name in run.request},
    )
    return Child(principal, call_check(principal, tool, request, refuse=refuse))


def _bounds_check(run: Run) -> None:
    """Chains of runs end somewhere. Raises ToolHubError RESOURCE_EXCEEDED."""
    if run.depth >= DEPTH_MAX:
        message = f"Runs follow from each other at most {DEPTH_MAX} deep."
        raise ToolHubError(message, code="RESOURCE_EXCEEDED")
    most = settings.CASCADE_RUNS_MAX
    if Run.objects.filter(root=run.root or run.pk).count() >= most:
        message = f"At most {most} runs may follow from one."
        raise ToolHubError(message, code="RESOURCE_EXCEEDED")


def child_submit(child: Child) -> Run | Conflict:
    """Accept the child in the caller's transaction: it waits for a worker, or for an approval.

    A Conflict where what it was checked by has changed. Raises Overloaded, ToolHubError (429) where the last
    call of a limit was made meanwhile.
    """
    return accept_pending(accepted_of(child.principal, child.checked), inline=False)


def child_refused(child: Child, error: ToolHubError) -> None:
    """Let the ledger hear of a child that could not be accepted; after the transaction that tried it."""
    why = {"parent": str(child.checked.request.parent)}
    refusal_record(child.principal, child.checked.found.name, error, why)
