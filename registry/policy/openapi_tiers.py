"""The forms of tiers and flags, and what the API's description says of them."""

from typing import Any

from registry.policy.openapi import AFTER, ERRORS, NAME, SET_BY, form, operation, page_of
from registry.schemas import validator_build
from security.policy.models import Flag

_TEXT = {"type": "string", "maxLength": 300}
_NAMES = {"type": "array", "maxItems": 200, "items": {"type": "string", "minLength": 1, "maxLength": 120}}
_STATE = {"type": "string", "enum": Flag.State.values}
TIER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "capabilities": {"type": "array", "items": {"type": "string"}},
        "flags": {"type": "array", "items": {"type": "string"}},
        "personas": {"type": "integer", "description": "How many are on it"},
        "set_by": SET_BY,
    },
}
FLAG: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "state": _STATE,
        "tools": {"type": "array", "items": {"type": "string"}},
        "set_by": SET_BY,
    },
}
TIER_FORM = form({"name": NAME, "description": _TEXT, "capabilities": _NAMES, "flags": _NAMES}, "name")
TIER_CHANGE_FORM = form({"description": _TEXT, "capabilities": _NAMES, "flags": _NAMES})
FLAG_FORM = form({"name": NAME, "description": _TEXT, "state": _STATE}, "name")
FLAG_CHANGE_FORM = form({"state": _STATE}, "state")
TOOL_FLAG_FORM = form({"flag": {"type": ["string", "null"], "maxLength": 64}}, "flag")
VALIDATORS = {
    name: validator_build(made)
    for name, made in (
        ("tier", TIER_FORM),
        ("tier_change", TIER_CHANGE_FORM),
        ("flag", FLAG_FORM),
        ("flag_change", FLAG_CHANGE_FORM),
        ("tool_flag", TOOL_FLAG_FORM),
    )
}


_PRO = {"name": "pro", "capabilities": ["network:*"], "flags": []}
TIERS = {**operation("tiers_list", "List tiers", page_of("tiers", TIER)), "parameters": [AFTER]}
TIER_CREATE = operation("tier_create", "Make a tier", TIER, body=TIER_FORM, example=_PRO, status=201)
TIER_READ = operation("tier_get", "Read a tier", TIER)
TIER_CHANGE = operation(
    "tier_change",
    "Change what a tier grants",
    TIER,
    body=TIER_CHANGE_FORM,
    example={"capabilities": ["file:read"]},
)
TIER_DELETE = {**operation("tier_delete", "Delete a tier that nobody is on", None, status=204)}
TIER_DELETE["responses"] |= {409: ERRORS[409]}
FLAGS = {**operation("flags_list", "List feature flags", page_of("flags", FLAG)), "parameters": [AFTER]}
FLAG_CREATE = operation(
    "flag_create",
    "Make a feature flag",
    FLAG,
    body=FLAG_FORM,
    example={"name": "beta", "state": "tiers"},
    status=201,
)
FLAG_READ = operation("flag_get", "Read a feature flag", FLAG)
FLAG_CHANGE = operation(
    "flag_switch", "Switch a flag off, on, or to tiers", FLAG, body=FLAG_CHANGE_FORM, example={"state": "on"}
)
FLAG_DELETE = operation("flag_delete", "Delete a flag that nothing needs", None, status=204)
FLAG_DELETE["responses"] |= {409: ERRORS[409]}
TOOL_FLAG_READ = operation("tool_flag_get", "Read which flag a tool needs", TOOL_FLAG_FORM)
TOOL_FLAG = operation(
    "tool_flag_set",
    "Make a tool need a flag, or none",
    TOOL_FLAG_FORM,
    body=TOOL_FLAG_FORM,
    example={"flag": "beta"},
)
