"""Reads installations, for pages and the API."""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from core.errors import NotFound
from registry.installations.four_eyes import INSTALL
from registry.installations.models import OPEN, Installation, LogLine, Status
from security.models import User
from security.sharing.reach import about

LINES_SHOWN = 400


def installations_page(params: Mapping[str, str], by: User) -> QuerySet[Installation]:
    """Installations of packages that the person may change, and of new ones, newest first, without report.

    Narrowed by the parameters, `since` being hours.
    """
    rows = about(by, Installation.objects.defer("report", "lock"), INSTALL, package="package").order_by("-id")
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
    """Raises NotFound, also for one of a package that the person may not change."""
    rows = Installation.objects.select_related("release__package").filter(pk=pk)
    found = about(by, rows, INSTALL, package="package").first()
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
