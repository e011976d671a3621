"""REST for callbacks."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.openapi import answers
from execution.engine.selectors import run_of
from execution.features.callbacks.again import callback_redeliver
from execution.features.callbacks.openapi import REDELIVERED
from execution.features.callbacks.state import callback_view
from security.principals import caller


class RunRedeliver(APIView):
    """POST runs/{id}/redeliver."""

    @extend_schema(
        operation_id="run_redeliver",
        summary="Send a run's callback again",
        request=None,
        responses=answers({202: REDELIVERED}, 401, 404, 409, 410, 422, 503),
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        run = run_of(run_id, caller(request).persona_id)
        callback_redeliver(by=caller(request).actor, run=run)
        return Response({"callback": callback_view(run)}, status=202)
