"""The page of duties: last successes, failed rows, and another try for one."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Event
from core.duties.journal import Journal
from core.duties.models import FailedRow
from core.duties.rows import FAILURES
from execution.steward import duties
from monitoring.duties import PURPOSES
from tests.pages.conftest import Eyes

pytestmark = pytest.mark.django_db


def parked() -> FailedRow:
    later = timezone.now() + timedelta(hours=1)
    return FailedRow.objects.create(
        duty="schedules", key="7", failures=FAILURES, error="ZoneInfoNotFoundError: <Atlantis>", due_at=later
    )


def test_the_page_shows_duties_and_failed_rows(eyes: Client) -> None:
    journal = Journal()
    journal.succeeded("reaper")
    journal.failed("keys", ValueError("odd\0 value"))
    parked()
    page = eyes.get("/settings/duties/").content.decode()
    for text in ("reaper", "schedules", "ZoneInfoNotFoundError: &lt;Atlantis&gt;", "ValueError: odd value"):
        assert text in page
    assert "1 row fails in a duty of the steward" in eyes.get("/").content.decode()


def test_a_row_is_tried_again(eyes: Client) -> None:
    row = parked()
    assert eyes.get(f"/settings/duties/{row.pk}/retry/").status_code == 200
    assert eyes.post(f"/settings/duties/{row.pk}/retry/").status_code == 302
    assert FailedRow.objects.get().due_at <= timezone.now()
    assert Event.objects.get(kind="duty.row_retried").subject_id == "schedules"


def test_who_may_only_look_tries_nothing_again(eyes_with: Eyes) -> None:
    row = parked()
    eyes = eyes_with("duties.view_failedrow")
    assert f"/settings/duties/{row.pk}/retry/" not in eyes.get("/settings/duties/").content.decode()
    assert eyes.post(f"/settings/duties/{row.pk}/retry/").status_code == 404
    assert FailedRow.objects.get().due_at > timezone.now()


def test_a_duty_that_goes_well_is_written_rarely() -> None:
    journal = Journal()
    journal.succeeded("reaper")
    with CaptureQueriesContext(connection) as asked:
        for _ in range(100):
            journal.succeeded("reaper")
    assert len(asked) == 0


def test_the_page_says_what_each_duty_is_for(eyes: Client) -> None:
    names = {duty.name for duty in duties()}
    assert set(PURPOSES) == names
    journal = Journal()
    for name in names:
        journal.succeeded(name)
    page = eyes.get("/settings/duties/").content.decode()
    for purpose in PURPOSES.values():
        assert f">{purpose}</td>" in page
