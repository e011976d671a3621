"""The ledger's rows."""

from django.db import models


class Event(models.Model):
    """One thing that happened. Never changed, never deleted (triggers see to it).

    `canonical` is the event itself, RFC 8785 text; the other columns repeat parts of it for
    filters. `leaf` is SHA-256(0x00 ‖ canonical), RFC 6962 §2.1.
    """

    at = models.DateTimeField()
    kind = models.CharField(max_length=64)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    actor_name = models.CharField(max_length=150)
    subject_kind = models.CharField(max_length=32)
    subject_id = models.CharField(max_length=150)
    run_id = models.UUIDField(null=True)
    canonical = models.TextField()
    leaf = models.BinaryField(max_length=32)

    class Meta:
        indexes = (
            models.Index(fields=["kind", "id"], name="event_kind"),
            models.Index(fields=["actor_kind", "actor_id", "id"], name="event_actor"),
            models.Index(fields=["subject_kind", "subject_id", "id"], name="event_subject"),
            models.Index(fields=["run_id"], name="event_run", condition=models.Q(run_id__isnull=False)),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_kind} {self.subject_id}"


class Denial(models.Model):
    """Counts equal refusals within a window, so that no token holder can fill the ledger."""

    persona = models.CharField(max_length=64)
    tool = models.CharField(max_length=64)
    code = models.CharField(max_length=64)
    window = models.BigIntegerField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["persona", "tool", "code", "window"], name="denial_window"),
        )

    def __str__(self) -> str:
        return f"{self.persona} {self.tool} {self.code} × {self.count}"
