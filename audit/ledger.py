"""The ledger's one write door. See docs/threat-model.md for what it proves."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from audit.kinds import EventKind
from audit.models import Event
from core.actors import Actor
from core.json.canonical import canonical
from core.rows import row_make


@dataclass(frozen=True)
class Entry:
    """An event before it is written. `data` is JSON; secrets and payloads never belong in it."""

    kind: EventKind
    actor: Actor
    subject_kind: str
    subject_id: str
    data: Mapping[str, Any]
    run_id: UUID | None = None


class UndeclaredEvent(TypeError):
    """An event of a kind that no app declares, or about something that its kind does not name."""

    def __init__(self, entry: Entry) -> None:
        declared = ", ".join(sorted(getattr(entry.kind, "subjects", ())))
        super().__init__(
            f"{entry.kind.name} is declared to be about {declared}, not about {entry.subject_kind}."
            if declared
            else f"{entry.kind!r} is not declared. Declare it with event_kind() in the app's event_kinds.py."
        )


def commitment(salt: bytes, digest: bytes) -> str:
    """SHA-256(salt ‖ digest) in hex: stands in the ledger for a payload.

    The salt lies with the payload. When both are deleted, nothing in the ledger tells what it was.
    """
    return hashlib.sha256(salt + digest).hexdigest()


def leaf_hash(canonical_event: bytes) -> bytes:
    """RFC 6962 §2.1: the hash of a leaf, SHA-256(0x00 ‖ bytes)."""
    return hashlib.sha256(b"\x00" + canonical_event).digest()


def event_row(entry: Entry) -> Event:
    """The row for an entry, with canonical text and leaf, not yet written. Raises UndeclaredEvent."""
    kind = entry.kind
    # Asked without a call: each accepted run passes here twice.
    if entry.subject_kind not in getattr(kind, "subjects", ()):
        raise UndeclaredEvent(entry)
    at = datetime.now(UTC)
    body: dict[str, Any] = {
        "at": at.isoformat(timespec="microseconds"),
        "kind": kind.name,
        "actor": {"kind": entry.actor.kind, "id": entry.actor.id, "name": entry.actor.name},
        "subject": {"kind": entry.subject_kind, "id": entry.subject_id},
        "data": entry.data,
    }
    if entry.run_id is not None:
        body["run"] = str(entry.run_id)
    encoded = canonical(body)
    columns = {
        "at": at,
        "kind": kind.name,
        "actor_kind": entry.actor.kind,
        "actor_id": entry.actor.id,
        "actor_name": entry.actor.name,
        "subject_kind": entry.subject_kind,
        "subject_id": entry.subject_id,
        "run_id": entry.run_id,
        "canonical": encoded.decode(),
        "leaf": leaf_hash(encoded),
    }
    return row_make(Event, columns)


def record(entry: Entry) -> Event:
    """Writes one event in the caller's transaction; without a transaction it refuses.

    Fails closed: what it raises takes the business change back.
    """
    return record_all([entry])[0]


def record_all(entries: list[Entry]) -> list[Event]:
    """Writes several events with one statement, in this order."""
    return rows_write([event_row(entry) for entry in entries])


def rows_write(rows: list[Event]) -> list[Event]:
    """Writes rows made by `event_row`, where the caller needs their leaves before."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError(
            "The ledger is written inside the business transaction only."
        )
    return Event.objects.bulk_create(rows)
