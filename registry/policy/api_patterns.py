"""REST for output patterns: what is taken out of every tool's output."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.errors import NotFound
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.policy.openapi import AFTER, form, operation, page_of
from registry.schemas import validator_build
from security.acting import PERSONAS, acting
from security.edits import OUTPUT_PATTERN
from security.idempotency import creates
from security.models import OutputPattern
from security.patterns import LENGTH_MAX, NAME_MAX, pattern_add, pattern_remove
from security.principals import caller

PATTERN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "pattern": {"type": "string"},
        "by": {"type": "string"},
        "created_at": {"type": "string", "format": "date-time"},
    },
}
_FORM = form(
    {
        "name": {"type": "string", "minLength": 1, "maxLength": NAME_MAX},
        "pattern": {"type": "string", "minLength": 1, "maxLength": LENGTH_MAX, "description": "RE2"},
    },
    "name",
    "pattern",
)
_VALIDATOR = validator_build(_FORM)
_LIST = operation("output_patterns_list", "List output patterns", page_of("patterns", PATTERN)) | {
    "parameters": [AFTER]
}
_ADD = operation(
    "output_pattern_add",
    "Take what a pattern matches out of every tool's output",
    PATTERN,
    body=_FORM,
    example={"name": "Keys of billing", "pattern": "bill_[0-9a-f]{32}"},
    status=201,
    said="It holds in every process within five seconds.",
)
_READ = operation("output_pattern_get", "Read an output pattern", PATTERN)
_REMOVE = operation(
    "output_pattern_remove",
    "Take a pattern away",
    None,
    status=204,
    said="People do that in the console: an agent's own output is held by it, too.",
)


def pattern_view(row: OutputPattern) -> dict[str, Any]:
    """As the API tells it."""
    return {
        "id": row.pk,
        "name": row.name,
        "pattern": row.pattern,
        "by": row.created_by.get_username(),
        "created_at": row.created_at,
    }


class OutputPatterns(APIView):
    """GET and POST output-patterns."""

    @extend_schema(**_LIST)
    def get(self, request: Request) -> Response:
        acting(caller(request), "security.view_outputpattern", PERSONAS)
        rows = OutputPattern.objects.select_related("created_by").order_by("-pk")
        found, more = page_after(rows, request.query_params)
        return Response({"patterns": [pattern_view(row) for row in found], "next": more})

    @creates(_ADD)
    def post(self, request: Request) -> Response:
        by, body = caller(request), request.data
        acting(by, "security.add_outputpattern", PERSONAS)
        body_check(_VALIDATOR, body)
        return Response(pattern_view(pattern_add(by=by, **body)), status=201)


class OutputPatternDetail(APIView):
    """GET and DELETE output-patterns/{id}."""

    @extend_schema(**tagged_read(_READ))
    def get(self, request: Request, pk: int) -> Response:
        acting(caller(request), "security.view_outputpattern", PERSONAS)
        row = _pattern(pk)
        return tagged(Response(pattern_view(row)), OUTPUT_PATTERN.of(row))

    @extend_schema(**versioned(_REMOVE))
    def delete(self, request: Request, pk: int) -> HttpResponse:
        by = caller(request)
        acting(by, "security.delete_outputpattern", PERSONAS)
        row = _pattern(pk)
        with editing(OUTPUT_PATTERN.of(row), if_match(request)):
            pattern_remove(by=by, row=row)
        return HttpResponse(status=204)


def _pattern(pk: int) -> OutputPattern:
    row = OutputPattern.objects.select_related("created_by").filter(pk=pk).first()
    if row is None:
        raise NotFound(f"There is no output pattern {pk}.")
    return row
