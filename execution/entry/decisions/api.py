"""REST for decisions: POST decisions/simulate."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import InvalidRequest
from core.keyset import page_after
from execution.entry.decisions import openapi
from execution.entry.decisions.simulate import (
    asker_check,
    call_simulate,
    capabilities_simulate,
    own_simulate,
    persona_asked,
    request_supposed,
)
from registry.bodies import body_check
from registry.personas.selectors import callers_of, decisions_of, tool_callers
from registry.selectors import tool_detail, tools_assigned
from security.decisions import Decision
from security.principals import PersonaPrincipal, caller
from security.sharing.reach import within


class DecisionSimulate(APIView):
    """POST decisions/simulate."""

    explains = True

    @extend_schema(**openapi.SIMULATE)
    def post(self, request: Request) -> Response:
        body: Any = request.data
        question = _question(body)
        body_check(openapi.VALIDATORS[question], body)
        return Response(_ANSWERS[question](caller(request), body))


def _question(body: Any) -> str:
    """Which form the body means, by its members. Raises InvalidRequest."""
    if not isinstance(body, dict):
        raise InvalidRequest("The body must be an object.")
    if "required" in body or "held" in body:
        return "capabilities"
    if "persona" in body:
        return "call" if "tool" in body else "persona"
    if "tool" in body:
        return "tool"
    raise InvalidRequest("Give persona and tool, one of the two, or required and held.")


def _call(by: PersonaPrincipal, body: Mapping[str, Any]) -> dict[str, Any]:
    persona = persona_asked(by, body["persona"])
    name, request, known = _named(body), request_supposed(body), "arguments" in body
    if persona.name == by.persona:
        return own_simulate(persona, name, request, known=known, responsible_id=by.responsible_id).as_dict()
    tool_detail(name.partition("@")[0], asker_check(by))
    return call_simulate(persona, name, request, known=known).as_dict()


def _named(body: Mapping[str, Any]) -> str:
    """The tool's name. Raises InvalidRequest for one that no database takes."""
    name: str = body["tool"]
    if "\0" in name:
        message = "No tool has a NUL in its name."
        raise InvalidRequest(message, errors=[{"pointer": "/tool", "message": message}])
    return name


def _persona(by: PersonaPrincipal, body: Mapping[str, Any]) -> dict[str, Any]:
    persona = persona_asked(by, body["persona"])
    seen = tools_assigned(persona.pk)
    if persona.name != by.persona:
        seen = within(asker_check(by), seen, "registry.view_tool")
    rows, more = page_after(seen, body, key="name", descending=False)
    tools = [
        {"tool": row.tool.name, "version": row.version, **_verdict(row.decision)}
        for row in decisions_of(persona, rows)
    ]
    nothing = f"No tool is assigned to {persona.name}. An admin can assign one."
    reason = None if rows or body.get("after") else nothing
    return {"persona": persona.name, "tools": tools, "next": more, "reason": reason}


def _tool(by: PersonaPrincipal, body: Mapping[str, Any]) -> dict[str, Any]:
    person = asker_check(by)
    tool = tool_detail(_named(body), person)
    rows, more = page_after(tool_callers(tool, person), body, key="name", descending=False)
    personas = [
        {"persona": row.persona.name, "version": row.version, **_verdict(row.decision)}
        for row in callers_of(tool, rows)
    ]
    nothing = f"{tool.name} is assigned to nobody. An admin can assign it."
    reason = None if rows or body.get("after") else nothing
    return {"tool": tool.name, "personas": personas, "next": more, "reason": reason}


def _capabilities(by: PersonaPrincipal, body: Mapping[str, Any]) -> dict[str, Any]:
    check, warnings = capabilities_simulate(body["required"], body["held"])
    decision = Decision((check,))
    return {"allowed": decision.allowed, "decision": decision.as_dict(), "warnings": warnings}


def _verdict(decision: Decision) -> dict[str, Any]:
    failed = decision.failure
    reason = failed.reason if failed else " ".join(decision.grounds)
    return {
        "allowed": failed is None,
        "code": failed.code if failed else None,
        "reason": reason,
        "remedy": failed.remedy if failed else "",
        "who": failed.who if failed else "",
    }


_ANSWERS = {"call": _call, "persona": _persona, "tool": _tool, "capabilities": _capabilities}
