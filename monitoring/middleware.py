"""Counts and times every request, outermost."""

import functools
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from core.metrics import LATENCY, REQUESTS

Handler = Callable[[HttpRequest], HttpResponse]
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

# Their own look-up takes a lock and makes words of all values.
_count = functools.cache(REQUESTS.labels)
_time = functools.cache(LATENCY.labels)


class RequestMetricsMiddleware:
    """Labels by the view's name, never by the path or a made-up method: callers cannot make new series."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        begun = time.perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        view = (match.view_name or "unnamed") if match else "none"
        method = request.method if request.method in METHODS else "other"
        _count(view, method, response.status_code).inc()
        _time(view).observe(time.perf_counter() - begun)
        return response
