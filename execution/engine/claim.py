"""Claiming: a run becomes this worker's, under a lease."""

import os
import socket
import uuid

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from core.failpoints import failpoint
from execution.engine.doubt import LOST, is_begun
from execution.engine.events import event_add, event_next
from execution.engine.lease import Lease
from execution.engine.states import transition
from execution.models import Attempt, Run, Status
from execution.run_events import CLAIMED, STARTED


def worker_name() -> str:
    """Names this process for people: host and pid."""
    return f"{socket.gethostname()[:80]}:{os.getpid()}"


def claim_this(run: Run) -> Lease | None:
    """Claims one given run; None when somebody was first."""
    with transaction.atomic():
        lease = claim_make(Run.objects.filter(pk=run.pk))
        failpoint("claim.before")
    failpoint("claim.after")
    return lease


def claim_make(candidates: QuerySet[Run]) -> Lease | None:
    """Claims the first of the candidates that nobody has locked, in the caller's transaction."""
    skip = connection.features.has_select_for_update_skip_locked
    run = (
        candidates.select_related("tool_version__tool__package", "persona")
        .select_for_update(skip_locked=skip, of=("self",) if skip else ())
        .first()
    )
    if run is None:
        return None
    token = uuid.uuid4()
    moved = transition(
        Run.objects.filter(pk=run.pk),
        source=Status.PENDING,
        target=Status.RUNNING,
        who="claim",
        attempt=run.attempt + 1,
        lease_token=token,
        beats=0,
        beat_at=Now(),
        events_count=run.events_count + 1,
    )
    if not moved:
        return None
    run.status, run.attempt, run.lease_token = Status.RUNNING, run.attempt + 1, token
    Attempt.objects.create(
        run=run, number=run.attempt, lease_token=token, worker=worker_name(), claimed_at=timezone.now()
    )
    event_next(run, CLAIMED, {"attempt": run.attempt, "worker": worker_name()})
    return Lease(run, token, run.attempt)


def lease_start(lease: Lease) -> bool:
    """Commits that the attempt begins. False when the lease is lost: then nothing may start."""
    try:
        with transaction.atomic():
            if not start_mark(lease):
                return False
            failpoint("start.before")
    except LOST:
        if connection.in_atomic_block or not is_begun(lease.run, lease.token):
            raise
    failpoint("start.after")
    return True


def start_mark(lease: Lease) -> bool:
    """Marks that the attempt begins, in the caller's transaction. False when the lease is lost."""
    now = timezone.now()
    mine = Run.objects.filter(pk=lease.run.pk, lease_token=lease.token, status=Status.RUNNING)
    if not mine.update(started_at=now):
        return False
    lease.run.started_at = now
    Attempt.objects.filter(run=lease.run, number=lease.attempt).update(started_at=now)
    event_add(lease.run.pk, STARTED, {"attempt": lease.attempt})
    return True
