"""Carries a submission out once, also where it comes twice at the same time."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.http import Http404

from core.errors import ToolHubError
from core.submissions.models import Submission

KEPT = timedelta(days=1)
BATCH = 1_000
Made = TypeVar("Made")


@dataclass(frozen=True)
class Result(Generic[Made]):
    """What an act returned. `place` is the address of what it made, None where it made nothing."""

    value: Made
    place: str | None
    notice: str = ""


def submit_once(*, owner: str, key: str, digest: str, act: Callable[[], Result[Made]]) -> Made | Submission:
    """Carry `act` out and return its value, or return the earlier submission with this key.

    The key's row is written first, in the transaction of the act: of two at the same time the second waits
    for the first. An act that made nothing leaves the key unused. Raises what `act` raises.
    """
    failed: ToolHubError | Http404 | None = None
    with transaction.atomic():
        try:
            with transaction.atomic():
                row = Submission.objects.create(owner=owner, key=key, digest=digest)
        except IntegrityError:
            return Submission.objects.get(owner=owner, key=key)
        try:
            result = act()
        except (ToolHubError, Http404) as error:
            # Raised after the commit: what the act put on record of its refusal stays.
            failed = error
        if failed or result.place is None:
            row.delete()
        else:
            Submission.objects.filter(pk=row.pk).update(place=result.place[:2000], notice=result.notice)
    if failed:
        raise failed
    return result.value


def submissions_expire() -> int:
    """Delete the keys whose day is over, a thousand at most; return how many. A steward's duty."""
    over = Submission.objects.filter(created_at__lt=Now() - KEPT).order_by("created_at")
    return Submission.objects.filter(pk__in=list(over.values_list("pk", flat=True)[:BATCH])).delete()[0]
