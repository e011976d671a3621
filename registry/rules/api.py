"""REST for the rules that people add to a tool."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.etags import if_match, tagged
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.edits import rule_edited
from registry.policy.named import persona_named
from registry.policy.openapi import form, operation
from registry.rules.reading import Told, rule_try, rules_told
from registry.rules.services import MESSAGE_MAX, POINTER_MAX, rule_add, rule_check, rule_named, rule_remove
from registry.schemas import validator_build
from registry.selectors import tool_detail
from security.acting import reading
from security.idempotency import creates
from security.policy.selectors import standing_of
from security.principals import caller
from toolhub_sdk.checks.rule_names import names_gone

_MANAGES = "The caller needs the capability `toolhub:packages`, and a responsible person with the permission."
_TEXTS = {
    "expression": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "CEL"},
    "message": {"type": "string", "minLength": 1, "maxLength": MESSAGE_MAX, "description": "For callers"},
    "pointer": {"type": "string", "maxLength": POINTER_MAX, "description": "The argument, such as /amount"},
}
RULE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        **_TEXTS,
        "by": {"type": "string"},
        "at": {"type": "string", "format": "date-time"},
        "gone": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Arguments that it names and the version in use lacks: it refuses each call",
        },
    },
}
_OUTCOME: dict[str, Any] = {
    "type": "object",
    "properties": {
        "holds": {"type": "boolean"},
        "message": {"type": ["string", "null"], "description": "What a caller would read"},
        "gone": {"type": "array", "items": {"type": "string"}},
    },
}
_FORM = form(_TEXTS, "expression", "message")
_TRY_FORM = form(
    {
        **_TEXTS,
        "arguments": {"type": "object"},
        "context": {"type": "object"},
        "persona": {"type": "string", "maxLength": 64},
    },
    "expression",
    "arguments",
)
_VALIDATOR, _TRY_VALIDATOR = validator_build(_FORM), validator_build(_TRY_FORM)
_AMOUNT = {"expression": "arguments.amount <= 100", "message": "At most 100 at once.", "pointer": "/amount"}
_ROWS = {"type": "object", "properties": {"rules": {"type": "array", "items": RULE}}}


def _said(*args: Any, **kwargs: Any) -> dict[str, Any]:
    made = operation(*args, **kwargs)
    return made | {"description": f"{kwargs.get('said', '')} {_MANAGES}".strip()}


def _view(told: Told) -> dict[str, Any]:
    return {**told.rule, "gone": list(told.gone)}


class Rules(APIView):
    """GET and POST tools/{name}/rules."""

    @extend_schema(**_said("tool_rules_list", "List the rules that were added to a tool", _ROWS))
    def get(self, request: Request, name: str) -> Response:
        tool = tool_detail(name, reading(caller(request), "registry.view_tool"))
        return Response({"rules": [_view(one) for one in rules_told(tool)]})

    @creates(
        _said(
            "tool_rule_add",
            "Add a rule to a tool's calls",
            RULE,
            body=_FORM,
            example=_AMOUNT,
            status=201,
            said="It holds from the next call on, whatever the version. It may name `arguments`, `context`,"
            " `context_data`, `persona` and `tier`.",
        )
    )
    def post(self, request: Request, name: str) -> Response:
        by, body = caller(request), request.data
        tool = tool_detail(name, reading(by, "registry.change_tool"))
        body_check(_VALIDATOR, body)
        made = rule_add(by=by, tool=tool, **body)
        schema = tool.active.definition.get("inputSchema", {}) if tool.active else {}
        return Response(_view(Told(made, names_gone(made, schema))), status=201)


class RuleDetail(APIView):
    """GET and DELETE tools/{name}/rules/{id}."""

    @extend_schema(**tagged_read(_said("tool_rule_get", "Read a rule that was added to a tool", RULE)))
    def get(self, request: Request, name: str, pk: int) -> Response:
        tool = tool_detail(name, reading(caller(request), "registry.view_tool"))
        rule_named(tool, pk)
        told = next(one for one in rules_told(tool) if one.rule["id"] == pk)
        return tagged(Response(_view(told)), rule_edited(tool, pk))

    @extend_schema(**versioned(_said("tool_rule_remove", "Take a rule away", None, status=204)))
    def delete(self, request: Request, name: str, pk: int) -> HttpResponse:
        by = caller(request)
        tool = tool_detail(name, reading(by, "registry.change_tool"))
        rule_named(tool, pk)
        with editing(rule_edited(tool, pk), if_match(request)):
            rule_remove(by=by, tool=tool, rule_id=pk)
        return HttpResponse(status=204)


class RuleTry(APIView):
    """POST tools/{name}/rules/try."""

    @extend_schema(
        **_said(
            "tool_rule_try",
            "Try a rule on arguments; nothing is called or kept",
            _OUTCOME,
            body=_TRY_FORM,
            example={**_AMOUNT, "arguments": {"amount": 150}},
        )
    )
    def post(self, request: Request, name: str) -> Response:
        person = reading(caller(request), "registry.view_tool")
        tool, body = tool_detail(name, person), request.data
        body_check(_TRY_VALIDATOR, body)
        texts = {"message": "It does not hold.", **{name: body[name] for name in _TEXTS if name in body}}
        rule = rule_check(**texts)
        persona = persona_named(body.get("persona", ""), person)
        who = (persona.name, standing_of(persona).tier) if persona else ("", "")
        said = rule_try(rule, body["arguments"], body.get("context", {}), *who)
        schema = tool.active.definition.get("inputSchema", {}) if tool.active else {}
        return Response({"holds": not said, "message": said or None, "gone": list(names_gone(rule, schema))})
