"""REST for runs that wait for a person: an agent of who resolves them, never the caller itself."""

from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import Denied
from core.keyset import page_after
from execution.engine.events import iso
from execution.engine.results import envelope
from execution.engine.selectors import run_detail, runs_unresolved
from execution.features.effects.undo import undo_declared
from execution.models import Run
from execution.runs import openapi_resolve
from execution.runs.resolve import RESOLVE, run_resolve
from execution.runs.verdicts import Verdict
from registry.bodies import body_check
from security.acting import reading
from security.principals import caller

RUNS = "toolhub:runs"
"""The capability with which an agent tells what its responsible person says of runs."""
PAGE = 50


class RunsUnresolved(APIView):
    """GET runs/unresolved."""

    @extend_schema(**openapi_resolve.LIST)
    def get(self, request: Request) -> Response:
        waiting = runs_unresolved(reading(caller(request), RESOLVE, RUNS))
        rows, more = page_after(waiting, request.query_params, descending=False, count=PAGE)
        return Response({"runs": [_view(run) for run in rows], "next": more})


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
        person = reading(caller(request), RESOLVE, RUNS)
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
