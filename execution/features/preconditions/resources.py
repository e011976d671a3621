"""Resources: added and switched by people, looked at when a precondition names them."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.errors import Conflict, InvalidRequest
from core.http.check import url_check
from core.http.client import http_send
from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import url_read
from execution.event_kinds import RESOURCE_ADDED, RESOURCE_REMOVED, RESOURCE_SWITCHED
from execution.features.preconditions.models import Resource
from security.models import User
from security.permissions import actor_of, require

NAME_MAX = 120
# So long an answer of a resource counts, and so long one is waited for, in seconds.
KEPT_S, SECONDS = 10, 3.0


def resource_add(*, by: User, name: str, url: str = "") -> Resource:
    """Adds a resource, up until it is known to be down. Raises Denied, InvalidRequest, Conflict."""
    require(by, "preconditions.add_resource")
    name = name.strip()
    if not 1 <= len(name) <= NAME_MAX or not name.isprintable():
        raise _wrong("name", f"Name it, in at most {NAME_MAX} characters.")
    if url:
        try:
            url_check(url)
        except (HttpRefused, HttpFailed) as error:
            raise _wrong("url", f"The address {error}.") from error
    try:
        with transaction.atomic():
            row = Resource.objects.create(name=name, url=url, created_by=by)
            record(Entry(RESOURCE_ADDED, actor_of(by), "hub", "resources", {"name": name, "url": url}))
    except IntegrityError as error:
        message = f"There is a resource {name} already."
        raise Conflict(message, errors=[{"pointer": "/name", "message": message}]) from error
    return row


def resource_switch(*, by: User, resource: Resource, is_up: bool, reason: str = "") -> None:
    """Says that a resource without an address is up or down. Raises Denied, InvalidRequest."""
    require(by, "preconditions.change_resource")
    if resource.url:
        raise InvalidRequest(f"{resource.name} is looked at by its address.")
    with transaction.atomic():
        Resource.objects.filter(pk=resource.pk).update(is_up=is_up, reason=reason[:300])
        data = {"name": resource.name, "up": is_up, "reason": reason[:300]}
        record(Entry(RESOURCE_SWITCHED, actor_of(by), "hub", "resources", data))


def resource_remove(*, by: User, resource: Resource) -> None:
    """Takes a resource away: preconditions that name it fail. Raises Denied."""
    require(by, "preconditions.delete_resource")
    with transaction.atomic():
        if Resource.objects.filter(pk=resource.pk).delete()[0]:
            data = {"name": resource.name}
            record(Entry(RESOURCE_REMOVED, actor_of(by), "hub", "resources", data))


def resource_look(name: str) -> Resource | None:
    """How a resource is now, asked anew where the last answer is old; None where there is none."""
    row = Resource.objects.filter(name=name).first()
    if row is None or not row.url:
        return row
    now = timezone.now()
    if row.checked_at is None or now - row.checked_at > timedelta(seconds=KEPT_S):
        row.reason = _asked(row.url)
        row.is_up, row.checked_at = not row.reason, now
        Resource.objects.filter(pk=row.pk).update(is_up=row.is_up, reason=row.reason, checked_at=now)
    return row


def _asked(url: str) -> str:
    """Why it is down, or nothing."""
    try:
        reply = http_send("GET", url_read(url), headers={}, body=b"", seconds=SECONDS, most_bytes=0)
    except (HttpFailed, HttpRefused) as error:
        return str(error)[:300]
    return "" if 200 <= reply.status < 300 else f"It answered {reply.status}."


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
