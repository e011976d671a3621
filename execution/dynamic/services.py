"""Asking for the schema of a tool's arguments in a context."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from execution.dynamic.keep import is_dynamic, schema_kept
from execution.models import Run, Status
from execution.runs.checks import call_check
from execution.runs.refusals import refusal_record
from execution.runs.requests import CallRequest
from execution.runs.services import Manner, run_submit
from execution.runs.waiting import run_await
from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Asked:
    """The schema, or the run that was to make it and has not (yet)."""

    version: str
    schema: Mapping[str, Any] | None
    dynamic: bool
    cached: bool
    run: Run | None = None


def schema_ask(*, principal: PersonaPrincipal, name: str, request: CallRequest, manner: Manner) -> Asked:
    """The schema that a call in this context is held to, beside the tool's own.

    A hook is called as a run of the tool: decided, recorded, held by the sandbox. Raises as `run_submit`.
    """
    hook = replace(request, arguments={}, hook="schema")
    checked = call_check(principal, name, hook, refuse=functools.partial(refusal_record, principal))
    version = checked.found.version
    if not is_dynamic(version):
        return Asked(version.version, version.definition["inputSchema"], dynamic=False, cached=True)
    if kept := schema_kept(version, principal.persona_id, request.recorded()):
        return Asked(version.version, kept, dynamic=True, cached=True)
    run = run_submit(principal=principal, name=name, request=hook, manner=manner)
    if not manner.detached:
        run = run_await(run, principal.persona_id, manner.wait_s)
    made = run.result if run.status == Status.COMPLETED else None
    return Asked(version.version, made, dynamic=True, cached=False, run=run)
