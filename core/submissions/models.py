"""Which forms and requests were carried out."""

from django.db import models
from django.utils import timezone


class Submission(models.Model):
    """A form or request that was carried out, by the one-time key that came with it.

    `owner` sent it, as `person:1`. `digest` is the SHA-256 of what was sent. `place` is the address of what
    it made; `notice` is what the answer to the next one with this key says.
    """

    owner = models.CharField(max_length=80)
    key = models.CharField(max_length=128)
    digest = models.CharField(max_length=64)
    place = models.CharField(max_length=2000, blank=True, default="")
    notice = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["owner", "key"], name="submission_once"),)

    def __str__(self) -> str:
        return f"{self.owner} to {self.place}"
