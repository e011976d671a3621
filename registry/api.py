"""REST for tools, as a persona sees them."""

import itertools
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import NotFound
from core.keyset import cursor_make, cursor_read
from core.openapi import PROBLEMS
from registry.collections.selectors import sight_of
from registry.contracts import CATEGORIES
from registry.filters import ToolFilter, filter_query, tools_filtered
from registry.formats import FORMATS, FORMATS_MEANING, TEXT, format_read, tools_converted, tools_text
from registry.models import Tool, ToolVersion
from registry.selectors import call_decide, tool_missing, tool_resolve, tools_assigned
from registry.types import TYPES, type_of
from security.policy.usage import policy_told
from security.principals import PersonaPrincipal, caller
from toolhub_sdk.visible_text import text_seen

PAGE = 100
CURSOR = "tools"
TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "examples": ["toolhub-data/echo@1.0.0"]},
        "name": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "category": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "documentation": {"type": "string"},
        "type": {"type": "string", "enum": list(TYPES)},
        "version": {"type": "string"},
        "state": {"type": "string"},
        "sideEffects": {"type": "string"},
        "determinism": {"type": "string"},
        "requiredCapabilities": {"type": "array", "items": {"type": "string"}},
        "inputSchema": {"type": "object"},
        "dynamic": {
            "type": "boolean",
            "description": "Whether the arguments depend on the context, see `POST tools/{name}/schema`.",
        },
        "outputSchema": {"type": ["object", "null"]},
        "annotations": {"type": "object"},
    },
}
TOOL_DETAIL: dict[str, Any] = {
    **TOOL,
    "properties": {
        **TOOL["properties"],
        "contract": {
            "type": "object",
            "description": "What the version declares: bounds, rules, errors, examples and more.",
        },
        "decision": {"type": "object", "description": "Whether this caller may call it, and why."},
    },
}
TOOL_LIST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tools": {"type": "array", "items": TOOL},
        "next": {"type": ["string", "null"], "description": "Give it as `after` for the next page."},
        "reason": {"type": ["string", "null"], "description": "Why the list is empty."},
        "warnings": {
            "type": "array",
            "description": "With `format`: tools without such a form, and those that are `dynamic`.",
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}


def tool_view(version: ToolVersion) -> dict[str, Any]:
    """A tool as callers see it: MCP's members, and what its contract declares."""
    definition = version.definition
    overlay = version.tool.overlay
    return {
        "id": f"{version.tool.package.name}/{version.tool.name}@{version.version}",
        "name": version.tool.name,
        "title": definition.get("title", version.tool.name),
        "description": definition.get("description", ""),
        "category": version.tool.category,
        "tags": overlay.get("tags") or version.declared.get("tags", []),
        "documentation": overlay.get("documentation") or version.declared.get("documentation", ""),
        "type": type_of(version.runner),
        "version": version.version,
        "state": version.state,
        "sideEffects": "pure" if version.is_pure else "impure",
        "determinism": version.determinism,
        "requiredCapabilities": version.required_capabilities,
        "inputSchema": definition["inputSchema"],
        "dynamic": version.is_dynamic,
        "outputSchema": definition.get("outputSchema"),
        "annotations": definition.get("annotations", {}),
    }


def _active(tool: Tool) -> ToolVersion:
    version = tool.active
    if version is None:  # the selector leaves such tools out
        raise NotFound(f"{tool.name} has no active version.", code="TOOL_NOT_FOUND")
    version.tool = tool
    return version


@dataclass(frozen=True)
class ToolPage:
    """At most 100 tools by name; `next` is the next page's cursor, `reason` says why the list is empty."""

    versions: tuple[ToolVersion, ...]
    next: str | None = None
    reason: str | None = None


def tools_page(principal: PersonaPrincipal, wanted: ToolFilter, after: str | None = None) -> ToolPage:
    """A page of the tools that a persona sees and the filter admits, behind the cursor `after`.

    Raises InvalidRequest.
    """
    if not principal.persona_active:
        # What may not be called is not offered: a list that a model takes for granted costs it a turn.
        reason = f"The persona {principal.persona} is switched off. An operator or an admin can switch it on."
        return ToolPage((), reason=reason)
    rows = tools_assigned(principal.persona_id)
    if after is not None:
        rows = rows.filter(name__gt=cursor_read(CURSOR, after))
    if wanted.collection:
        named = sight_of(principal.persona_id).collections.filter(name=wanted.collection)
        rows = rows.filter(memberships__collection__in=named)
    tools = list(itertools.islice(tools_filtered(rows, wanted), PAGE + 1))
    return ToolPage(
        tuple(_active(tool) for tool in tools[:PAGE]),
        next=cursor_make(CURSOR, tools[PAGE - 1].name) if len(tools) > PAGE else None,
        reason=None if tools or after else _reason(principal, wanted),
    )


def tools_view(principal: PersonaPrincipal, wanted: ToolFilter, after: str | None = None) -> dict[str, Any]:
    """The page as `{tools, next, reason}`. Raises InvalidRequest."""
    page = tools_page(principal, wanted, after)
    return {"tools": [tool_view(row) for row in page.versions], "next": page.next, "reason": page.reason}


def _reason(principal: PersonaPrincipal, wanted: ToolFilter) -> str:
    if wanted != ToolFilter() and tools_assigned(principal.persona_id).exists():
        return f"None of the tools of {principal.persona} passes the filter."
    return f"No tool is assigned to {principal.persona}. An admin can assign one."


class ToolList(APIView):
    """GET tools."""

    explains = True

    @extend_schema(
        operation_id="tools_list",
        summary="List the tools that the caller may see",
        parameters=[
            OpenApiParameter("type", str, enum=TYPES, many=True, description="One of these."),
            OpenApiParameter("category", str, enum=CATEGORIES, many=True, description="One of these."),
            OpenApiParameter("tags", str, many=True, description="All of these."),
            OpenApiParameter(
                "capabilities", str, many=True, description="Tools that need all of these, as declared."
            ),
            OpenApiParameter("min_version", str, description="At least this (semver 2.0.0)."),
            OpenApiParameter("max_version", str, description="At most this (semver 2.0.0)."),
            OpenApiParameter(
                "pattern",
                str,
                description="A regular expression without look-around and back-references, found in name or "
                "description whatever the case.",
            ),
            OpenApiParameter("collection", str, description="Tools of the collection of this name."),
            OpenApiParameter("after", str, description="The `next` of the page before."),
            OpenApiParameter("format", str, enum=FORMATS, description=FORMATS_MEANING),
        ],
        responses={
            200: OpenApiResponse(TOOL_LIST, description="At most 100, by name."),
            401: PROBLEMS[401],
            422: PROBLEMS[422],
            503: PROBLEMS[503],
        },
    )
    def get(self, request: Request) -> Response | HttpResponse:
        wanted_format = format_read(request.query_params)
        wanted, after = filter_query(request.query_params), request.query_params.get("after") or None
        if wanted_format is None:
            return Response(tools_view(caller(request), wanted, after))
        page = tools_page(caller(request), wanted, after)
        if wanted_format == TEXT:
            return HttpResponse(
                text_seen(tools_text(page.versions)), content_type="text/plain; charset=utf-8"
            )
        return Response(
            {**tools_converted(wanted_format, page.versions), "next": page.next, "reason": page.reason}
        )


class ToolDetail(APIView):
    """GET tools/{name}."""

    explains = True

    @extend_schema(
        operation_id="tool_get",
        summary="Read a tool, with the decision on calling it",
        responses={
            200: OpenApiResponse(TOOL_DETAIL, description="The active version, or name@version."),
            401: PROBLEMS[401],
            404: PROBLEMS[404],
            422: PROBLEMS[422],
            503: PROBLEMS[503],
        },
    )
    def get(self, request: Request, name: str) -> Response:
        persona_id = caller(request).persona_id
        found = tool_resolve(name, persona_id)
        if found.assigned_by is None:
            raise tool_missing(found.name, persona_id)
        policy = policy_told(found.policy, persona_id)
        decision = call_decide(caller(request), replace(found, policy=policy))
        contract = {name: value for name, value in found.version.declared.items() if name != "function"}
        view = {**tool_view(found.version), "contract": contract}
        return Response({**view, "decision": decision.as_dict()})
