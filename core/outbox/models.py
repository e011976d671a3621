"""What is owed to addresses outside."""

from enum import StrEnum

from django.db import models
from django.utils import timezone

from core.clock import uuid7


class State(StrEnum):
    QUEUED = "queued"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(models.Model):
    """One message to one address. Its id is the same in every try, so that a receiver can tell repetitions.

    `kind` names who makes its body and signs it (kinds.py), from `subject`; `owner` is on whose behalf it
    is sent, for fairness. `attempts` counts the tries of this round; `claim` is set while somebody sends. It
    is due at `next_at`; while it is being sent, that is when its sender counts as lost. `error` is why the
    last try failed.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=40)
    subject = models.UUIDField()
    owner = models.CharField(max_length=64)
    url = models.CharField(max_length=2000)
    state = models.CharField(
        max_length=10, default=State.QUEUED.value, choices=[(s.value, s.value) for s in State]
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.UUIDField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    next_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = (models.UniqueConstraint(fields=["subject", "kind"], name="delivery_once"),)
        indexes = (models.Index(fields=["next_at"], name="delivery_due", condition=models.Q(state="queued")),)

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
