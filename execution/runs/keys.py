"""Idempotency keys that are over."""

from django.db.models.functions import Now

from execution.models import IdempotencyKey


def keys_expire() -> int:
    """Deletes the keys whose day is over; returns how many. A steward's duty."""
    deleted, _ = IdempotencyKey.objects.filter(expires_at__lt=Now()).delete()
    return deleted
