"""REST for the versions of a tool."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.openapi import PROBLEMS
from registry.models import VersionState
from registry.selectors import tool_missing, tool_resolve, tool_versions
from security.principals import caller

MOST = 100
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "versions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "version": {"type": "string"},
                    "state": {"type": "string", "enum": VersionState.values},
                    "reason": {"type": "string", "description": "Why it is deprecated or withdrawn."},
                    "active": {"type": "boolean", "description": "Calls that name no version get this one."},
                    "release": {"type": "integer"},
                    "digest": {"type": "string"},
                    "created_at": {"type": "string", "format": "date-time"},
                },
            },
        }
    },
}


class ToolVersions(APIView):
    """GET tools/{name}/versions."""

    @extend_schema(
        operation_id="tool_versions",
        summary="List a tool's versions, highest first",
        responses={
            200: OpenApiResponse(_SCHEMA, description="At most 100; each can be called as name@version."),
            **{status: PROBLEMS[status] for status in (401, 404, 422, 503)},
        },
    )
    def get(self, request: Request, name: str) -> Response:
        persona_id = caller(request).persona_id
        found = tool_resolve(name, persona_id)
        if found.assigned_by is None:
            raise tool_missing(found.name, persona_id)
        tool = found.version.tool
        rows = [
            {
                "version": one.version,
                "state": one.state,
                "reason": one.state_reason,
                "active": one.pk == tool.active_id,
                "release": one.release_id,
                "digest": one.digest,
                "created_at": one.created_at.isoformat(),
            }
            for one in tool_versions(tool, MOST)
        ]
        return Response({"versions": rows})
