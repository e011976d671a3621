"""The caller's preferences: `Prefer: wait=N, respond-async` (RFC 7240), and `?wait=`."""

import re

from django.conf import settings

from core.errors import InvalidRequest
from execution.engine.submit import Manner

# Firings of schedules have keys of this kind; a caller's must not stand in their way.
SCHEDULE_KEYS = "schedule:"
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


def key_read(header: str | None) -> str | None:
    """The Idempotency-Key; None when absent. Raises InvalidRequest for a kind that is the hub's own."""
    if header is not None and header.startswith(SCHEDULE_KEYS):
        message = f"Idempotency-Key: keys that begin with {SCHEDULE_KEYS} are reserved for schedules."
        errors = [{"pointer": "/Idempotency-Key", "message": message}]
        raise InvalidRequest(message, errors=errors, suggestions=["Begin the key with something else."])
    return header


def wait_read(text: str | None) -> float:
    """Seconds of `?wait=`, at most 120; 0 when absent. Raises InvalidRequest."""
    if text is None:
        return 0.0
    if not re.fullmatch(r"\d{1,9}", text):
        raise InvalidRequest(
            "wait must be whole seconds.", errors=[{"pointer": "/wait", "message": "whole seconds"}]
        )
    return min(float(text), float(settings.WAIT_MAX_S))
