"""Carries a submission out once, also where it comes twice at the same time."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.http import Http404
from django.utils import timezone

from core.errors import ToolHubError
from core.submissions.models import Submission

KEPT = timedelta(days=1)
BATCH = 1_000
Made = TypeVar("Made")


@dataclass(frozen=True)
class Result(Generic[Made]):
    """What an act returned. `place` is the address of what it made, None where it made nothing.

    `notice` and `answer` are kept for the next with this key.
    """

    value: Made
    place: str | None
    notice: str = ""
    answer: str = ""


def submit_once(*, owner: str, key: str, digest: str, act: Callable[[], Result[Made]]) -> Made | Submission:
    """Carry `act` out and return its value, or return the earlier submission with this key.

    The key's row is written first, in the transaction of the act: of two at the same time the second waits
    for the first. An act that made nothing leaves the key unused, and a key is over after a day. Raises what
    `act` raises.
    """
    failed: ToolHubError | Http404 | None = None
    with transaction.atomic():
        try:
            with transaction.atomic():
                row = Submission.objects.create(owner=owner, key=key, digest=digest)
        except IntegrityError:
            rows = Submission.objects.select_for_update().filter(owner=owner, key=key)
            earlier = rows.first()
            if earlier is not None and earlier.created_at >= timezone.now() - KEPT:
                return earlier
            row = earlier or Submission(owner=owner, key=key)
            row.digest, row.created_at = digest, timezone.now()
            row.save()
        try:
            result = act()
        except (ToolHubError, Http404) as error:
            # Raised after the commit: what the act put on record of its refusal stays.
            failed = error
        if failed or result.place is None:
            row.delete()
        else:
            Submission.objects.filter(pk=row.pk).update(
                place=result.place[:2000], notice=result.notice, answer=result.answer
            )
    if failed:
        raise failed
    return result.value


def submissions_expire() -> int:
    """Delete the keys whose day is over, a thousand at most; return how many. A steward's duty."""
    over = Submission.objects.filter(created_at__lt=Now() - KEPT).order_by("created_at")
    return Submission.objects.filter(pk__in=list(over.values_list("pk", flat=True)[:BATCH])).delete()[0]
