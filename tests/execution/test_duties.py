"""One poisoned row stops no duty: each duty handles the other rows, records the poisoned one and parks it."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import InterfaceError, connection, models
from django.utils import timezone

from audit.models import Denial
from core.duties import rows
from core.duties.models import DutyRecord, FailedRow
from core.outbox.models import Delivery, State
from execution.features.artefacts.models import Content
from execution.memory.models import Scope, Space
from execution.models import Approval, DynamicSchema, IdempotencyKey, Recovery, Schedule, Status
from execution.rollups.models import Rollup
from execution.steward import duties, duty_perform
from registry.installations.models import Installation
from registry.models import Package, ToolVersion
from security.models import Invitation, Persona, User
from tests.execution.fixtures import MakeRun

pytestmark = pytest.mark.django_db
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
Row = models.Model


@pytest.fixture(autouse=True)
def _beatless(settings: Any) -> None:
    """A running run is over as soon as the reaper sees it."""
    settings.LEASE_S = 0


class Plants:
    """Makes a row that is due, for each duty; `number` makes rows differ."""

    def __init__(self, make_run: MakeRun, persona: Persona, admin: User) -> None:
        self._run, self._persona, self._admin = make_run, persona, admin

    def reaper(self, number: int) -> Row:
        leased = {"attempt": 1, "lease_token": uuid.uuid4()}
        return self._run(status=Status.RUNNING, started=True, **leased)

    def deadlines(self, number: int) -> Row:
        return self._run(deadline_at=LONG_AGO)

    def retries(self, number: int) -> Row:
        return self._run(status=Status.WAITING_RETRY)

    def inline(self, number: int) -> Row:
        return self._run(inline=True, created_at=LONG_AGO)

    def fallbacks(self, number: int) -> Row:
        run = self._run(status=Status.WAITING_STEPS, attempt=1, started=True)
        child = self._run(status=Status.COMPLETED, result=1, duration_ms=1.0)
        return Recovery.objects.create(run=run, child=child).run

    def escalations(self, number: int) -> Row:
        run = self._run(status=Status.AWAITING_PERSON, attempt=1, started=True)
        return Recovery.objects.create(run=run, escalates_at=LONG_AGO, escalates_to="operator")

    def schedules(self, number: int) -> Row:
        return Schedule.objects.create(
            name=f"s{number}",
            persona=self._persona,
            tool="fx_echo",
            arguments={"value": 1},
            cron="0 9 * * *",
            time_zone="UTC",
            next_at=LONG_AGO,
            responsible=self._admin,
        )

    def approvals(self, number: int) -> Row:
        run = self._run(status=Status.AWAITING_APPROVAL)
        return Approval.objects.create(run=run, binding=bytes(32), why="asked", expires_at=LONG_AGO)

    def denials(self, number: int) -> Row:
        return Denial.objects.create(persona="p", tool=f"t{number}", code="PAUSED", window=1, count=2)

    def payloads(self, number: int) -> Row:
        return self._run(
            id=uuid.UUID(int=0x70008000000000000000 + number), status=Status.COMPLETED, completed_at=LONG_AGO
        )

    def artefacts(self, number: int) -> Row:
        return Content.objects.create(digest=f"{number:064}", content=b"a", used_at=LONG_AGO)

    def keys(self, number: int) -> Row:
        return IdempotencyKey.objects.create(
            persona=self._persona,
            key=str(number),
            request_hash=bytes(32),
            run=self._run(),
            expires_at=LONG_AGO,
        )

    def messages(self, number: int) -> Row:
        made = {"kind": "test", "subject": uuid.uuid4(), "owner": "a", "url": "https://a.example"}
        return Delivery.objects.create(**made, state=State.DELIVERED.value, ended_at=LONG_AGO)

    def invitations(self, number: int) -> Row:
        return Invitation.objects.create(person=self._admin, made_by="a", created_at=LONG_AGO)

    def schemas(self, number: int) -> Row:
        version = ToolVersion.objects.get(tool__name="fx_echo")
        key = number.to_bytes(32, "big")
        return DynamicSchema.objects.create(
            tool_version=version, key=key, schema={}, run_id=uuid.uuid4(), expires_at=LONG_AGO
        )

    def memory(self, number: int) -> Row:
        return Space.objects.create(
            persona=self._persona, scope=Scope.choices[0][0], session=f"s{number}", expires_at=LONG_AGO
        )

    def rollups(self, number: int) -> Row:
        begins = LONG_AGO + timedelta(minutes=30 * number)
        zero = {"calls": 0, "completed": 0, "unsuccessful": 0, "times": [], "tools": {}}
        return Rollup.objects.create(begins_at=begins, open=0, owners=0, **zero)

    def installations(self, number: int) -> Row:
        return Installation.objects.create(
            source_type="upload", location="a.zip", person=self._admin, status="running", lease_ends=0.0
        )

    def staged(self, number: int) -> Row:
        return Installation.objects.create(
            source_type="upload",
            location="a.zip",
            person=self._admin,
            status="awaiting_review",
            review_ends_at=LONG_AGO,
        )


# Duties that handle no rows, each with what it does instead.
NO_ROWS = {
    "bells": "counts by one query",
    "folders": "looks at this machine's folders",
    "submissions": "deletes by age, in one statement",
    "tries": "deletes by age, in one statement",
}


@pytest.fixture
def plants(make_run: MakeRun, persona: Persona, admin: User, fx: Package) -> Plants:
    return Plants(make_run, persona, admin)


@pytest.fixture
def poison() -> Callable[[Row], None]:
    """Makes the database refuse every change of a row."""

    def do(row: Row) -> None:
        table, column = row._meta.db_table, row._meta.pk.column
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(
                    "CREATE OR REPLACE FUNCTION poisoned() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$ BEGIN RAISE EXCEPTION 'poisoned'; END $$"
                )
                cursor.execute(
                    f'CREATE TRIGGER poisoned BEFORE UPDATE OR DELETE ON "{table}" FOR EACH ROW '
                    f"WHEN (OLD.\"{column}\"::text = '{_text(row)}') EXECUTE FUNCTION poisoned()"
                )
                return
            key = row._meta.pk.get_db_prep_value(row.pk, connection)
            for act in ("UPDATE", "DELETE"):
                cursor.execute(
                    f'CREATE TRIGGER poisoned_{act} BEFORE {act} ON "{table}" '
                    f"WHEN OLD.\"{column}\" = '{key}' BEGIN SELECT RAISE(ABORT, 'poisoned'); END"
                )

    return do


def _text(row: Row) -> str:
    if isinstance(row.pk, datetime):
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s::timestamptz::text", [row.pk])
            return str(cursor.fetchone()[0])
    return str(row.pk)


def state(row: Row) -> dict[str, Any] | None:
    return type(row)._base_manager.filter(pk=row.pk).values().first()


def test_every_duty_that_handles_rows_is_tried() -> None:
    planted = {name for name in vars(Plants) if not name.startswith("_")}
    assert planted | set(NO_ROWS) == {duty.name for duty in duties()}


@pytest.mark.parametrize("name", [name for name in vars(Plants) if not name.startswith("_")])
def test_a_poisoned_row_stops_no_other(
    name: str, plants: Plants, poison: Callable[[Row], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    [duty] = [duty for duty in duties() if duty.name == name]
    first, second, third = (getattr(plants, name)(number) for number in range(3))
    before = {row.pk: state(row) for row in (first, second, third)}
    poison(second)
    duty_perform(duty)
    assert state(first) != before[first.pk]
    assert state(second) == before[second.pk]
    assert state(third) != before[third.pk]
    failed = FailedRow.objects.get()
    assert (failed.failures, "poisoned" in failed.error) == (1, True)
    for _ in range(rows.FAILURES):
        duty_perform(duty)
    failed.refresh_from_db()
    # The turn after the last failure left it alone.
    assert (failed.failures, failed.due_at > timezone.now()) == (rows.FAILURES, True)
    # A row that is parked does not keep the place of one that comes later.
    monkeypatch.setattr(rows, "BATCH", 1)
    later = getattr(plants, name)(3)
    unhandled = state(later)
    duty_perform(duty)
    assert state(later) != unhandled


def test_a_zone_that_is_no_longer_known_stops_no_other_schedule(plants: Plants) -> None:
    [duty] = [duty for duty in duties() if duty.name == "schedules"]
    lost, good = plants.schedules(1), plants.schedules(2)
    Schedule.objects.filter(pk=lost.pk).update(time_zone="Atlantis/Capital")
    duty_perform(duty)
    assert Schedule.objects.get(pk=good.pk).next_at > timezone.now()
    [failed] = FailedRow.objects.all()
    assert (failed.duty, failed.key, "Atlantis/Capital" in failed.error) == ("schedules", str(lost.pk), True)
    Schedule.objects.filter(pk=lost.pk).update(time_zone="UTC")
    duty_perform(duty)
    assert not FailedRow.objects.exists()
    assert Schedule.objects.get(pk=lost.pk).next_at > timezone.now()


def test_a_database_that_is_away_is_no_failure_of_a_row(plants: Plants) -> None:
    plants.schedules(1)

    def lost(_key: int) -> int:
        raise InterfaceError("connection already closed")

    with pytest.raises(InterfaceError):
        rows.each("schedules", Schedule.objects.all(), lost)
    assert not FailedRow.objects.exists()
    assert not DutyRecord.objects.exists()
