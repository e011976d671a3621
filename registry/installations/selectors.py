"""Reads installations, for pages and the API."""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from core.errors import NotFound
from registry.installations.models import OPEN, Installation, LogLine, Status
from registry.installations.ownership import installations_seen
from security.models import User

LINES_SHOWN = 400


def installations_page(params: Mapping[str, str], by: User) -> QuerySet[Installation]:
    """Installations that the person may read, newest first, without report.

    Narrowed by the parameters, `since` being hours.
    """
    rows = installations_seen(by).select_related("team").defer("report", "lock").order_by("-id")
    if params.get("status") == "open":
        rows = rows.filter(status__in=OPEN)
    elif params.get("status"):
        rows = rows.filter(status=params["status"])
    if params.get("package"):
        rows = rows.filter(package=params["package"])
    hours = params.get("since", "")
    if hours.isascii() and hours.isdigit() and len(hours) <= 4:
        rows = rows.filter(created_at__gte=timezone.now() - timedelta(hours=int(hours)))
    if params.get("q"):
        text = params["q"].strip()
        rows = rows.filter(Q(package__icontains=text) | Q(location__icontains=text))
    return rows


def installation_seen(pk: str, by: User) -> Installation:
    """Return an installation that the person may read. Raises NotFound."""
    found = installations_seen(by).select_related("release__package", "team").filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such installation.")
    return found


def going_on() -> QuerySet[Installation]:
    """Installations that may go on: open ones, and failed ones that can be tried again."""
    return Installation.objects.filter(Q(status__in=OPEN) | Q(status=Status.FAILED, staged__isnull=False))


def installation_lines(one: Installation, after: int = 0, count: int = LINES_SHOWN) -> list[LogLine]:
    """Lines of the log after a number, in order; without one the latest."""
    if after:
        return list(one.lines.filter(seq__gt=after)[:count])
    return list(one.lines.order_by("-seq")[:count])[::-1]
