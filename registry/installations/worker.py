"""Carries installations out, step by step. Each step can be done again from its start."""

import errno
import logging
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import ToolHubError, error_object
from core.failpoints import failpoint
from registry.event_kinds import INSTALLATION_CANCELLED, INSTALLATION_FAILED
from registry.installations.cleaning import failed_bound, staged_remove
from registry.installations.fetch import fetch
from registry.installations.inspection import inspect
from registry.installations.job import Job, LeaseLost, job_claim, job_held
from registry.installations.models import STEPS, Status
from registry.installations.prepare import prepare
from registry.installations.publish import publish
from registry.installations.self_test import self_test
from registry.installations.verify import verify

log = logging.getLogger(__name__)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
# Review is a person's: there the job waits.
ACTS: dict[str, Callable[[Job], None]] = {
    "fetch": fetch,
    "verify": verify,
    "inspect": inspect,
    "prepare": prepare,
    "self_test": self_test,
    "publish": publish,
}


def installations_work() -> int:
    """Carries out what is queued until nothing is; returns how many installations that were."""
    done = 0
    while job := job_claim():
        job_perform(job)
        done += 1
    return done


def job_perform(job: Job) -> None:
    """Takes an installation to its review or its end. Never raises for what a package does."""
    try:
        with job_held(job):
            _steps(job)
    except LeaseLost:
        log.warning("installation %s: the lease was lost", job.installation.pk)


def _steps(job: Job) -> None:
    for name in STEPS[STEPS.index(job.installation.step) :]:
        if name == "review":
            if not job.installation.choices:
                return _wait(job)
            continue
        job.write(step=name, steps=job.step_mark(name, "running"))
        try:
            job.check()
            failpoint(f"install.{name}")
            ACTS[name](job)
        except ToolHubError as error:
            return _ended(job, error)
        except LeaseLost:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                full = ToolHubError("The hub's disk has no room left.", code="RESOURCE_EXCEEDED")
                return _ended(job, full)
            log.exception("step %s of installation %s failed", name, job.installation.pk)
            return _ended(job, ToolHubError("The hub made a mistake. It is logged.", code="INTERNAL"))
        if name != STEPS[-1]:
            job.write(steps=job.step_mark(name, "done"))
    return None


def _wait(job: Job) -> None:
    """Hands the installation to its reviewers."""
    try:
        job.leave(
            step="review",
            status=Status.AWAITING_REVIEW,
            steps=job.step_mark("review", "waiting"),
            review_ends_at=timezone.now() + timedelta(days=settings.REVIEW_DAYS),
        )
    except ToolHubError as error:
        _ended(job, error)


def _ended(job: Job, error: ToolHubError) -> None:
    """Records that the step failed, or was cancelled, and takes away what was staged."""
    cancelled = error.code == "CANCELLED" or job.cancelled.is_set()
    shown = error_object("CANCELLED", "The installation was cancelled.") if cancelled else error.as_error()
    if error.errors and not cancelled:
        shown["details"] = {**shown["details"], "errors": error.errors}
    job.say(shown["message"])
    one = job.installation
    with transaction.atomic():
        job.write(
            status=Status.CANCELLED if cancelled else Status.FAILED,
            error=shown,
            steps=job.step_mark(one.step, "failed"),
            finished_at=timezone.now(),
            lease_token=None,
            **({"sealed_location": ""} if cancelled else {}),
        )
        data = {"step": one.step, "code": shown["code"], "package": one.package, "version": one.version}
        kind = INSTALLATION_CANCELLED if cancelled else INSTALLATION_FAILED
        record(Entry(kind, Actor(**one.asked_by), "installation", str(one.pk), data))
        if cancelled:
            staged_remove(one)
    failed_bound()
