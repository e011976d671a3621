"""Who: people, personas, their tokens and grants; and the vault's table."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from django.contrib.auth.models import AbstractUser, Group
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from core.clock import uuid7
from core.fields import AddressField, CanonicalJSONField, NameField
from core.identity import ADDRESS_MAX, NAME_MAX
from security.sharing.levels import rights_of

if TYPE_CHECKING:
    from security.sharing.reach import Known

_SESSIONS = "security.User.sessions"
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


class User(AbstractUser):
    """A person who signs in to the console. Raising `sessions_epoch` ends all sessions at once."""

    username = NameField(max_length=NAME_MAX, unique=True, error_messages={"unique": "This name is taken."})
    email = AddressField(max_length=ADDRESS_MAX, blank=True)
    sessions_epoch = models.PositiveIntegerField(default=0)
    # What security/sharing/reach.py read for this request.
    sharing: "Known | None" = None

    class Meta:
        permissions = (("reach_everything", "Reaches also what teams own, and says which team owns what"),)

    @classmethod
    def normalize_username(cls, username: str) -> str:
        """Return the name as it is: Django's NFKC would make ASCII letters of others."""
        return username

    def get_session_auth_hash(self) -> str:
        """What a session is held to with each request: the password and the epoch."""
        if not self.sessions_epoch:  # as before there were epochs
            return super().get_session_auth_hash()
        held_to = f"{self.password}:{self.sessions_epoch}"
        return salted_hmac(_SESSIONS, held_to, algorithm="sha256").hexdigest()

    def holds(self, permission: str) -> bool:
        """Whether a page that needs the permission is there: for the hub, or for some object alone."""
        from security.sharing.reach import holds  # noqa: PLC0415  (it is made of models)

        return holds(self, permission)


class Identity(models.Model):
    """A person at the organisation's sign-in provider: `subject` is who they are there, for ever."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "identities"
        constraints = (
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once"),
            models.UniqueConstraint(fields=["person", "issuer"], name="identity_of_person_once"),
        )

    def __str__(self) -> str:
        return f"{self.person_id} at {self.issuer}"


class Invitation(models.Model):
    """A mail in which a person finds where to choose a password. The address itself is kept nowhere."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations")
    made_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"invitation of {self.person_id}"


class Notice(models.Model):
    """A mail that tells a person what changed about the way they sign in."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    text = models.CharField(max_length=300)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.text


class Persona(models.Model):
    """The identity under which agents act."""

    name = models.SlugField(max_length=64, unique=True)
    title = models.CharField(max_length=120, blank=True)
    description = models.TextField(blank=True)
    is_active = models.BooleanField(default=True)
    # The team that it belongs to; none: everybody's, as roles say (security/sharing).
    team = models.ForeignKey(Group, on_delete=models.PROTECT, related_name="+", null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)
        permissions = rights_of("persona")

    def __str__(self) -> str:
        return self.name


class PersonaPersonRight(UserObjectPermissionBase):
    """A right on a persona that a person was given."""

    content_object = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="person_rights")

    class Meta(UserObjectPermissionBase.Meta):
        pass


class PersonaTeamRight(GroupObjectPermissionBase):
    """A right on a persona that a team was given."""

    content_object = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="team_rights")

    class Meta(GroupObjectPermissionBase.Meta):
        pass


class Token(models.Model):
    """A persona's key. Only its prefix and SHA-256 are kept; the text is shown once."""

    persona = models.ForeignKey(Persona, on_delete=models.PROTECT, related_name="tokens")
    responsible = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16)
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    # The token with which an agent made it (security/lineage.py); none where a person did.
    made_with = models.ForeignKey("self", on_delete=models.PROTECT, related_name="+", null=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @property
    def state(self) -> Literal["valid", "expired", "revoked"]:
        """What the token is worth now."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "valid"


class Grant(models.Model):
    """A capability that a persona holds, perhaps until a date, perhaps under conditions (conditions.py)."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="grants")
    capability = models.CharField(max_length=120)
    reason = models.CharField(max_length=200)
    granted_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)
    conditions = CanonicalJSONField(default=list)
    # When it was changed last; `granted_by` is who changed it then.
    changed_at = models.DateTimeField(null=True)
    # The session that its condition of the kind `session` names; empty without one.
    session = models.CharField(max_length=128, blank=True, default="", db_default="")

    class Meta:
        ordering = ("capability", "id")
        indexes = (models.Index(fields=["persona", "capability", "session"], name="grant_of_persona"),)

    def __str__(self) -> str:
        return self.capability

    @property
    def is_in_force(self) -> bool:
        """Whether its end, if it has one, has not come."""
        return self.expires_at is None or self.expires_at > timezone.now()


class SigningSecret(models.Model):
    """What signs messages sent on a persona's behalf, sealed. The newest has no `ends_at`."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="signing_secrets")
    sealed = models.TextField()
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    ends_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"signing secret {self.pk}"


class Secret(models.Model):
    """A secret of the vault (security/vault.py), sealed. `scope` says who gets it, `set_by` who set it."""

    scope = models.CharField(max_length=80)
    name = models.CharField(max_length=200)
    sealed = models.TextField()
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("scope", "name")
        constraints = (models.UniqueConstraint(fields=["scope", "name"], name="secret_once"),)

    def __str__(self) -> str:
        return f"{self.scope} {self.name}"


class OutputPattern(models.Model):
    """A regular expression (RE2) for what is taken out of every tool's output."""

    name = models.CharField(max_length=80, unique=True)
    pattern = models.CharField(max_length=200)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Switch(models.Model):
    """A rule of the hub that people can switch off (security/four_eyes.py)."""

    name = models.CharField(max_length=40, unique=True)
    on = models.BooleanField(default=True)

    class Meta:
        verbose_name_plural = "switches"

    def __str__(self) -> str:
        return f"{self.name} {'on' if self.on else 'off'}"


class Tries(models.Model):
    """How often something was tried (security/guessing). `key` is a digest.

    `level` are the tries that still count. The next one is taken from `free_at` on; from `ends_at` on the row
    says nothing.
    """

    key = models.CharField(max_length=64, primary_key=True)
    level = models.FloatField(default=0)
    counted_at = models.DateTimeField(default=timezone.now)
    free_at = models.DateTimeField(default=BEGINNING)
    ends_at = models.DateTimeField(default=BEGINNING, db_index=True)

    class Meta:
        verbose_name_plural = "tries"

    def __str__(self) -> str:
        return f"{self.key[:8]}…"


class KeyFingerprint(models.Model):
    """A key that every process of the hub has (security/keys.py); `kind` is `vault` or `secret_key`."""

    kind = models.CharField(max_length=16)
    fingerprint = models.CharField(max_length=16)
    recorded_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["kind", "fingerprint"], name="key_once"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.fingerprint}"
