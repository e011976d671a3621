"""Error pages in the console's look; machines get problem details."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core.errors import NotFound, ToolHubError
from core.middleware import is_api
from core.problems import problem
from core.request_id import REQUEST_ID


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    context = {"status": status, "title": title, "text": text, "request_id": REQUEST_ID.get()}
    return render(request, "errors/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400: what came could not be read."""
    if is_api(request.path):
        return problem(ToolHubError("The request could not be read.", code="NOT_JSON"))
    return _page(request, 400, "This request could not be read", "Go back and try again.")


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403: known, but not for this person."""
    if is_api(request.path):
        return problem(ToolHubError("This is not allowed for this caller.", code="PERMISSION_DENIED"))
    return _page(request, 403, "This is not for you", "Ask an admin for the permission you need.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404: not there, or not to be seen; the two look alike."""
    if is_api(request.path):
        return problem(NotFound("There is nothing at this address."))
    text = "The address may be mistyped, what was here may be gone, or an admin has to let you see it."
    return _page(request, 404, "There is nothing here", text)


def method_not_allowed(request: HttpRequest, allowed: Iterable[str]) -> HttpResponse:
    """405: there is something, but not for this method; mostly the address of a form that was opened."""
    text = "Nothing was changed. What is done here starts with a button on another page."
    answer = _page(request, 405, "This address is not a page", text)
    answer["Allow"] = ", ".join(allowed)
    return answer


def too_many(request: HttpRequest, wait: int = 60) -> HttpResponse:
    """Answer 429: one address, name or browser tried too often. `wait` is in seconds."""
    unit = "second" if wait == 1 else "seconds"
    answer = _page(request, 429, "Too many tries", f"Wait {wait} {unit}, then try again.")
    answer["Retry-After"] = str(wait)
    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a mistake of the hub. The page needs neither database nor session."""
    if is_api(request.path):
        return problem(
            ToolHubError("The hub made a mistake. It is logged under the request's id.", code="INTERNAL")
        )
    context: dict[str, Any] = {"request_id": REQUEST_ID.get()}
    return render(None, "errors/500.html", context, status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: a form came without its proof of origin, mostly because the page was open for too long."""
    return _page(
        request,
        403,
        "This form is too old",
        "Nothing was changed. Go back, reload the page and send it again.",
    )
