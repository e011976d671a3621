"""REST for approvals: a bot of the people who approve, never the caller itself."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.actors import Actor
from core.errors import Denied
from core.keyset import page_after
from execution.features.approvals import openapi
from execution.features.approvals.decide import approval_delegate, approval_deny, approval_grant
from execution.features.approvals.eyes import APPROVE
from execution.features.approvals.selectors import approval_get, approval_view, approvals_waiting
from registry.bodies import body_check
from security.acting import reading
from security.models import User
from security.principals import caller

APPROVALS = "toolhub:approvals"
"""The capability with which an agent tells the decisions of its responsible person."""
PAGE = 50


class Approvals(APIView):
    """GET approvals."""

    @extend_schema(**openapi.LIST)
    def get(self, request: Request) -> Response:
        waiting = approvals_waiting(reading(caller(request), APPROVE, APPROVALS))
        rows, more = page_after(waiting, request.query_params, descending=False, count=PAGE)
        return Response({"approvals": [approval_view(one) for one in rows], "next": more})


class ApprovalDetail(APIView):
    """GET approvals/{id}."""

    @extend_schema(**openapi.READ)
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(approval_view(approval_get(pk, reading(caller(request), APPROVE, APPROVALS))))


def _act(request: Request, pk: UUID, word: str, act: Callable[[User, Actor, Any], object]) -> Response:
    person = reading(caller(request), APPROVE, APPROVALS)
    body: Any = request.data or {}
    body_check(openapi.VALIDATORS[word], body)
    approval = approval_get(pk, person)
    if approval.run.persona_id == caller(request).persona_id:
        raise Denied("A persona does not decide on its own calls.")
    act(person, caller(request).actor, body)
    return Response(approval_view(approval_get(pk, person)))


class ApprovalApprove(APIView):
    """POST approvals/{id}/approve."""

    @extend_schema(**openapi.act("approval_approve", "Approve a call", openapi.GRANT))
    def post(self, request: Request, pk: UUID) -> Response:
        return _act(
            request,
            pk,
            "approve",
            lambda by, actor, body: approval_grant(
                by=by,
                actor=actor,
                approval_id=pk,
                reason=body.get("reason", ""),
                hours=body.get("hours", 0),
                session=body.get("session", False),
            ),
        )


class ApprovalDeny(APIView):
    """POST approvals/{id}/deny."""

    @extend_schema(**openapi.act("approval_deny", "Deny a call", openapi.DENY))
    def post(self, request: Request, pk: UUID) -> Response:
        return _act(
            request,
            pk,
            "deny",
            lambda by, actor, body: approval_deny(by=by, actor=actor, approval_id=pk, reason=body["reason"]),
        )


class ApprovalDelegate(APIView):
    """POST approvals/{id}/delegate."""

    @extend_schema(**openapi.act("approval_delegate", "Hand a decision to somebody else", openapi.DELEGATE))
    def post(self, request: Request, pk: UUID) -> Response:
        return _act(
            request,
            pk,
            "delegate",
            lambda by, actor, body: approval_delegate(by=by, actor=actor, approval_id=pk, to=body["to"]),
        )
