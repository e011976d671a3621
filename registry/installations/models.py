"""Installations, what they have fetched and what they say."""

from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone

from core.clock import uuid7
from core.fields import CanonicalJSONField
from registry.models import Release
from security.models import User

STEPS = ("fetch", "verify", "inspect", "review", "prepare", "self_test", "publish")


class Status(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    AWAITING_REVIEW = "awaiting_review", "awaiting review"
    PUBLISHED = "published", "installed"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


OPEN = (Status.QUEUED, Status.RUNNING, Status.AWAITING_REVIEW)


class SourceType(models.TextChoices):
    GIT = "git", "git repository"
    UPLOAD = "upload", "uploaded zip"
    URL = "url", "zip at an address"
    FOLDER = "folder", "folder on the server"


class Installation(models.Model):
    """The job that brings one release in. `status` and `step` are written by job.py and services.py only.

    `asked_by` and `choices.by` are actors as the ledger names them. `steps` has `{name, status, started_at,
    finished_at}` for each step that was begun; `report` what people review; `choices` what they decided:
    `{activate, reviewed, names, by}`. Nothing secret stands in any of it: `location` is without the query of
    an address, which may be a signature; `sealed_location` has it, encrypted, until it was fetched. `person`
    started it, or is responsible for the agent that did. `team` shares it until it is published, and then
    owns the package if that is new (ownership.py).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    source_type = models.CharField(max_length=16, choices=SourceType)
    location = models.CharField(max_length=2000)
    sealed_location = models.TextField(blank=True, default="", db_default="")
    ref = models.CharField(max_length=200, blank=True, default="")
    path = models.CharField(max_length=240, blank=True, default="")
    expected_digest = models.CharField(max_length=64, blank=True, default="")
    asked_by = CanonicalJSONField()
    person = models.ForeignKey(User, on_delete=models.SET_NULL, related_name="+", null=True)
    team = models.ForeignKey(Group, on_delete=models.SET_NULL, related_name="+", null=True)
    status = models.CharField(max_length=20, choices=Status, default=Status.QUEUED)
    step = models.CharField(max_length=16, default=STEPS[0])
    steps = CanonicalJSONField(default=list)
    package = models.CharField(max_length=64, blank=True, default="")
    version = models.CharField(max_length=64, blank=True, default="")
    digest = models.CharField(max_length=64, blank=True, default="")
    lock = models.TextField(blank=True, default="")
    report = CanonicalJSONField(default=dict)
    choices = CanonicalJSONField(default=dict)
    error = CanonicalJSONField(null=True)
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="installations", null=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_ends = models.FloatField(null=True)
    lease_boot = models.CharField(max_length=36, default="")
    cancel_asked_at = models.DateTimeField(null=True)
    # Until when it waits for its review.
    review_ends_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=["status", "id"], name="installation_status"),
            models.Index(fields=["package", "-id"], name="installation_package"),
        )

    def __str__(self) -> str:
        return f"{self.package or self.location} {self.version}".strip()

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


class Staged(models.Model):
    """What an installation was given or has fetched, as a zip; gone when it ends."""

    installation = models.OneToOneField(
        Installation, on_delete=models.CASCADE, primary_key=True, related_name="staged"
    )
    content = models.BinaryField()

    def __str__(self) -> str:
        return str(self.installation_id)


class LogLine(models.Model):
    """One line of an installation's log."""

    installation = models.ForeignKey(
        Installation, on_delete=models.CASCADE, related_name="lines", db_index=False
    )
    seq = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)
    step = models.CharField(max_length=16)
    text = models.CharField(max_length=1000)

    class Meta:
        ordering = ("seq",)
        constraints = (models.UniqueConstraint(fields=["installation", "seq"], name="log_line_once"),)

    def __str__(self) -> str:
        return self.text
