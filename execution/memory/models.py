"""Sessions of agents, and what they remember."""

from django.db import models
from django.utils import timezone

from core.clock import uuid7
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
    # How many events the session has; guarded by the row's lock.
    events_count = models.PositiveIntegerField(default=0, db_default=0)

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


class SessionEvent(models.Model):
    """Something that a run told the session: a name and a payload, in order."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    # null is a payload, too.
    payload = CanonicalJSONField(null=True)
    run_id = models.UUIDField()
    tool = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ("seq",)
        constraints = (models.UniqueConstraint(fields=["session", "seq"], name="session_event_once"),)

    def __str__(self) -> str:
        return f"{self.seq} {self.name}"


class Webhook(models.Model):
    """An address that gets a persona's session events, as far as one of the `events` names them: the name
    itself, or its beginning and `*`.
    """

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2000)
    events = CanonicalJSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.url


class WebhookCall(models.Model):
    """One session event for one webhook; the subject of its delivery."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    event = models.ForeignKey(SessionEvent, on_delete=models.CASCADE, related_name="calls")
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="calls")

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}"
