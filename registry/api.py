"""REST for tools, as a persona sees them."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import InvalidRequest
from core.openapi import PROBLEMS
from registry.contracts import CATEGORIES
from registry.models import Tool, ToolVersion
from registry.selectors import call_decide, tool_missing, tool_resolve, tools_assigned
from security.principals import caller

PAGE = 100
TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "examples": ["toolhub-data/echo@1.0.0"]},
        "name": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "category": {"type": "string"},
        "version": {"type": "string"},
        "state": {"type": "string"},
        "sideEffects": {"type": "string"},
        "determinism": {"type": "string"},
        "requiredCapabilities": {"type": "array", "items": {"type": "string"}},
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": ["object", "null"]},
        "annotations": {"type": "object"},
    },
}
TOOL_LIST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tools": {"type": "array", "items": TOOL},
        "next": {"type": ["string", "null"], "description": "Give it as `after` for the next page."},
        "reason": {"type": ["string", "null"], "description": "Why the list is empty."},
    },
}


def tool_view(version: ToolVersion) -> dict[str, Any]:
    """A tool as callers see it: MCP's members, and what its contract declares."""
    definition = version.definition
    return {
        "id": f"{version.tool.package.name}/{version.tool.name}@{version.version}",
        "name": version.tool.name,
        "title": definition.get("title", version.tool.name),
        "description": definition.get("description", ""),
        "category": version.tool.category,
        "version": version.version,
        "state": version.state,
        "sideEffects": "pure" if version.is_pure else "impure",
        "determinism": version.determinism,
        "requiredCapabilities": version.required_capabilities,
        "inputSchema": definition["inputSchema"],
        "outputSchema": definition.get("outputSchema"),
        "annotations": definition.get("annotations", {}),
    }


def _active(tool: Tool) -> ToolVersion:
    version = tool.active
    if version is None:  # the selector leaves such tools out
        raise tool_missing(tool.name)
    version.tool = tool
    return version


class ToolList(APIView):
    """GET tools."""

    @extend_schema(
        operation_id="tools_list",
        summary="List the tools that the caller may see",
        parameters=[
            OpenApiParameter("category", str, enum=CATEGORIES),
            OpenApiParameter("after", str, description="The `next` of the page before."),
        ],
        responses={
            200: OpenApiResponse(TOOL_LIST, description="At most 100, by name."),
            401: PROBLEMS[401],
            422: PROBLEMS[422],
            503: PROBLEMS[503],
        },
    )
    def get(self, request: Request) -> Response:
        category = request.query_params.get("category")
        if category and category not in CATEGORIES:
            raise InvalidRequest(f"category must be one of {', '.join(CATEGORIES)}.")
        rows = tools_assigned(caller(request).persona_id)
        if category:
            rows = rows.filter(category=category)
        tools = list(rows.filter(name__gt=request.query_params.get("after", ""))[: PAGE + 1])
        reason = None if tools else f"No tool is assigned to {caller(request).persona}. An admin can assign one."
        return Response(
            {
                "tools": [tool_view(_active(tool)) for tool in tools[:PAGE]],
                "next": tools[PAGE - 1].name if len(tools) > PAGE else None,
                "reason": reason,
            }
        )


class ToolDetail(APIView):
    """GET tools/{name}."""

    @extend_schema(
        operation_id="tool_get",
        summary="Read a tool, with the decision on calling it",
        responses={
            200: OpenApiResponse(TOOL, description="The active version, or name@version."),
            401: PROBLEMS[401],
            404: PROBLEMS[404],
            422: PROBLEMS[422],
            503: PROBLEMS[503],
        },
    )
    def get(self, request: Request, name: str) -> Response:
        found = tool_resolve(name, caller(request).persona_id)
        if found.assigned_by is None:
            raise tool_missing(found.name)
        decision = call_decide(caller(request), found)
        return Response({**tool_view(found.version), "decision": decision.as_dict()})
