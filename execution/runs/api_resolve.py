"""REST for runs that wait for a person: an agent of who resolves them, never the caller itself."""

from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import Denied, InvalidRequest
from execution.effects.undo import undo_declared
from execution.models import Run
from execution.runs import openapi_resolve
from execution.runs.events import iso
from execution.runs.resolve import RESOLVE, run_resolve
from execution.runs.results import envelope
from execution.runs.selectors import run_detail, runs_unresolved
from execution.runs.verdicts import Verdict
from registry.bodies import body_check
from security.acting import manager_check
from security.models import User
from security.permissions import require
from security.principals import caller

RUNS = "toolhub:runs"
"""The capability with which an agent tells what its responsible person says of runs."""
PAGE = 50


def _person(request: Request) -> User:
    """The person whom the agent acts for. Raises Denied."""
    principal = caller(request)
    manager_check(principal, RUNS)
    person = User.objects.get(pk=principal.responsible_id)
    if not person.holds(RESOLVE):
        require(person, RESOLVE)
    return person


class RunsUnresolved(APIView):
    """GET runs/unresolved."""

    @extend_schema(**openapi_resolve.LIST)
    def get(self, request: Request) -> Response:
        rows = runs_unresolved(_person(request))
        if after := request.query_params.get("after"):
            try:
                rows = rows.filter(pk__gt=UUID(after))
            except ValueError as error:
                message = "after must be the `next` of the page before."
                raise InvalidRequest(message, errors=[{"pointer": "/after", "message": message}]) from error
        found = list(rows[: PAGE + 1])
        more = str(found[PAGE - 1].pk) if len(found) > PAGE else None
        return Response({"runs": [_view(run) for run in found[:PAGE]], "next": more})


def _view(run: Run) -> dict[str, Any]:
    return {
        "run_id": str(run.pk),
        "persona": run.persona.name,
        "tool": run.tool,
        "version": run.tool_version.version,
        "status": run.status,
        "arguments": run.arguments,
        "started_at": iso(run.started_at),
        "attempts": run.attempt,
        "undone_by": [effect["rollback"]["tool"] for _, effect in undo_declared(run.tool_version)],
    }


class RunResolve(APIView):
    """POST runs/{id}/resolve."""

    @extend_schema(**openapi_resolve.ACT)
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        person = _person(request)
        body: Any = request.data
        body_check(openapi_resolve.VALIDATOR, body)
        run = run_detail(run_id, person, RESOLVE)
        if run.persona_id == caller(request).persona_id:
            raise Denied("A persona does not resolve its own runs.")
        new = run_resolve(
            by=person,
            run=run,
            verdict=Verdict(body["as"]),
            reason=body["reason"],
            result=body.get("result"),
            actor=caller(request).actor,
        )
        told = {
            "run": envelope(run_detail(run_id, person, RESOLVE)),
            "new_run_id": str(new.pk) if new else None,
        }
        return HttpResponse(orjson.dumps(told), content_type="application/json")
