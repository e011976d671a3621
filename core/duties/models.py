"""How the steward's standing duties went, and the rows that they failed at."""

from django.db import models
from django.utils import timezone


class DutyRecord(models.Model):
    """When a duty last succeeded and last failed as a whole, and why."""

    name = models.CharField(max_length=40, primary_key=True)
    succeeded_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True, default="")

    def __str__(self) -> str:
        return self.name


class FailedRow(models.Model):
    """A row that a duty failed at `failures` times in a row. The duty skips it until `due_at`.

    `key` is the row's primary key as text. The record goes when the duty succeeds at the row.
    """

    duty = models.CharField(max_length=40)
    key = models.CharField(max_length=200)
    failures = models.PositiveIntegerField(default=1)
    error = models.CharField(max_length=300)
    first_at = models.DateTimeField(default=timezone.now)
    failed_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["duty", "key"], name="duty_row"),)

    def __str__(self) -> str:
        return f"{self.duty} {self.key}"


class WriteProbe(models.Model):
    """One row that /readyz writes, to see whether the database takes writes (monitoring/writable.py)."""

    filler = models.BinaryField()
    written_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"written at {self.written_at}"
