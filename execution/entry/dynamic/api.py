"""REST for schemas that depend on the context."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import ToolHubError
from core.openapi import answers
from execution.engine.requests import request_read
from execution.entry.dynamic.services import schema_ask, schema_whole
from execution.runs.api import result_response
from execution.runs.openapi import ACCEPTED_ANSWER, CALL, PREFER
from execution.runs.preferences import manner_read
from registry.formats import format_read, tool_converted
from security.principals import caller
from toolhub_sdk.providers import PROVIDERS

MEMBERS = ("version", "context", "context_data", "hints")
_BODY: dict[str, Any] = {
    "type": "object",
    "properties": {name: CALL["properties"][name] for name in MEMBERS},
    "additionalProperties": False,
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {"type": "string"},
        "inputSchema": {"type": "object"},
        "dynamic": {"type": "boolean", "description": "Whether the schema depends on the context."},
        "cached": {"type": "boolean", "description": "Whether nothing had to be called for it."},
        "run_id": {
            "type": ["string", "null"],
            "format": "uuid",
            "description": "The run in which the tool's hook made it.",
        },
        "tool": {
            "type": ["object", "null"],
            "description": "With `format`: the tool with this schema; null where there is no form for it.",
        },
        "warnings": {
            "type": "array",
            "description": "With `format`: why there is no form.",
            "items": {"type": "string"},
        },
    },
    "required": ["version", "inputSchema", "dynamic", "cached", "run_id"],
}


class ToolSchema(APIView):
    """POST tools/{name}/schema."""

    @extend_schema(
        operation_id="tool_schema",
        summary="Read the schema of a tool's arguments in a context",
        description="The context as in a call. A call is held to this schema and to the tool's own. "
        "Where the tool makes it for each context, its hook is called as a run: 202 while that works, "
        "and the run's result where it failed.",
        request={"application/json": _BODY},
        parameters=[
            PREFER,
            OpenApiParameter(
                "format", str, enum=tuple(PROVIDERS), description="The tool as a provider takes it, too."
            ),
        ],
        responses=answers(
            {200: OpenApiResponse(_SCHEMA, description="The schema."), 202: ACCEPTED_ANSWER},
            400,
            401,
            403,
            404,
            422,
            503,
        ),
    )
    def post(self, request: Request, name: str) -> HttpResponse | Response:
        body: Any = request.data
        wanted = format_read(request.query_params, tuple(PROVIDERS))
        if unknown := sorted(set(body) - set(MEMBERS)) if isinstance(body, dict) else []:
            errors = [{"pointer": f"/{each}", "message": f"Known: {', '.join(MEMBERS)}."} for each in unknown]
            raise ToolHubError("The request has unknown members.", code="UNKNOWN_MEMBER", errors=errors)
        asked = schema_ask(
            principal=caller(request),
            name=name,
            request=request_read(body),
            manner=manner_read(request.headers.get("Prefer", "")),
        )
        if asked.schema is None and asked.run is not None:
            return result_response(asked.run)
        version, schema = asked.version, asked.schema or {}
        return Response(
            {
                "version": version.version,
                "inputSchema": schema,
                "dynamic": version.is_dynamic,
                "cached": asked.cached,
                "run_id": str(asked.run.pk) if asked.run else None,
                **(tool_converted(wanted, version, schema_whole(version, schema)) if wanted else {}),
            }
        )
