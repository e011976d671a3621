"""The forms of personas and their rights, and what the API's description says of them."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from registry.policy.openapi import (
    AFTER,
    LIMIT,
    NAME,
    REASON,
    RESTRICTION,
    SET_BY,
    TIME,
    TIME_OR_NULL,
    form,
    operation,
    page_of,
)
from registry.schemas import validator_build
from security.conditions import APPROVAL, CONDITIONS_MAX, KINDS, SESSION
from security.safeguards import ISOLATION
from security.services import OVERLAP_HOURS_MAX, TOKEN_DAYS_MAX

_TITLE, _DESCRIPTION = {"type": "string", "maxLength": 120}, {"type": "string", "maxLength": 10_000}
_WHO_WHEN = {"by": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}}
_CAPABILITY = {"type": "string", "minLength": 1, "maxLength": 120}
_NO_MORE = "An agent gives no more than it holds itself, and nothing to its own persona."
CONDITION: dict[str, Any] = {
    "type": "object",
    "description": "What the arguments have to be for the grant to count; all conditions have to hold.",
    "properties": {
        "kind": {"type": "string", "enum": [*KINDS, "cel", APPROVAL, SESSION]},
        "argument": {"type": "string", "maxLength": 500, "description": "A JSON Pointer: /path"},
        "values": {"type": "array", "items": {"type": "string"}, "description": "Folders, hosts or texts"},
        "expression": {"type": "string", "description": "CEL over `arguments`"},
    },
    "required": ["kind"],
}
_CONDITIONS = {"type": "array", "maxItems": CONDITIONS_MAX, "items": CONDITION}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


GRANT = _object(
    id={"type": "integer"},
    capability={"type": "string"},
    reason={"type": "string"},
    expires_at=TIME_OR_NULL,
    conditions=_CONDITIONS,
    **_WHO_WHEN,
    changed_at={**TIME_OR_NULL, "description": "When `by` changed it last"},
)
ASSIGNMENT = _object(
    id={"type": "integer"},
    tool={"type": ["string", "null"]},
    package={"type": ["string", "null"]},
    collection={"type": ["string", "null"]},
    **_WHO_WHEN,
)
TOKEN = _object(
    id={"type": "integer"},
    name={"type": "string"},
    prefix={"type": "string", "description": "The text's beginning, to know it by"},
    state={"type": "string", "enum": ["valid", "expired", "revoked"]},
    responsible={"type": "string"},
    created_at={"type": "string", "format": "date-time"},
    expires_at={"type": "string", "format": "date-time"},
    last_used_at={**TIME_OR_NULL, "description": "To the minute"},
    revoked_at=TIME_OR_NULL,
    made_with={
        "type": ["string", "null"],
        "description": "The prefix of the token with which an agent made it, and with which it ends",
    },
)
TOKEN_MADE = _object(
    **TOKEN["properties"],
    token={"type": "string", "description": "The token itself. It is told this once and kept nowhere."},
)
_IN_SHORT = {
    "name": {"type": "string"},
    "title": {"type": "string"},
    "description": {"type": "string"},
    "active": {"type": "boolean"},
    "isolation": {"type": "string", "enum": list(ISOLATION)},
    "tier": {"type": ["string", "null"]},
}
PERSONA_SHORT = _object(**_IN_SHORT)
PERSONA = _object(
    **_IN_SHORT,
    set_by=SET_BY,
    grants={"type": "array", "items": GRANT},
    limits={"type": "array", "items": LIMIT},
    restrictions={"type": "array", "items": RESTRICTION},
)
_CONDITIONS_GIVEN = {
    **_CONDITIONS,
    "items": {"type": "object", "description": CONDITION["description"]},
}
FORMS = {
    "persona": form({"name": NAME, "title": _TITLE, "description": _DESCRIPTION}, "name"),
    "persona_change": form(
        {
            "title": _TITLE,
            "description": _DESCRIPTION,
            "active": {"type": "boolean"},
            "isolation": {"type": "string", "enum": list(ISOLATION)},
            "tier": {"type": ["string", "null"], "maxLength": 64},
        }
    ),
    "assignment": {
        **form({"tool": NAME, "package": NAME, "collection": NAME}),
        "oneOf": [{"required": ["tool"]}, {"required": ["package"]}, {"required": ["collection"]}],
    },
    "grant": form(
        {
            "capability": _CAPABILITY,
            "reason": REASON,
            "expires_at": TIME,
            "conditions": _CONDITIONS_GIVEN,
        },
        "capability",
        "reason",
    ),
    "grant_change": form({"reason": REASON, "expires_at": TIME_OR_NULL, "conditions": _CONDITIONS_GIVEN}),
    "token": form(
        {
            "name": {"type": "string", "minLength": 1, "maxLength": 80, "description": "What it is used for"},
            "days": {"type": "integer", "minimum": 1, "maximum": TOKEN_DAYS_MAX, "default": 90},
        },
        "name",
    ),
    "token_rotate": form(
        {
            "overlap_hours": {
                "type": "integer",
                "minimum": 0,
                "maximum": OVERLAP_HOURS_MAX,
                "default": 24,
                "description": "So long the old one goes on",
            },
            "days": {
                "type": "integer",
                "minimum": 1,
                "maximum": TOKEN_DAYS_MAX,
                "description": "Without it: as long as the old one was made for",
            },
        }
    ),
}
VALIDATORS = {name: validator_build(made) for name, made in FORMS.items()}
PERSONAS_LIST = operation("personas_list", "List personas", page_of("personas", PERSONA_SHORT)) | {
    "parameters": [OpenApiParameter("q", str, description="A part of name or title."), AFTER]
}
PERSONA_CREATE = operation(
    "persona_create",
    "Make a persona without any right",
    PERSONA,
    body=FORMS["persona"],
    example={"name": "researcher", "title": "Research"},
    status=201,
)
PERSONA_READ = operation(
    "persona_get",
    "Read a persona with all that its calls are decided by",
    PERSONA,
    said="An agent reads its own persona freely.",
)
PERSONA_CHANGE = operation(
    "persona_change",
    "Change what holds for a persona as a whole",
    PERSONA,
    body=FORMS["persona_change"],
    example={"isolation": "strict"},
    said="`isolation` is the least that its calls are held with; empty: as tools ask."
    " `active` false refuses its next call.",
)
ASSIGNMENTS = operation(
    "assignments_list", "List what a persona sees", page_of("assignments", ASSIGNMENT)
) | {"parameters": [AFTER]}
ASSIGNMENT_CREATE = operation(
    "assignment_create",
    "Let a persona see and call a tool, or all tools of a package or collection",
    ASSIGNMENT,
    body=FORMS["assignment"],
    example={"tool": "echo"},
    status=201,
    said=_NO_MORE,
)
ASSIGNMENT_DELETE = operation("assignment_delete", "Take an assignment back", None, status=204)
GRANTS = operation("grants_list", "List what is granted to a persona", page_of("grants", GRANT)) | {
    "parameters": [AFTER]
}
GRANT_CREATE = operation(
    "grant_create",
    "Grant a capability, from the next call on",
    GRANT,
    body=FORMS["grant"],
    example={
        "capability": "file:read",
        "reason": "Reads reports",
        "conditions": [{"kind": "path", "argument": "/path", "values": ["/srv/reports"]}],
    },
    status=201,
    said=_NO_MORE,
)
GRANT_READ = operation("grant_get", "Read a grant", GRANT)
GRANT_CHANGE = operation(
    "grant_change",
    "Change or renew a grant, from the next call on",
    GRANT,
    body=FORMS["grant_change"],
    example={"conditions": [{"kind": "path", "argument": "/path", "values": ["/srv/reports", "/srv/plans"]}]},
    said=f"What is left out stays; `expires_at: null` takes the end away. {_NO_MORE}",
)
GRANT_REVOKE = operation("grant_revoke", "Revoke a grant, from the next call on", None, status=204)
TOKENS = operation(
    "tokens_list", "List a persona's tokens, without their texts", page_of("tokens", TOKEN)
) | {"parameters": [AFTER]}
TOKEN_CREATE = operation(
    "token_create",
    "Make a token; its text is told this once",
    TOKEN_MADE,
    body=FORMS["token"],
    example={"name": "CI", "days": 30},
    status=201,
    said="Whoever is responsible for the caller is responsible for it."
    " An agent makes none for a persona that may do more than itself.",
)
TOKEN_ROTATE = operation(
    "token_rotate",
    "Make a new token in place of one that goes on for a while",
    TOKEN_MADE,
    body=FORMS["token_rotate"],
    example={"overlap_hours": 24},
    status=201,
    said="An agent rotates the token that it calls with, too; the new one then ends when that would have.",
)
TOKEN_REVOKE = operation("token_revoke", "Revoke a token, from the next call on", None, status=204)
