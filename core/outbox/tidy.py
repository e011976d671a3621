"""Messages that ended long ago: nobody sends them again, and their events stand in the ledger."""

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from core.outbox.models import Delivery, State

BATCH = 1_000


def deliveries_expire(but: Collection[str] = ()) -> int:
    """Deletes what ended TOOLHUB_MESSAGE_DAYS ago, a thousand at most, but for some kinds; how many."""
    over = Delivery.objects.exclude(state=State.QUEUED).exclude(kind__in=but)
    over = over.filter(ended_at__lt=Now() - timedelta(days=settings.MESSAGE_DAYS))
    return Delivery.objects.filter(pk__in=list(over.values_list("pk", flat=True)[:BATCH])).delete()[0]
