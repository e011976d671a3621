"""What machines ask: alive, ready, and the figures."""

import os
from contextlib import suppress

import orjson
from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess

from core.views_errors import too_many
from monitoring.gauges import RunGauges
from monitoring.health import health_checks
from security.guessing.guard import address_try, address_wait
from security.guessing.limits import METRICS

# What may fail while the hub still serves: without these calls wait, and quick ones are carried out.
SOFT = frozenset({"broker", "workers"})


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while this process answers, at /livez and /healthz.

    The entrance answers both before they come here, so that they need no work thread.
    """
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when the hub can take calls, else 503; the body names each check."""
    checks = health_checks()
    ready = all(check.ok or check.name in SOFT for check in checks)
    body = {"ready": ready, "checks": [{"name": c.name, "ok": c.ok, "reason": c.reason} for c in checks]}
    response = HttpResponse(orjson.dumps(body), status=200 if ready else 503, content_type="application/json")
    if not ready:
        response["Retry-After"] = "5"
    return response


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus' text, to this machine or under TOOLHUB_METRICS_TOKEN; 404 to others.

    Wrong tokens are counted by the caller's address.
    """
    # The figures are there while the database is away; nobody can be counted then.
    with suppress(DatabaseError):
        if settings.METRICS_TOKEN and (wait := address_wait(request, METRICS)):
            return too_many(request, wait)
    if not _may_read(request):
        if settings.METRICS_TOKEN:
            address_try(request, METRICS)
        raise Http404
    registry: CollectorRegistry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    own = CollectorRegistry()
    own.register(RunGauges())
    return HttpResponse(generate_latest(registry) + generate_latest(own), content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}")
    # Behind a proxy every caller may seem local; such a hub sets a token.
    forwarded = any(name in request.headers for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"))
    return not (forwarded or settings.PROXIES) and request.META.get("REMOTE_ADDR") in {"127.0.0.1", "::1"}
