"""What every request passes first."""

import functools
import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.urls import ResolverMatch, get_urlconf, resolve

from core.clock import uuid7
from core.errors import NotFound, ToolHubError
from core.lanes import is_mcp
from core.parsers import BODY_MAX, too_large
from core.problems import problem
from core.request_id import REQUEST_ID
from toolhub_sdk.visible_text import page_seen

Handler = Callable[[HttpRequest], HttpResponse]

# Addresses that only tokens open: under this, and MCP's.
API = "/api/v1/"
# Of a page's form: a zip of 24 MiB, as the largest file that one takes, with room for what stands around it.
PAGE_BODY_MAX = 32 * 1_048_576
# The one address of the API that takes archives.
ARCHIVES = f"{API}installations"
_GOOD_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


# Longer addresses are not kept: anybody may ask for some of 64 KB.
_KEPT = 256


def _found(path: str, urlconf: str | None) -> ResolverMatch:
    """An address of the API is mostly one that was called before; finding it took a tenth of a call."""
    return _resolve(path, urlconf) if len(path) <= _KEPT else resolve(path, urlconf)


@functools.lru_cache(maxsize=1024)
def _resolve(path: str, urlconf: str | None) -> ResolverMatch:
    return resolve(path, urlconf)


class RequestIdMiddleware:
    """Takes a well-formed X-Request-ID from the caller or makes one; logs and answers carry it."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        mark = given if _GOOD_ID.fullmatch(given) else uuid7().hex
        REQUEST_ID.set(mark)
        response = self.get_response(request)
        response["X-Request-ID"] = mark
        return response


class NulMiddleware:
    """Refuses U+0000 in an address or a cookie: no name has it, and PostgreSQL cannot compare with it."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return problem(NotFound("There is nothing at an address with a NUL in it."))
        if "\\000" in request.META.get("HTTP_COOKIE", ""):  # as a quoted cookie writes it
            return problem(ToolHubError("A cookie has a NUL in it.", code="INVALID_REQUEST"))
        return self.get_response(request)


class BodyMiddleware:
    """Refuses what a form cannot mean to send, before any of it is read.

    Django writes a form's files to disk when it looks for the CSRF token: from anybody, of any size.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        most = body_max(request.path_info)
        if length.isdigit() and int(length) > most:
            return problem(too_large(most))
        return self.get_response(request)


class PrivateMiddleware:
    """Pages are for who asked: no cache keeps one that does not say otherwise, those of allauth neither."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class VisibleTextMiddleware:
    """Shows control and bidirectional characters in pages as escapes (toolhub_sdk/visible_text.py).

    No template holds such a character: they come from tools, packages and callers.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.streaming or not response.get("Content-Type", "").startswith("text/"):
            return response
        text = response.content.decode(response.charset or "utf-8", errors="replace")
        seen = page_seen(text)
        if seen is not text and seen != text:
            response.content = seen.encode(response.charset or "utf-8")
            if "Content-Length" in response:
                response["Content-Length"] = str(len(response.content))
        return response


class ApiMiddleware:
    """Answers the API here: what follows (sessions, CSRF, messages, page headers) is for pages.

    It took a fifth of a call's processor time. The API's views translate their own errors, and no
    middleware that has other hooks than `__call__` comes before this one.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_api(request.path_info):
            return self.get_response(request)
        request.get_host()  # refuses names that ALLOWED_HOSTS does not have
        match = request.resolver_match = _found(request.path_info, get_urlconf())
        response: HttpResponse = match.func(request, *match.args, **match.kwargs)
        if isinstance(response, SimpleTemplateResponse):
            response.render()
        if not response.streaming and "Content-Length" not in response:
            response["Content-Length"] = str(len(response.content))
        return response


def body_max(path: str) -> int:
    """The largest body, in bytes, that an address takes."""
    return BODY_MAX if is_api(path) and path.rstrip("/") != ARCHIVES else PAGE_BODY_MAX


def is_api(path: str) -> bool:
    """Whether only tokens open what is at this path."""
    return path.startswith(API) or is_mcp(path)
