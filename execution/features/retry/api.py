"""REST for retry policies."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.openapi import PROBLEMS
from execution.features.retry.policies import POLICIES

_LIST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "policies": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "maxRetries": {"type": "integer"},
                    "backoff": {"type": "object", "description": "Times in ms, as in a manifest."},
                    "retryableErrors": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["name", "maxRetries", "backoff"],
            },
        }
    },
}


class RetryPolicies(APIView):
    """GET retry-policies."""

    @extend_schema(
        operation_id="retry_policies",
        summary="List the retry policies that have names",
        responses={
            200: OpenApiResponse(_LIST, description="With their figures."),
            401: PROBLEMS[401],
        },
    )
    def get(self, request: Request) -> Response:
        named = [{"name": name, **policy.as_dict()} for name, policy in POLICIES.items()]
        return Response({"policies": named})
