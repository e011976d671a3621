"""Checks an address from outside without connecting to it: when somebody names it, long before it is used."""

from django.conf import settings

from core.http.allowed import Allowed, allowed_read
from core.http.names import addresses_checked
from core.http.urls import Url, url_read

RESOLVE_S = 5.0


def url_check(text: str, *, seconds: float = RESOLVE_S) -> Url:
    """An address that may be connected to as things are now. Raises HttpRefused and HttpFailed."""
    url = url_read(text)
    addresses_checked(url, allowed_now(), seconds=seconds)
    return url


def allowed_now() -> list[Allowed]:
    """What TOOLHUB_HTTP_ALLOW allows."""
    return [allowed_read(entry) for entry in settings.HTTP_ALLOW]
