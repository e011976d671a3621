"""The floor's table. It has no migrations: only the bench makes it, in its own database."""

from django.db import models

from core.clock import uuid7


class FloorCall(models.Model):
    """What a plain application would keep of a call: who, what, both payloads, hashes and times."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    persona = models.ForeignKey("security.Persona", on_delete=models.PROTECT, related_name="+")
    tool = models.CharField(max_length=64)
    status = models.CharField(max_length=20)
    arguments = models.TextField()
    arguments_hash = models.BinaryField(max_length=32)
    result = models.TextField()
    result_hash = models.BinaryField(max_length=32)
    created_at = models.DateTimeField()
    completed_at = models.DateTimeField()
    duration_ms = models.FloatField()

    def __str__(self) -> str:
        return f"{self.tool} {self.id}"
