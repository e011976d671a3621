"""Messages that ended long ago: nobody sends them again, and their events stand in the ledger."""

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from core.duties.rows import delete
from core.outbox.models import Delivery, State


def deliveries_expire(but: Collection[str] = ()) -> int:
    """Delete what ended TOOLHUB_MESSAGE_DAYS ago, but for some kinds; return how many."""
    over = Delivery.objects.exclude(state=State.QUEUED).exclude(kind__in=but)
    over = over.filter(ended_at__lt=Now() - timedelta(days=settings.MESSAGE_DAYS))
    return delete("messages", over)
