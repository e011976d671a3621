"""Policy beside grants. It names tools by name: tools live in the registry, above."""

from django.db import models
from django.utils import timezone

from core.fields import CanonicalJSONField
from security.models import Persona, User


class Restriction(models.Model):
    """Denies calls, whatever is granted: those that fit all of what it names.

    `persona` null is every persona, `tool` empty every tool, `capability` empty any call. With a capability
    it denies tools that need it, a part of it, or what it is a part of. A pause names no capability and at
    most one of persona and tool; without either it holds the whole hub. Accepted runs wait while it lasts.
    """

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, null=True, related_name="restrictions")
    tool = models.CharField(max_length=64, blank=True, default="")
    capability = models.CharField(max_length=120, blank=True, default="")
    is_pause = models.BooleanField(default=False)
    reason = models.CharField(max_length=200)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=["tool", "persona"], name="restriction_where"),)
        constraints = (
            models.CheckConstraint(
                name="restriction_names",
                condition=models.Q(is_pause=True, capability="")
                & (models.Q(persona=None) | models.Q(tool=""))
                | models.Q(is_pause=False)
                & (models.Q(persona__isnull=False) | ~models.Q(tool="") | ~models.Q(capability="")),
            ),
        )

    def __str__(self) -> str:
        return self.capability or self.tool or (self.persona.name if self.persona else "the hub")

    @property
    def is_over(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


class Flag(models.Model):
    """A feature flag. A tool that needs it can be called by nobody while it is off, by everybody while it is
    on, and in between by personas whose tier has it.
    """

    class State(models.TextChoices):
        OFF = "off", "off"
        TIERS = "tiers", "tiers"
        ON = "on", "on"

    name = models.SlugField(max_length=64, unique=True)
    description = models.CharField(max_length=300, blank=True, default="")
    state = models.CharField(max_length=8, choices=State, default=State.OFF)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class FlaggedTool(models.Model):
    """A tool, by its name, that needs a flag."""

    tool = models.CharField(max_length=64, primary_key=True)
    flag = models.ForeignKey(Flag, on_delete=models.PROTECT, related_name="tools")

    class Meta:
        ordering = ("tool",)

    def __str__(self) -> str:
        return f"{self.tool} needs {self.flag_id}"


class Tier(models.Model):
    """What several personas are granted together: capabilities, and names of flags."""

    name = models.SlugField(max_length=64, unique=True)
    description = models.CharField(max_length=300, blank=True, default="")
    capabilities = CanonicalJSONField(default=list)
    flags = CanonicalJSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Limit(models.Model):
    """At most `amount` of a measure in a window, which begins with its first call and lasts `window_s`.

    It counts the calls of a persona, of each persona on a tier, or, with a tool alone, of all personas
    together; `tool` narrows the first two to one tool. A rate keeps calls apart, a quota is what there is.
    """

    class Kind(models.TextChoices):
        RATE = "rate", "rate"
        QUOTA = "quota", "quota"

    class Measure(models.TextChoices):
        CALLS = "calls", "calls"
        SECONDS = "seconds", "seconds"
        BYTES = "bytes", "bytes"

    kind = models.CharField(max_length=8, choices=Kind)
    measure = models.CharField(max_length=8, choices=Measure)
    amount = models.PositiveBigIntegerField()
    window_s = models.PositiveIntegerField()
    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, null=True, related_name="limits")
    tier = models.ForeignKey(Tier, on_delete=models.CASCADE, null=True, related_name="limits")
    tool = models.CharField(max_length=64, blank=True, default="")
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    changed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    changed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=["tool"], name="limit_tool"),)
        constraints = (
            models.CheckConstraint(
                name="limit_names",
                condition=(models.Q(persona=None) | models.Q(tier=None))
                & (models.Q(persona__isnull=False) | models.Q(tier__isnull=False) | ~models.Q(tool="")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.amount} {self.measure} in {self.window_s} s"


class Usage(models.Model):
    """What is used of a limit in its window, time in ms. `whose` is a persona's key, 0 for all together.

    `most` is the limit's when it was spent of last.
    """

    limit = models.ForeignKey(Limit, on_delete=models.CASCADE, related_name="usage", db_index=False)
    whose = models.BigIntegerField()
    used = models.BigIntegerField()
    most = models.BigIntegerField()
    ends_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["limit", "whose"], name="usage_once"),)

    def __str__(self) -> str:
        return f"{self.used} of {self.most}"


class Capability(models.Model):
    """What a capability means, and how much harm it can do."""

    name = models.CharField(max_length=120, unique=True)
    description = models.CharField(max_length=300, blank=True, default="")
    risk = models.CharField(max_length=8, default="medium")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "capabilities"

    def __str__(self) -> str:
        return self.name


class Standing(models.Model):
    """What holds for a persona as a whole. Without a row nothing special does.

    `isolation` is the least that its calls are held with, in a manifest's words; empty: as tools ask.
    """

    persona = models.OneToOneField(
        Persona, on_delete=models.CASCADE, primary_key=True, related_name="standing"
    )
    isolation = models.CharField(max_length=16, blank=True, default="", db_default="")
    tier = models.ForeignKey(Tier, on_delete=models.PROTECT, null=True, related_name="standings")

    def __str__(self) -> str:
        return f"standing of {self.persona_id}"


class SafeguardSetter(models.Model):
    """Who set a field of a safeguard last (security/safeguards.py); `subject` is `tool:echo`."""

    kind = models.CharField(max_length=24)
    subject = models.CharField(max_length=200)
    field = models.CharField(max_length=24)
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["kind", "subject", "field"], name="safeguard_field_once"),
        )

    def __str__(self) -> str:
        return f"{self.field} of {self.subject}"


class ProposedChange(models.Model):
    """A change that loosens a safeguard and waits for a second person (security/proposals.py).

    `door` and `arguments` are the service function that makes it; `things` names the objects on which the
    second person needs `permission`.
    """

    class Decision(models.TextChoices):
        CONFIRMED = "confirmed", "confirmed"
        REFUSED = "refused", "refused"
        WITHDRAWN = "withdrawn", "withdrawn"

    door = models.CharField(max_length=64)
    arguments = CanonicalJSONField()
    subject_kind = models.CharField(max_length=32)
    subject_id = models.CharField(max_length=200)
    title = models.CharField(max_length=300)
    changes = CanonicalJSONField()
    permission = models.CharField(max_length=100)
    things = CanonicalJSONField(default=list)
    proposed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(default=timezone.now)
    decision = models.CharField(max_length=12, choices=Decision, blank=True, default="")
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", null=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=["decision", "subject_kind", "subject_id"], name="proposed_where"),)

    def __str__(self) -> str:
        return self.title
