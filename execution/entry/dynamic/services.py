"""Asking for the schema of a tool's arguments in a context."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from execution.engine.calls.checks import call_check
from execution.engine.calls.dynamic_schemas import schema_kept
from execution.engine.calls.refusals import refusal_record
from execution.engine.requests import CallRequest
from execution.engine.submit import Manner, run_submit
from execution.engine.waiting import run_await
from execution.models import Run, Status
from registry.models import ToolVersion
from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Asked:
    """The schema, or the run that was to make it and has not (yet)."""

    version: ToolVersion
    schema: Mapping[str, Any] | None
    cached: bool = False
    run: Run | None = None


def hook_request(request: CallRequest) -> CallRequest:
    """The call of the hook that makes the schema for a call's context."""
    return replace(request, arguments={}, hook="schema")


def schema_known(*, principal: PersonaPrincipal, name: str, request: CallRequest) -> Asked:
    """What is known of the schema without a run: that of most tools, or one that is kept for this context.

    Raises what a call's checks raise; a refusal stays on record.
    """
    refuse = functools.partial(refusal_record, principal)
    version = call_check(principal, name, hook_request(request), refuse=refuse).found.version
    if not version.is_dynamic:
        return Asked(version, version.definition["inputSchema"], cached=True)
    kept = schema_kept(version, principal.persona_id, request.recorded())
    return Asked(version, kept, cached=kept is not None)


def schema_ask(*, principal: PersonaPrincipal, name: str, request: CallRequest, manner: Manner) -> Asked:
    """The schema that a call in this context is held to, beside the tool's own.

    A hook is called as a run of the tool: decided, recorded, held by the sandbox. Raises as `run_submit`.
    """
    known = schema_known(principal=principal, name=name, request=request)
    if known.cached:
        return known
    run = run_submit(principal=principal, name=name, request=hook_request(request), manner=manner)
    if not manner.detached:
        run = run_await(run, principal.persona_id, manner.wait_s)
    return replace(known, schema=schema_made(run), run=run)


def schema_made(run: Run) -> Mapping[str, Any] | None:
    """What a run of the hook made, or None."""
    return run.result if run.request.get("hook") == "schema" and run.status == Status.COMPLETED else None


def schema_whole(version: ToolVersion, made: Mapping[str, Any]) -> dict[str, Any]:
    """One schema for what a call is held to in two: the tool's own, narrowed by that of a context.

    Members of both are described by both; the context's word counts where they differ.
    """
    own: Mapping[str, Any] = version.definition["inputSchema"]
    members = {name: dict(member) for name, member in own.get("properties", {}).items()}
    for name, member in made.get("properties", {}).items():
        known = members.get(name, {})
        members[name] = {**known, **member} if isinstance(member, Mapping) else known
    required = dict.fromkeys([*own.get("required", []), *made.get("required", [])])
    return {**own, **made, "properties": members, "required": list(required)}
