"""What is kept of rights, on PostgreSQL: as long as nothing changed them, and never what was not committed."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from execution.engine.store import rights
from execution.engine.store.epoch import TABLES
from execution.engine.store.statements import row_read
from registry.models import Package
from security.models import Grant, Persona, User
from security.policy.models import Restriction
from security.services import grant_create
from tests.execution.fixtures import is_postgres

Call = Callable[..., Any]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _served() -> None:
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements by which rights were read."""
    made: list[str] = []

    def counted(statement: str, values: Any) -> Any:
        made.append(statement)
        return row_read(statement, values)

    monkeypatch.setattr(rights, "row_read", counted)
    return made


def epoch() -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {rights.EPOCH}")
        return int(cursor.fetchone()[0])


def test_every_table_that_rights_are_read_from_raises_the_epoch() -> None:
    assert set(re.findall(r"(?:FROM|JOIN) ([a-z]+_[a-z]+)", rights.RIGHTS)) == set(TABLES)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE tgname LIKE '%\\_rights'"
        )
        assert set(cursor.fetchall()) == {(table, f"{table}_rights") for table in TABLES}


def test_rights_are_read_once_and_again_after_a_change(
    call: Call, fx: Package, admin: User, persona: Persona, reads: list[str]
) -> None:
    statuses = [call("fx_capable", {}).status_code for _ in range(3)]
    assert (statuses, len(reads)) == ([403] * 3, 1)
    grant = grant_create(by=admin, persona=persona, capability="file:read", reason="r")
    assert [call("fx_capable", {}).status_code for _ in range(3)] == [200] * 3
    assert len(reads) == 2
    with connection.cursor() as cursor:  # past every service
        cursor.execute("DELETE FROM security_grant WHERE id = %s", [grant.pk])
    assert call("fx_capable", {}).status_code == 403
    assert len(reads) == 3


def test_a_transaction_replaces_the_epoch_and_one_that_is_taken_back_does_not(
    admin: User, persona: Persona
) -> None:
    before = epoch()
    rows = [
        Grant(persona=persona, capability=f"a:{n}", granted_by=admin, reason="r", conditions=[])
        for n in range(5)
    ]
    with transaction.atomic():
        Grant.objects.bulk_create(rows)
        Grant.objects.update(reason="other")
    after = epoch()
    assert after != before
    with transaction.atomic():
        Grant.objects.all().delete()
        transaction.set_rollback(True)
    assert epoch() == after


def test_a_database_that_went_back_brings_back_no_rights_that_were_kept(
    call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    assert call("fx_capable", {}).status_code == 403  # a token's first use is not by this way
    before = epoch()
    grant = grant_create(by=admin, persona=persona, capability="file:read", reason="r")
    assert call("fx_capable", {}).status_code == 200
    with connection.cursor() as cursor:  # as a restore does it
        cursor.execute("DELETE FROM security_grant WHERE id = %s", [grant.pk])
        cursor.execute("UPDATE execution_rights_epoch SET value = %s", [before])
    Restriction.objects.create(tool="fx_echo", reason="r", created_by=admin)
    assert call("fx_capable", {}).status_code == 403


def test_changes_of_rights_do_not_wait_for_each_other(admin: User, persona: Persona) -> None:
    """One has yet to check a row that the other holds; counted first, the epoch would stand in their way."""
    other = Persona.objects.create(name="other")

    def change() -> None:
        with transaction.atomic():
            Persona.objects.select_for_update().get(pk=other.pk)
            Grant.objects.create(
                persona=persona, capability="b:1", granted_by=admin, reason="r", conditions=[]
            )
            held.set()
            waits_for_lock()
        connections.close_all()

    held = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            for whose in (persona, other):
                Grant.objects.create(
                    persona=whose, capability="a:1", granted_by=admin, reason="r", conditions=[]
                )
            done = pool.submit(change)
            assert held.wait(30)
        done.result(30)
    assert Grant.objects.count() == 3


def waits_for_lock() -> None:
    """Returns when another session waits for a lock of this transaction's."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    ends = time.monotonic() + 30
    with connection.cursor() as cursor:
        while time.monotonic() < ends:
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(asked)
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise AssertionError("nobody waited")


def test_within_a_transaction_that_changes_rights_nothing_is_kept(
    call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    assert call("fx_capable", {}).status_code == 403
    with transaction.atomic():
        grant_create(by=admin, persona=persona, capability="file:read", reason="r")
        assert call("fx_capable", {}).status_code == 200
        transaction.set_rollback(True)
    assert call("fx_capable", {}).status_code == 403


def test_a_restriction_that_is_kept_ends_when_it_should(
    call: Call, fx: Package, admin: User, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    until = timezone.now() + timedelta(hours=1)
    Restriction.objects.create(tool="fx_echo", reason="r", created_by=admin, expires_at=until)
    assert call("fx_echo", {"value": 1}).status_code == 403

    class Later(rights.datetime):  # type: ignore[name-defined,misc]
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return until + timedelta(seconds=1)

    monkeypatch.setattr(rights, "datetime", Later)
    assert call("fx_echo", {"value": 1}).status_code == 200
    assert len(reads) == 1
