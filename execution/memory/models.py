"""Sessions of agents, and what they remember."""

from django.db import models
from django.utils import timezone

from core.fields import CanonicalJSONField
from security.models import Persona


class Scope(models.TextChoices):
    WORKING = "working", "working"
    SHORT_TERM = "short-term", "short-term"
    LONG_TERM = "long-term", "long-term"


class Session(models.Model):
    """A persona's session, by the name that the agent gives it. It is over once nothing was written in it for
    TOOLHUB_SESSION_HOURS.
    """

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="sessions", db_index=False)
    name = models.CharField(max_length=128)
    created_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["persona", "name"], name="session_once"),)

    def __str__(self) -> str:
        return self.name


class Space(models.Model):
    """The values of one scope that live and end together, with their number and size in bytes.

    `session` is empty for long-term memory, `loop` for all but working memory. `expires_at` moves on
    with each write in the session; null for what does not expire.
    """

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="+", db_index=False)
    scope = models.CharField(max_length=10, choices=Scope.choices)
    session = models.CharField(max_length=128, blank=True, default="")
    loop = models.CharField(max_length=128, blank=True, default="")
    keys = models.PositiveIntegerField(default=0)
    bytes = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["persona", "session", "scope", "loop"], name="space_once"),
        )

    def __str__(self) -> str:
        return f"{self.scope} {self.session} {self.loop}".strip()


class Item(models.Model):
    """One value. `size` is that of its canonical form, in bytes."""

    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="items", db_index=False)
    key = models.CharField(max_length=200)
    # null is a value, too.
    value = CanonicalJSONField(null=True)
    size = models.PositiveIntegerField()
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["space", "key"], name="item_once"),)

    def __str__(self) -> str:
        return self.key
