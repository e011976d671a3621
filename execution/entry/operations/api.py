"""REST for S4's request form: POST execute."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from core.errors import ToolHubError
from execution.engine.submit import Manner
from execution.engine.waiters import WAITERS
from execution.entry.operations.chain import chain_execute
from execution.entry.operations.discover import tools_discover
from execution.entry.operations.openapi import OPERATION
from execution.entry.operations.requests import operation_read
from execution.entry.operations.single import single_execute
from execution.entry.operations.validate import calls_validate
from execution.entry.operations.words import Answer
from execution.runs.preferences import key_read, manner_read
from security.principals import PersonaPrincipal, caller


class Execute(APIView):
    """POST execute."""

    explains = True

    @extend_schema(**OPERATION)
    def post(self, request: Request) -> HttpResponse:
        body = request.data
        operation = operation_read(body)
        manner = manner_read(request.headers.get("Prefer", ""))
        key = key_read(request.headers.get("Idempotency-Key"))
        answer = operation_carry_out(operation, caller(request), body, manner, key)
        response = HttpResponse(orjson.dumps(answer.body), content_type="application/json")
        if answer.open_run:
            response.status_code = 202
            response["Location"] = f"/api/v1/runs/{answer.open_run.pk}"
            response["Retry-After"] = str(WAITERS.retry_after_s())
        if manner.detached and operation == "execute_single":
            response["Preference-Applied"] = "respond-async"
        return response


def operation_carry_out(
    operation: str, principal: PersonaPrincipal, body: Mapping[str, Any], manner: Manner, key: str | None
) -> Answer:
    """Carries out an operation whose body fits its form. Raises ToolHubError."""
    match operation:
        case "execute_single":
            return single_execute(principal, body, manner, key)
        case "execute_chain":
            return chain_execute(principal, body, manner, key)
        case "discover":
            return tools_discover(principal, body)
        case "validate":
            return calls_validate(principal, body)
    raise ToolHubError("orchestrate comes with compositions; this hub has none yet.", code="NOT_AVAILABLE")
