"""What this hub can do, for who asks before they call: operations, kinds of tools, formats and bounds."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.codes import CODES
from core.json.strict import DEFAULT
from core.openapi import PROBLEMS
from execution.engine.requests import ISOLATION_LEVELS
from execution.engine.runtimes import RUNTIMES
from execution.entry.operations.forms import CALLS_MAX, OPERATIONS
from execution.features.retry.policies import POLICIES
from registry.contracts import CATEGORIES, DETERMINISM, OUTPUT_BYTES, OUTPUT_MOST, TIMEOUT_MOST, TIMEOUT_MS
from registry.formats import FORMATS
from registry.types import TYPES

# What the form of requests names and nothing carries out yet.
LATER = frozenset({"orchestrate"})
_NAMES = {"type": "array", "items": {"type": "string"}}
_SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "operations": _NAMES,
        "tool_types": _NAMES,
        "runners": {**_NAMES, "description": "What carries tools out."},
        "categories": _NAMES,
        "determinism": _NAMES,
        "isolation_levels": _NAMES,
        "retry_policies": _NAMES,
        "formats": {**_NAMES, "description": "In which `GET tools` gives tools."},
        "error_codes": _NAMES,
        "limits": {"type": "object", "description": "Times in ms, sizes in bytes; 0 for no bound."},
    },
}


def capabilities() -> dict[str, Any]:
    """The same for everybody: what a caller may do of it is for its persona's rights to say."""
    return {
        "operations": [name for name in OPERATIONS if name not in LATER],
        "tool_types": list(TYPES),
        "runners": sorted(RUNTIMES.load()),
        "categories": list(CATEGORIES),
        "determinism": list(DETERMINISM),
        "isolation_levels": list(ISOLATION_LEVELS),
        "retry_policies": list(POLICIES),
        "formats": list(FORMATS),
        "error_codes": list(CODES),
        "limits": {
            "request_bytes": DEFAULT.max_bytes,
            "request_depth": DEFAULT.max_depth,
            "chain_calls": CALLS_MAX,
            "timeout_ms_default": TIMEOUT_MS,
            "timeout_ms_most": TIMEOUT_MOST,
            "output_bytes_default": OUTPUT_BYTES,
            "output_bytes_most": OUTPUT_MOST,
            "wait_ms_most": int(settings.WAIT_MAX_S * 1000),
            "runs_of_a_session": settings.SESSION_RUNS_MAX,
            "runs_of_a_persona": settings.PERSONA_RUNS_MAX,
            "runs_of_the_hub": settings.HUB_RUNS_MAX,
        },
    }


class Capabilities(APIView):
    """GET capabilities."""

    @extend_schema(
        operation_id="capabilities",
        summary="Read what this hub can do",
        responses={200: OpenApiResponse(_SHAPE, description="Names and bounds."), 401: PROBLEMS[401]},
    )
    def get(self, request: Request) -> Response:
        return Response(capabilities())
