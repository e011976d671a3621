"""A run's files, and their contents by hash."""

from django.db import models
from django.utils import timezone

from execution.models import Run


class Content(models.Model):
    """Bytes that some run left, once, by their SHA-256 in hex. Removed when no run has them any more."""

    digest = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()
    # When a run last left the same bytes: what is this young is not removed.
    used_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return self.digest


class Artefact(models.Model):
    """A file of a run, by the name that the tool gave it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artefacts", db_index=False)
    name = models.CharField(max_length=200)
    size = models.PositiveIntegerField()
    content = models.ForeignKey(Content, on_delete=models.PROTECT, related_name="artefacts")

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=["run", "name"], name="artefact_once"),)

    def __str__(self) -> str:
        return self.name
