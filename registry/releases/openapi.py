"""What the API's description says of packages and releases."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from registry.content import MODES
from registry.contracts import CATEGORIES
from registry.installations.openapi import answers
from registry.models import VersionState
from registry.policy.openapi import SET_BY
from registry.releases.lifecycle import REASON_MAX
from registry.releases.overlay import TAG_MAX, TAGS_MAX, TEXT_MAX

_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}
RELEASE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "package": _TEXT,
        "version": _TEXT,
        "digest": _TEXT,
        "state": {"type": "string", "enum": VersionState.values},
        "reason": _TEXT,
        "active": {"type": "boolean"},
        "relation": {
            "type": ["string", "null"],
            "enum": ["newer", "older", "same", None],
            "description": "How its version stands to the one in use (semver 2.0.0 §11); null without one.",
        },
        "reviewed": {"type": "boolean"},
        "runner": _TEXT,
        "origin": {"type": "object"},
        "published_at": {"type": "string", "format": "date-time"},
    },
}
PACKAGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "title": _TEXT,
        "description": _TEXT,
        "version": {**_MAYBE, "description": "Of the release in use."},
        "installed": {"type": "boolean"},
        "tools": {"type": "array", "items": _TEXT},
        "releases": {
            "type": "array",
            "items": RELEASE,
            "description": "Highest version first; at most 51.",
        },
    },
}
REASON: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "minLength": 1, "maxLength": REASON_MAX}},
    "required": ["reason"],
    "additionalProperties": False,
}
OVERLAY: dict[str, Any] = {
    "type": "object",
    "description": "Replaces what people added to the tool; what is left out falls back to the release's.",
    "properties": {
        "category": {"type": "string", "enum": ["", *CATEGORIES]},
        "tags": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": TAG_MAX},
            "maxItems": TAGS_MAX,
        },
        "documentation": {"type": "string", "maxLength": TEXT_MAX},
        "notes": {"type": "string", "maxLength": TEXT_MAX},
        "approval": {"type": "boolean", "description": "A person approves each call."},
        "contentChecks": {
            "type": "string",
            "enum": ["", *MODES],
            "description": "What is done about what looks like an attack; empty: as the contract says.",
        },
        "sanitise": {"type": "boolean", "description": "The tool gets its arguments sanitised."},
    },
    "additionalProperties": False,
}
_CHANGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tool": _TEXT,
        "pointer": _TEXT,
        "kind": {"type": "string", "enum": ["added", "removed", "changed"]},
        "before": {},
        "after": {},
        "careful": {
            "type": "boolean",
            "description": "It widens what the tool may do, or breaks who calls it.",
        },
        "about": {"type": "string", "description": "The name of the object in whose list the place is."},
    },
}
LIST: dict[str, Any] = {
    "operation_id": "packages_list",
    "summary": "List packages by name",
    "parameters": [
        OpenApiParameter("q", str, description="Part of name, title or description."),
        OpenApiParameter("state", str, enum=["removed"], description="Those that were uninstalled."),
        OpenApiParameter("after", str, description="The `next` of the page before."),
    ],
    "responses": answers(
        200,
        {"type": "object", "properties": {"packages": {"type": "array", "items": PACKAGE}, "next": _MAYBE}},
        "At most 50.",
        422,
    ),
}
READ: dict[str, Any] = {
    "operation_id": "package_get",
    "summary": "Read a package with its releases",
    "responses": answers(200, PACKAGE, "The package.", 404),
}
UNINSTALL: dict[str, Any] = {
    "operation_id": "package_uninstall",
    "summary": "Uninstall a package",
    "description": "Runs, audit and digests stay. Refused while schedules, packages or open runs need it.",
    "parameters": [OpenApiParameter("force", bool, description="Uninstall it all the same.")],
    "responses": {**answers(204, None, "Uninstalled.", 404, 409)},
}
DEPENDENCIES: dict[str, Any] = {
    "operation_id": "package_dependencies",
    "summary": "Read the graph of tools that a package needs",
    "responses": answers(
        200,
        {
            "type": "object",
            "properties": {
                "nodes": {"type": "array", "items": {"type": "object"}},
                "edges": {"type": "array", "items": {"type": "object"}},
            },
        },
        "Packages, and who needs which tool of whom.",
        404,
    ),
}
COMPARE: dict[str, Any] = {
    "operation_id": "package_compare",
    "summary": "Compare two releases field by field",
    "parameters": [
        OpenApiParameter("from", str, required=True, description="A version."),
        OpenApiParameter("to", str, required=True, description="A version."),
    ],
    "responses": answers(
        200,
        {"type": "object", "properties": {"changes": {"type": "array", "items": _CHANGE}}},
        "At most 500 changes.",
        404,
        422,
    ),
}
RELEASE_READ: dict[str, Any] = {
    "operation_id": "release_get",
    "summary": "Read a release with its manifest",
    "responses": answers(200, RELEASE, "The release.", 404),
}
DOWNLOAD: dict[str, Any] = {
    "operation_id": "release_package",
    "summary": "Download a release as a reproducible zip",
    "responses": {
        **{code: answer for code, answer in answers(200, None, "", 404).items() if code != 200},
        (200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, description="The zip."),
    },
}


def act(operation: str, summary: str, body: Any = None) -> dict[str, Any]:
    """A change of a release's place or state."""
    problems = (400, 404, 409, 413, 422) if body else (404, 409)
    return {
        "operation_id": operation,
        "summary": summary,
        "request": {"application/json": body} if body else None,
        "responses": answers(200, RELEASE, "As it is now.", *problems),
    }


EDIT: dict[str, Any] = {
    "operation_id": "tool_overlay_edit",
    "summary": "Edit what people add to a tool",
    "request": {"application/json": OVERLAY},
    "responses": answers(200, OVERLAY, "The overlay as it is now.", 400, 404, 413, 422),
}
OVERLAY_READ: dict[str, Any] = {
    "operation_id": "tool_overlay_get",
    "summary": "Read what people added to a tool, and who set its safeguards",
    "responses": answers(
        200,
        {**OVERLAY, "properties": {**OVERLAY["properties"], "set_by": SET_BY}, "description": ""},
        "The overlay.",
        404,
    ),
}
