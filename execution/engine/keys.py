"""Idempotency keys that are over."""

from django.db.models.functions import Now

from core.duties.rows import delete
from execution.models import IdempotencyKey


def keys_expire() -> int:
    """Deletes the keys whose day is over; returns how many. A steward's duty."""
    return delete("keys", IdempotencyKey.objects.filter(expires_at__lt=Now()))
