"""The caller's preferences: `Prefer: wait=N, respond-async` (RFC 7240), and `?wait=`."""

import re

from django.conf import settings

from core.errors import InvalidRequest
from execution.runs.services import Manner

_WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,9})\"?", re.IGNORECASE)


def manner_read(header: str) -> Manner:
    """How to serve a caller by its Prefer header. Preferences that are unknown are ignored (§2)."""
    parts = [part.strip() for part in header.split(",") if part.strip()]
    wait = next(
        (float(found[1]) for part in parts if (found := _WAIT.fullmatch(part))),
        float(settings.WAIT_DEFAULT_S),
    )
    detached = any(part.lower() == "respond-async" for part in parts)
    return Manner(min(wait, float(settings.WAIT_MAX_S)), detached)


def wait_read(text: str | None) -> float:
    """Seconds of `?wait=`, at most 120; 0 when absent. Raises InvalidRequest."""
    if text is None:
        return 0.0
    if not re.fullmatch(r"\d{1,9}", text):
        raise InvalidRequest(
            "wait must be whole seconds.", errors=[{"pointer": "/wait", "message": "whole seconds"}]
        )
    return min(float(text), float(settings.WAIT_MAX_S))
