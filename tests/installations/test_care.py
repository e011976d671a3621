"""The steward rings for what stays queued, without filling the broker, and ends what lost its workers."""

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.installations import bells, care
from registry.installations.job import job_claim
from registry.installations.models import Installation
from registry.installations.services import installation_start
from registry.installations.source_form import Source
from registry.models import Archive
from security.models import User
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_stays_queued_is_rung_for_again_only_after_a_while(
    admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(bells, "bell_send", lambda task, queue: bool(rung.append(queue)))
    monkeypatch.setattr(care, "REMINDER", bells.Reminder())
    care.installations_care()
    assert rung == []
    installation_start(by=admin, source=Source("upload", "greetings.zip"), content=packages.zipped())
    assert rung == ["install"]
    for _ in range(3):
        care.installations_care()
    assert rung == ["install", "install"]
    care.REMINDER.rung -= bells.AGAIN_S
    care.installations_care()
    assert rung == ["install"] * 3


def test_what_lost_its_worker_too_often_ends_with_no_step_left_running(admin: User) -> None:
    one = installation_start(by=admin, source=Source("upload", "greetings.zip"), content=packages.zipped())
    for attempt in range(1, care.ATTEMPTS_MAX + 1):
        job = job_claim()
        assert job is not None
        job.write(step="fetch", steps=job.step_mark("fetch", "running"))
        Installation.objects.filter(pk=one.pk).update(lease_ends=0.0)
        assert care.installations_care() == 1
        one.refresh_from_db()
        assert one.status == ("failed" if attempt == care.ATTEMPTS_MAX else "queued")
    assert one.error["code"] == "WORKER_LOST"
    [step] = one.steps
    assert (step["name"], step["status"]) == ("fetch", "failed")
    assert step["finished_at"]


def test_an_archive_that_nothing_names_goes_after_a_day(install: Install, fetch: Install) -> None:
    used, waiting = install().digest, fetch(version="2.0.0").digest
    for digest in ("0" * 64, "1" * 64):
        Archive.objects.create(digest=digest, content=b"x", size=1, files={})
    Archive.objects.exclude(pk="1" * 64).update(created_at=timezone.now() - timedelta(days=2))
    assert care.installations_tidy() == 1
    assert set(Archive.objects.values_list("pk", flat=True)) == {used, waiting, "1" * 64}
