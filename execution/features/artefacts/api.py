"""REST for a run's files."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.openapi import PROBLEMS
from execution.engine.selectors import run_of
from execution.features.artefacts.download import artefact_of, artefact_response
from execution.features.artefacts.models import Artefact
from security.principals import caller

_LIST = {
    "type": "object",
    "properties": {
        "artefacts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "size": {"type": "integer"},
                    "sha256": {"type": "string"},
                },
                "required": ["name", "size", "sha256"],
            },
        }
    },
    "required": ["artefacts"],
}


class RunArtefacts(APIView):
    """GET runs/{id}/artefacts."""

    @extend_schema(
        operation_id="run_artefacts",
        summary="The files that a run left for its caller",
        responses={200: _LIST, **{status: PROBLEMS[status] for status in (401, 404)}},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        run = run_of(run_id, caller(request).persona_id)
        rows = Artefact.objects.filter(run=run).values_list("name", "size", "content_id")
        return Response({"artefacts": [{"name": n, "size": s, "sha256": d} for n, s, d in rows]})


class RunArtefact(APIView):
    """GET runs/{id}/artefacts/{name}."""

    @extend_schema(
        operation_id="run_artefact",
        summary="One file that a run left; the ETag is its SHA-256",
        responses={
            (200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY, "The file."),
            **{status: PROBLEMS[status] for status in (401, 404)},
        },
    )
    def get(self, request: Request, run_id: UUID, name: str) -> HttpResponse:
        run = run_of(run_id, caller(request).persona_id)
        return artefact_response(artefact_of(run.pk, name))
