"""Resources that tools depend on, and how they are."""

from django.db import models
from django.utils import timezone

from security.models import User


class Resource(models.Model):
    """Something outside that preconditions name, such as a browser or a database.

    With a `url` it is up when a GET of it answers 2xx; the answer is kept for a short time. Without one
    people say how it is. `reason` is why it is down.
    """

    name = models.CharField(max_length=120, unique=True)
    url = models.CharField(max_length=2000, blank=True, default="")
    is_up = models.BooleanField(default=True)
    reason = models.CharField(max_length=300, blank=True, default="")
    checked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
