"""The ledger: append-only, canonical, and never apart from the business change."""

import hashlib
import json
from datetime import UTC, datetime
from uuid import UUID

import pytest
import rfc8785
from django.db import DatabaseError, connection, transaction

from audit.kinds import EventKind, Family, Subject
from audit.ledger import Entry, commitment, record, record_all
from audit.models import Event
from core.actors import SYSTEM, Actor
from core.sentences import Sentence
from security.models import Persona, User
from security.services import persona_create

# Made past `event_kind`, so that no other test finds it among those that are declared.
HAPPENED = EventKind(
    "test.happened", Family("tests", "Tests"), (Subject("thing"),), Sentence("Happened"), frozenset({"thing"})
)
RUN = UUID("0192f0c1-7c3a-7000-8000-000000000001")


def entry(**data: object) -> Entry:
    return Entry(HAPPENED, Actor("person", "7", "Ada"), "thing", "a/b", data, RUN)


def raw(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


CHANGES = {
    "UPDATE": "UPDATE audit_event SET kind = 'other'",
    "an UPDATE that changes nothing": "UPDATE audit_event SET kind = kind",
    "an UPDATE of the leaf alone": "UPDATE audit_event SET leaf = leaf",
    "DELETE": "DELETE FROM audit_event",
}


@pytest.mark.django_db
@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_raw_sql_cannot_change_the_ledger(statement: str) -> None:
    record(entry())
    before = list(Event.objects.values_list("id", "kind", "canonical", "leaf"))
    with pytest.raises(DatabaseError, match="append-only"):
        raw(statement)
    assert list(Event.objects.values_list("id", "kind", "canonical", "leaf")) == before


@pytest.mark.django_db
def test_the_orm_cannot_change_the_ledger() -> None:
    event = record(entry())
    event.kind = "other"
    for act in (event.save, event.delete, Event.objects.all().delete):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Event.objects.update(kind="other")
    assert [e.kind for e in Event.objects.all()] == ["test.happened"]


@pytest.mark.django_db
def test_a_replacing_insert_is_refused() -> None:
    event = record(entry())
    columns = "id, at, kind, actor_kind, actor_id, actor_name, subject_kind, subject_id, canonical, leaf"
    values = f"SELECT {columns.replace('kind,', chr(39) + 'forged' + chr(39) + ',', 1)} FROM audit_event"
    statement = f"INSERT OR REPLACE INTO audit_event ({columns}) {values}"
    if connection.vendor == "postgresql":
        statement = (
            f"INSERT INTO audit_event ({columns}) {values} ON CONFLICT (id) DO UPDATE SET kind = 'forged'"
        )
    with pytest.raises(DatabaseError, match="append-only"):
        raw(statement)
    assert Event.objects.get(pk=event.pk).kind == "test.happened"


@pytest.mark.django_db
def test_truncate_is_refused() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL has TRUNCATE")
    record(entry())
    with pytest.raises(DatabaseError, match="append-only"):
        raw("TRUNCATE audit_event CASCADE")
    assert Event.objects.count() == 1


@pytest.mark.django_db
def test_an_event_is_canonical_and_its_leaf_is_the_rfc_6962_hash() -> None:
    row = Event.objects.get(
        pk=record(entry(z=1, a=[5.0, 1e21, "é\u2028", None], **{"\U0001f600": "\ue000"})).pk
    )
    body = {
        "at": row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00"),
        "kind": "test.happened",
        "actor": {"kind": "person", "id": "7", "name": "Ada"},
        "subject": {"kind": "thing", "id": "a/b"},
        "data": {"z": 1, "a": [5.0, 1e21, "é\u2028", None], "\U0001f600": "\ue000"},
        "run": str(RUN),
    }
    expected = rfc8785.dumps(body)
    assert row.canonical.encode() == expected
    assert bytes(row.leaf) == hashlib.sha256(b"\x00" + expected).digest()
    columns = (row.kind, row.actor_kind, row.actor_id, row.actor_name, row.subject_kind, row.subject_id)
    assert columns == ("test.happened", "person", "7", "Ada", "thing", "a/b")
    assert row.run_id == RUN
    assert abs((datetime.now(UTC) - row.at).total_seconds()) < 60


@pytest.mark.django_db
def test_an_event_without_a_run_has_no_run_member() -> None:
    row = record(Entry(HAPPENED, SYSTEM, "thing", "", {}))
    assert "run" not in json.loads(row.canonical)
    assert row.run_id is None


@pytest.mark.django_db(transaction=True)
def test_nothing_is_recorded_outside_a_transaction() -> None:
    with pytest.raises(transaction.TransactionManagementError):
        record(entry())
    assert Event.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_rollback_takes_the_event_and_the_change_back() -> None:
    def change() -> None:
        with transaction.atomic():
            Persona.objects.create(name="ghost")
            record(entry())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change()
    assert (Persona.objects.count(), Event.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_an_event_that_cannot_be_written_takes_the_change_back(admin: User) -> None:
    """The ledger's table is away, really; the persona must not stay."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_event RENAME TO audit_event_away")
    try:
        with pytest.raises(DatabaseError):
            persona_create(by=admin, name="ghost")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE audit_event_away RENAME TO audit_event")
    assert (Persona.objects.count(), Event.objects.count()) == (0, 0)


@pytest.mark.django_db
def test_several_events_keep_their_order() -> None:
    rows = record_all([entry(n=n) for n in range(5)])
    assert [json.loads(e.canonical)["data"]["n"] for e in Event.objects.order_by("id")] == [0, 1, 2, 3, 4]
    assert [row.pk for row in rows] == sorted(row.pk for row in rows)


def test_a_commitment_is_sha256_of_salt_and_digest() -> None:
    """Expected: 16 octets 0x01 and 32 octets 0x02, through sha256sum."""
    assert commitment(b"\x01" * 16, b"\x02" * 32) == (
        "ac2bca3db969f4464f7b2759d64430ea90299eb98385e1a08b1142508a4f657c"
    )


def test_another_salt_gives_another_commitment() -> None:
    assert commitment(b"a" * 16, b"x" * 32) != commitment(b"b" * 16, b"x" * 32)
