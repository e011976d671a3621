"""Known browsers: a signed cookie for whom somebody signed in as here before (OWASP, "device cookies").

A browser that is known for a person has counters for itself, so that nobody else's wrong passwords keep them
out. The cookie holds for this password and these sessions: a new password, or "End all other sessions", makes
the other browsers unknown. It signs nobody in.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

from core.middleware import Handler
from security.models import User

_SALT = "security.guessing.devices"
_AGE_S = 400 * 86_400  # what browsers keep at most
_PEOPLE_MAX = 5
_RENEW, _WAIT = "device_person", "tries_wait"


@dataclass(frozen=True)
class Device:
    """A browser that is known for a person, by its random name."""

    name: str


def device_of(request: HttpRequest, person: User | None) -> Device | None:
    """Return the browser where it is known for this person."""
    if person is None:
        return None
    for key, name, mark in _read(request):
        if key == person.pk and constant_time_compare(mark, _mark(person, name)):
            return Device(name)
    return None


def device_remember(request: HttpRequest, person: User) -> None:
    """Make the browser known for this person with the answer to this request."""
    setattr(request, _RENEW, person)


def answer_waits(request: HttpRequest, seconds: int) -> None:
    """Make the answer to this request a 429 that says how long to wait."""
    setattr(request, _WAIT, seconds)


class DeviceMiddleware:
    """Writes the cookie of a known browser, and 429 over a form whose try has to wait."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        response = self.get_response(request)
        person = getattr(request, _RENEW, None)
        if person is not None:
            others = [entry for entry in _read(request) if entry[0] != person.pk]
            name = secrets.token_urlsafe(16)
            entries = [(person.pk, name, _mark(person, name)), *others][:_PEOPLE_MAX]
            response.set_cookie(
                settings.DEVICE_COOKIE_NAME,
                signing.dumps(entries, salt=_SALT),
                max_age=_AGE_S,
                secure=settings.HTTPS,
                httponly=True,
                samesite="Lax",
            )
        if wait := getattr(request, _WAIT, 0):
            response.status_code = 429
            response.headers["Retry-After"] = str(wait)
        return response


def _read(request: HttpRequest) -> list[tuple[int, str, str]]:
    try:
        found = signing.loads(
            request.COOKIES.get(settings.DEVICE_COOKIE_NAME, ""), salt=_SALT, max_age=_AGE_S
        )
    except (signing.BadSignature, ValueError):
        return []
    return [(key, name, mark) for key, name, mark in found]


def _mark(person: User, name: str) -> str:
    held_to = f"{person.pk}:{name}:{person.get_session_auth_hash()}"
    return salted_hmac(_SALT, held_to, algorithm="sha256").hexdigest()
