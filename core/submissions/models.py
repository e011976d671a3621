"""Which forms and requests were carried out."""

from django.db import models
from django.utils import timezone


class Submission(models.Model):
    """A form or API request that was carried out, by the one-time key that came with it.

    `owner` sent it, as `person:1`. `digest` is the SHA-256 of what was sent. `place` is the address of what
    it made; `notice` is what the page says to the next form with this key. `answer` is the answer to an API
    request as JSON, without secrets.
    """

    owner = models.CharField(max_length=80)
    key = models.CharField(max_length=128)
    digest = models.CharField(max_length=64)
    place = models.CharField(max_length=2000, blank=True, default="")
    notice = models.CharField(max_length=300, blank=True, default="")
    answer = models.TextField(blank=True, default="", db_default="")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["owner", "key"], name="submission_once"),)

    def __str__(self) -> str:
        return f"{self.owner} to {self.place}"
