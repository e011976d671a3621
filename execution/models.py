"""Runs, their attempts and events, idempotency keys, and schedules."""

from enum import StrEnum
from typing import Any

from django.db import models
from django.utils import timezone

from core.clock import uuid7
from core.fields import CanonicalJSONField
from registry.models import ToolVersion
from security.models import Persona, Token, User

EFFECT_FAILED = "EFFECT_FAILED"
_UNCHECKED: dict[str, Any] = {"db_index": False, "db_constraint": False}


class Status(StrEnum):
    AWAITING_APPROVAL = "awaiting_approval"
    PENDING = "pending"
    RUNNING = "running"
    WAITING_RETRY = "waiting_retry"
    WAITING_STEPS = "waiting_steps"
    AWAITING_PERSON = "awaiting_person"
    OUTCOME_UNKNOWN = "outcome_unknown"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class Verdict(StrEnum):
    """What became of a request for approval."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Run(models.Model):
    """One accepted call. `status` is written by execution/engine/states.py only.

    Times in UTC, durations in ms. `salt` blinds the digests of arguments and result that stand in the ledger.
    `responsible` answers for a run that came without a token. `origin` is the run that this one repeats.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # Found by the index run_persona. Whom and what a run names, its writer has just read, and the database
    # lets none of them be deleted (migration 0016): a check with each INSERT would lock their rows for all.
    persona = models.ForeignKey(Persona, on_delete=models.PROTECT, related_name="runs", **_UNCHECKED)
    token = models.ForeignKey(Token, on_delete=models.PROTECT, related_name="+", null=True, **_UNCHECKED)
    responsible = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", null=True, **_UNCHECKED)
    origin = models.ForeignKey(
        "self", on_delete=models.PROTECT, related_name="repeats", null=True, db_index=False
    )
    # The run that this one follows from, the first of them all, and how many lie between, this one counted.
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, related_name="children", null=True, db_index=False
    )
    root = models.UUIDField(null=True)
    depth = models.PositiveSmallIntegerField(default=0, db_default=0)
    tool_version = models.ForeignKey(ToolVersion, on_delete=models.PROTECT, related_name="runs", **_UNCHECKED)
    tool = models.CharField(max_length=64)
    status = models.CharField(max_length=20, choices=[(s.value, s.value) for s in Status])
    queue = models.CharField(max_length=16)
    # The agent session that calls, and how many runs of its tool there may be at once (null: any number).
    session = models.CharField(max_length=128, default="", blank=True)
    at_once = models.PositiveIntegerField(null=True)
    inline = models.BooleanField(default=False)
    # Whether it was over when it was accepted: then its attempt and first events stand in these columns alone
    # (execution/engine/brief.py).
    is_brief = models.BooleanField(default=False, db_default=False)

    arguments = CanonicalJSONField()
    arguments_hash = models.BinaryField(max_length=32)
    salt = models.BinaryField(max_length=16)
    # context, context_data, hints, isolation_level as the caller gave them
    request = CanonicalJSONField(default=dict)
    timeout_ms = models.PositiveIntegerField()
    max_output_bytes = models.PositiveIntegerField()

    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)
    deadline_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    duration_ms = models.FloatField(null=True)
    # How far the effect can have gone (execution/side_effects.py): of the run, by its last attempt.
    side_effect = models.CharField(max_length=8, default="", db_default="", blank=True)

    attempt = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    # How often its worker has said since the claim that it lives, and when it last did: the reaper counts.
    beats = models.PositiveIntegerField(default=0, db_default=0)
    beat_at = models.DateTimeField(null=True)
    cancel_asked_at = models.DateTimeField(null=True)

    result = CanonicalJSONField(null=True)
    result_hash = models.BinaryField(max_length=32, null=True)
    error = CanonicalJSONField(null=True)
    warnings = CanonicalJSONField(default=list)
    resources = CanonicalJSONField(default=dict)
    # What held the tool: {level, filter, limits}; null for built-in tools and before the outcome.
    sandbox = CanonicalJSONField(null=True)
    outcome_leaf = models.BinaryField(max_length=32, null=True)
    # What was checked before the first attempt; null for a tool without preconditions, and before.
    preconditions = CanonicalJSONField(null=True)
    # How many events the run has; guarded by the row's lock.
    events_count = models.PositiveIntegerField(default=0)
    # Limits that count what it takes when it ends: [[id, whose, measure], …].
    metered = CanonicalJSONField(null=True)
    # When arguments, request, result, parts and salt were removed with age.
    payload_expired_at = models.DateTimeField(null=True)

    class Meta:
        permissions = (
            ("resolve_run", "Can say what became of a run whose outcome is unknown"),
            ("approve_run", "Can approve and deny calls that wait for it"),
        )
        indexes = (
            models.Index(
                fields=["queue", "persona", "tool", "due_at", "id"],
                name="run_due",
                condition=models.Q(status="pending"),
            ),
            models.Index(fields=["beat_at"], name="run_leased", condition=models.Q(status="running")),
            models.Index(fields=["due_at"], name="run_retry", condition=models.Q(status="waiting_retry")),
            models.Index(fields=["deadline_at"], name="run_deadline", condition=models.Q(status="pending")),
            models.Index(fields=["persona", "-id"], name="run_persona"),
            models.Index(fields=["tool", "-id"], name="run_tool"),
            models.Index(fields=["status", "-id"], name="run_status"),
            models.Index(fields=["id"], name="run_payload", condition=models.Q(payload_expired_at=None)),
            models.Index(
                fields=["persona", "session", "tool"],
                name="run_in_session",
                condition=models.Q(status="completed") & ~models.Q(session=""),
            ),
            models.Index(fields=["parent"], name="run_parent", condition=models.Q(parent__isnull=False)),
            models.Index(fields=["root"], name="run_root", condition=models.Q(root__isnull=False)),
            models.Index(fields=["origin"], name="run_origin", condition=models.Q(origin__isnull=False)),
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.id}"

    @property
    def error_told(self) -> dict[str, Any] | None:
        """The error as it is told: where an effect failed, with what the tool gave.

        That stands in `result`, so that it goes with the payload's age.
        """
        error: dict[str, Any] | None = self.error
        if error is None or error["code"] != EFFECT_FAILED or self.payload_expired_at:
            return error
        return {**error, "details": {**error["details"], "data": self.result}}


class Approval(models.Model):
    """A call that a person has to approve, once. `binding` is SHA-256 over it (approvals/binding.py).

    `why` is the decision's reason; `decision` is empty while it waits. `delegate` may decide it, too.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="approval")
    binding = models.BinaryField(max_length=32)
    why = models.CharField(max_length=500)
    asked_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    delegate = models.ForeignKey(User, on_delete=models.SET_NULL, related_name="+", null=True, db_index=False)
    decision = models.CharField(
        max_length=10, default="", blank=True, choices=[(v.value, v.value) for v in Verdict]
    )
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    reason = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=["expires_at"], name="approval_open", condition=models.Q(decision="")),
        )

    def __str__(self) -> str:
        return f"approval of {self.run_id}"


class Attempt(models.Model):
    """One try at a run: claimed, perhaps started, perhaps finished."""

    # Found by the index of its constraint.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts", **_UNCHECKED)
    number = models.PositiveSmallIntegerField()
    lease_token = models.UUIDField()
    worker = models.CharField(max_length=120)
    claimed_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=20, default="", blank=True)
    error_code = models.CharField(max_length=64, default="", blank=True)
    error = CanonicalJSONField(null=True)
    duration_ms = models.FloatField(null=True)
    side_effect = models.CharField(max_length=8, default="", db_default="", blank=True)
    # How long the run waited after this attempt before it was tried again; null where it was not.
    delay_ms = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ("number",)
        constraints = (models.UniqueConstraint(fields=["run", "number"], name="attempt_once"),)

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.run_id}"


class Recovery(models.Model):
    """What a run waits or waited for when its last attempt had failed: the run of another tool, or a person.

    Without a person until `escalates_at`, the group `escalates_to` hears of it.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="recovery")
    child = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    escalates_at = models.DateTimeField(null=True)
    escalates_to = models.CharField(max_length=150, default="", blank=True)
    escalated_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["escalates_at"],
                name="recovery_escalates",
                condition=models.Q(escalates_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"recovery of {self.run_id}"


class RunEvent(models.Model):
    """One step in a run's life. Arguments and result are not repeated here: readers add them."""

    # Found by the index of its constraint.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events", **_UNCHECKED)
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    at = models.DateTimeField()
    data = CanonicalJSONField(default=dict)

    class Meta:
        ordering = ("seq",)
        constraints = (models.UniqueConstraint(fields=["run", "seq"], name="run_event_once"),)

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"


class IdempotencyKey(models.Model):
    """A caller's key for one request; `request_hash` covers tool, version and the whole request."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    request_hash = models.BinaryField(max_length=32)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["persona", "key"], name="idempotency_once"),)

    def __str__(self) -> str:
        return self.key


class DynamicSchema(models.Model):
    """The schema of a version's arguments in one context, as the tool's hook made it in a run."""

    # Found by the index of its constraint.
    tool_version = models.ForeignKey(ToolVersion, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.BinaryField(max_length=32)
    schema = CanonicalJSONField()
    run_id = models.UUIDField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tool_version", "key"], name="dynamic_schema_once"),)

    def __str__(self) -> str:
        return f"schema made in {self.run_id}"


class Schedule(models.Model):
    """A call that the hub makes by the clock, under a persona and on somebody's responsibility.

    `cron` has five fields, read in `time_zone` (an IANA name). `next_at` is the next due time in UTC,
    null while it is switched off. `last_error` says why the last due time made no run.
    """

    name = models.CharField(max_length=80)
    persona = models.ForeignKey(Persona, on_delete=models.PROTECT, related_name="+")
    tool = models.CharField(max_length=64)
    version = models.CharField(max_length=64, blank=True, default="")
    arguments = CanonicalJSONField(default=dict)
    cron = models.CharField(max_length=120)
    time_zone = models.CharField(max_length=64)
    enabled = models.BooleanField(default=True)
    next_at = models.DateTimeField(null=True)
    responsible = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(null=True)
    last_run = models.ForeignKey(Run, on_delete=models.SET_NULL, related_name="+", null=True)
    last_error = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        indexes = (models.Index(fields=["next_at"], name="schedule_due", condition=models.Q(enabled=True)),)

    def __str__(self) -> str:
        return self.name
