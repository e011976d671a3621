"""Claiming: the fairest due run becomes this worker's, under a lease."""

import os
import socket
import uuid
from collections import Counter
from dataclasses import dataclass

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Min, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from core.clock import lease_boot, lease_now
from core.failpoints import failpoint
from execution.models import Attempt, Run, Status
from execution.runs.events import CLAIMED, STARTED, event_add, event_next
from execution.runs.states import transition

# So many kinds of waiting work are looked at before a claim gives up and waits for the next bell.
GROUPS = 200


@dataclass(frozen=True)
class Lease:
    """The right to carry a run out: whoever holds the token may start and finish this attempt."""

    run: Run
    token: uuid.UUID
    attempt: int


def worker_name() -> str:
    """Names this process for people: host and pid."""
    return f"{socket.gethostname()[:80]}:{os.getpid()}"


def claim_next(queue: str) -> Lease | None:
    """Claims the fairest due run of a queue; None when nothing is due.

    Fair: the persona with the fewest running runs first, then the tool with the fewest, then age.
    """
    due = Run.objects.filter(queue=queue, status=Status.PENDING, inline=False, due_at__lte=Now())
    groups = list(
        due.order_by().values("persona_id", "tool").annotate(oldest=Min("due_at")).order_by("oldest")[:GROUPS]
    )
    if not groups:
        return None
    if len(groups) > 1:
        personas, tools = _running()
        groups.sort(key=lambda g: (personas[g["persona_id"]], tools[g["tool"]], g["oldest"]))
    for group in groups:
        lease = _claim_one(
            due.filter(persona_id=group["persona_id"], tool=group["tool"]).order_by("due_at", "id")
        )
        if lease:
            return lease
    return None


def _running() -> tuple[Counter[int], Counter[str]]:
    rows = (
        Run.objects.filter(status=Status.RUNNING)
        .order_by()
        .values("persona_id", "tool")
        .annotate(n=Count("pk"))
    )
    personas: Counter[int] = Counter()
    tools: Counter[str] = Counter()
    for row in rows:
        personas[row["persona_id"]] += row["n"]
        tools[row["tool"]] += row["n"]
    return personas, tools


def claim_this(run: Run) -> Lease | None:
    """Claims one given run, for the web process that accepted it; None when somebody was first."""
    return _claim_one(Run.objects.filter(pk=run.pk))


def _claim_one(candidates: QuerySet[Run]) -> Lease | None:
    with transaction.atomic():
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
            lease_ends=lease_now() + settings.LEASE_S,
            lease_boot=lease_boot(),
            events_count=run.events_count + 1,
        )
        if not moved:
            return None
        run.status, run.attempt, run.lease_token = Status.RUNNING, run.attempt + 1, token
        Attempt.objects.create(
            run=run, number=run.attempt, lease_token=token, worker=worker_name(), claimed_at=timezone.now()
        )
        event_next(run, CLAIMED, {"attempt": run.attempt, "worker": worker_name()})
        failpoint("claim.before")
    failpoint("claim.after")
    return Lease(run, token, run.attempt)


def lease_start(lease: Lease) -> bool:
    """Commits that the attempt begins. False when the lease is lost: then nothing may start."""
    now = timezone.now()
    with transaction.atomic():
        mine = Run.objects.filter(pk=lease.run.pk, lease_token=lease.token, status=Status.RUNNING)
        if not mine.update(started_at=now):
            return False
        lease.run.started_at = now
        Attempt.objects.filter(run=lease.run, number=lease.attempt).update(started_at=now)
        event_add(lease.run.pk, STARTED, {"attempt": lease.attempt})
        failpoint("start.before")
    failpoint("start.after")
    return True
