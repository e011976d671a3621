"""REST for tiers and feature flags."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.edits import TOOL_FLAG
from registry.models import Tool
from registry.policy import openapi_tiers as openapi
from registry.policy.named import flag_named, tool_named
from registry.selectors import tool_detail
from security.acting import PERSONAS, acting, person_answering, reading
from security.edits import FLAG, TIER
from security.idempotency import creates
from security.loosening import setters_view
from security.models import User
from security.policy.models import Flag, Tier
from security.policy.selectors import flag_detail, flagged_tools, flags_page, tier_detail, tiers_page
from security.policy.tiers import (
    flag_create,
    flag_delete,
    flag_require,
    flag_switch,
    tier_change,
    tier_create,
    tier_delete,
)
from security.principals import caller


def tier_view(tier: Tier) -> dict[str, Any]:
    """As the API tells it."""
    return {
        "name": tier.name,
        "description": tier.description,
        "capabilities": tier.capabilities,
        "flags": tier.flags,
        "personas": tier.standings.count(),
        "set_by": setters_view(("tier", tier.name), "tier"),
    }


def flag_view(flag: Flag, by: User) -> dict[str, Any]:
    """As the API tells it; of the tools that need it those that the person sees."""
    tools = sorted(flagged_tools(by).filter(flag=flag).values_list("tool", flat=True))
    return {
        "name": flag.name,
        "description": flag.description,
        "state": flag.state,
        "tools": tools,
        "set_by": setters_view(("flag", flag.name), "flag"),
    }


class Tiers(APIView):
    """GET and POST tiers."""

    @extend_schema(**openapi.TIERS)
    def get(self, request: Request) -> Response:
        acting(caller(request), "policy.view_tier", PERSONAS)
        rows, more = page_after(tiers_page({}), request.query_params)
        return Response({"tiers": [tier_view(row) for row in rows], "next": more})

    @creates(openapi.TIER_CREATE)
    def post(self, request: Request) -> Response:
        body = _body("tier", request.data)
        granted = {name: body.pop(name) for name in ("capabilities", "flags") if name in body}
        with transaction.atomic():
            tier = tier_create(by=caller(request), **body)
            if granted:
                tier_change(by=caller(request), tier=tier, **granted)
        return Response(tier_view(tier_detail(tier.name)), status=201)


class TierDetail(APIView):
    """GET, PATCH and DELETE tiers/{name}."""

    @extend_schema(**tagged_read(openapi.TIER_READ))
    def get(self, request: Request, name: str) -> Response:
        acting(caller(request), "policy.view_tier", PERSONAS)
        return _tier(name)

    @extend_schema(**versioned(openapi.TIER_CHANGE))
    def patch(self, request: Request, name: str) -> Response:
        acting(caller(request), "policy.change_tier", PERSONAS)
        tier, body = tier_detail(name), _body("tier_change", request.data)
        with editing(TIER.of(tier), if_match(request), body):
            tier_change(by=caller(request), tier=tier, **body)
        return _tier(name)

    @extend_schema(**versioned(openapi.TIER_DELETE))
    def delete(self, request: Request, name: str) -> HttpResponse:
        acting(caller(request), "policy.delete_tier", PERSONAS)
        tier = tier_detail(name)
        with editing(TIER.of(tier), if_match(request)):
            tier_delete(by=caller(request), tier=tier)
        return HttpResponse(status=204)


class Flags(APIView):
    """GET and POST flags."""

    @extend_schema(**openapi.FLAGS)
    def get(self, request: Request) -> Response:
        by = reading(caller(request), "policy.view_flag", PERSONAS)
        rows, more = page_after(flags_page({}, by), request.query_params)
        return Response({"flags": [flag_view(row, by) for row in rows], "next": more})

    @creates(openapi.FLAG_CREATE)
    def post(self, request: Request) -> Response:
        flag = flag_create(by=caller(request), **_body("flag", request.data))
        return Response(flag_view(flag, person_answering(caller(request))), status=201)


class FlagDetail(APIView):
    """GET, PATCH and DELETE flags/{name}."""

    @extend_schema(**tagged_read(openapi.FLAG_READ))
    def get(self, request: Request, name: str) -> Response:
        return _flag(name, reading(caller(request), "policy.view_flag", PERSONAS))

    @extend_schema(**versioned(openapi.FLAG_CHANGE))
    def patch(self, request: Request, name: str) -> Response:
        acting(caller(request), "policy.change_flag", PERSONAS)
        flag, body = flag_detail(name), _body("flag_change", request.data)
        with editing(FLAG.of(flag), if_match(request), body):
            flag_switch(by=caller(request), flag=flag, **body)
        return _flag(name, person_answering(caller(request)))

    @extend_schema(**versioned(openapi.FLAG_DELETE))
    def delete(self, request: Request, name: str) -> HttpResponse:
        acting(caller(request), "policy.delete_flag", PERSONAS)
        flag = flag_detail(name)
        with editing(FLAG.of(flag), if_match(request)):
            flag_delete(by=caller(request), flag=flag)
        return HttpResponse(status=204)


class ToolFlag(APIView):
    """GET and PUT tools/{name}/flag."""

    @extend_schema(**tagged_read(openapi.TOOL_FLAG_READ))
    def get(self, request: Request, name: str) -> Response:
        return _tool_flag(tool_detail(name, reading(caller(request), "policy.view_flag", PERSONAS)).name)

    @extend_schema(**versioned(openapi.TOOL_FLAG))
    def put(self, request: Request, name: str) -> Response:
        acting(caller(request), "policy.change_flag", PERSONAS)
        body = _body("tool_flag", request.data)
        flag = flag_named(body["flag"] or "")
        tool = tool_named(name, reading(caller(request), "policy.change_flag", PERSONAS))
        with editing(TOOL_FLAG.of(Tool.objects.get(name=tool)), if_match(request), body):
            flag_require(by=caller(request), tool=tool, flag=flag)
        return _tool_flag(tool)


def _tier(name: str) -> Response:
    tier = tier_detail(name)
    return tagged(Response(tier_view(tier)), TIER.of(tier))


def _flag(name: str, by: User) -> Response:
    flag = flag_detail(name)
    return tagged(Response(flag_view(flag, by)), FLAG.of(flag))


def _tool_flag(tool: str) -> Response:
    thing = TOOL_FLAG.of(Tool.objects.get(name=tool))
    return tagged(Response(dict(thing.state)), thing)


def _body(form: str, body: Any) -> dict[str, Any]:
    body_check(openapi.VALIDATORS[form], body)
    return dict(body)
