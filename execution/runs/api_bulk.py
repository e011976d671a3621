"""REST for many runs at once."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from execution.engine.selectors import runs_narrowed, runs_seen
from execution.models import Run
from execution.runs import openapi_bulk
from execution.runs.api_resolve import RUNS
from execution.runs.bulk_cancel import runs_cancel
from registry.bodies import body_check
from security.acting import reading
from security.principals import PersonaPrincipal, caller

CHANGE = "execution.change_run"


class RunsCancel(APIView):
    """POST runs/cancel."""

    @extend_schema(**openapi_bulk.CANCEL_ALL)
    def post(self, request: Request) -> Response:
        body: Any = request.data
        body_check(openapi_bulk.VALIDATOR, body)
        by = caller(request)
        among = runs_narrowed(_within(by, body), {name: str(value) for name, value in body.items()})
        done = runs_cancel(by=by.actor, among=among, filters=body)
        return Response({"cancelled": done.asked, "failed": done.failed, "more": done.more})


def _within(by: PersonaPrincipal, body: dict[str, Any]) -> QuerySet[Run]:
    """The caller's own runs; those of the persona that it names where it may change them. Raises Denied."""
    if body.get("persona", by.persona) == by.persona:
        return Run.objects.filter(persona_id=by.persona_id)
    return runs_seen(reading(by, CHANGE, RUNS), CHANGE)
