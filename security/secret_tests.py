"""Tests of secrets: counted against guessing, recorded, and the last one read back.

A test judges the form of each secret and, where a request is declared for it, asks a server. Neither the
record nor the answer holds a part of a secret.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

import orjson
from django.db import connection, transaction

from audit.ledger import Entry, record
from audit.models import Event
from core.actors import Actor
from core.errors import ToolHubError
from core.http.probe import Probe
from security.event_kinds import SECRET_TESTED
from security.guessing.counters import tries_take
from security.guessing.limits import SECRET_TEST
from security.secret_shapes import Shape, State, shape_of

Result = Literal["accepted", "refused", "unclear", "unreachable", "invalid", "missing", "untested"]
RESULTS: Mapping[Result, str] = {
    "accepted": "The server accepted the secrets, and refuses the same request without them.",
    "refused": "The server refused the secrets.",
    "unclear": "The server's answer says nothing about the secrets.",
    "unreachable": "No server was reached.",
    "invalid": "A secret cannot be right; no server was asked.",
    "missing": "A secret is not set; no server was asked.",
    "untested": "Only the form was judged: no request is declared or named.",
}
"""What each result of a test means."""
# How far back the last test of one server is looked for, in tests of all servers.
_BACK = 50


@dataclass(frozen=True)
class SecretReport:
    """What the form of one secret says, in sentences."""

    name: str
    state: State
    notes: tuple[str, ...]

    @classmethod
    def of(cls, name: str, value: str | None, *problems: str) -> "SecretReport":
        """Judge a secret by its form; each of `problems` makes it invalid."""
        shape = Shape("missing", ("It is not set.",)) if value is None else shape_of(value)
        return cls(name, "invalid" if problems else shape.state, (*shape.notes, *problems))


@dataclass(frozen=True)
class Report:
    """What a test found. `host` and `status` are of the server's answer, None where none was asked."""

    result: Result
    message: str
    secrets: tuple[SecretReport, ...]
    host: str | None = None
    status: int | None = None

    @classmethod
    def of(cls, probe: Probe, secrets: tuple[SecretReport, ...], remedy: str = "") -> "Report":
        """The report of a server's answer; `remedy` says what to do where it refused."""
        message = f"{probe.message} {remedy}".strip() if probe.verdict == "refused" else probe.message
        return cls(probe.verdict, message, secrets, probe.host or None, probe.status)


@dataclass(frozen=True)
class PastReport:
    """A recorded test: when, by whom, and what it found."""

    at: datetime
    by: str
    report: Report


@dataclass(frozen=True)
class PreparedTest:
    """A test that may begin."""

    actor: Actor
    scope: str
    act: Callable[[], Report]

    def carry_out(self) -> Report:
        """Make the test and record it. No transaction should be open: a server may take seconds to answer."""
        if not connection.in_atomic_block:
            connection.close()  # back to the pool meanwhile
        report = self.act()
        with transaction.atomic():
            record(Entry(SECRET_TESTED, self.actor, "secret", self.scope, asdict(report)))
        return report


def tests_limit(actor: Actor) -> None:
    """Count a test of the actor's. Raises ToolHubError RATE_LIMIT where the actor has to wait."""
    if wait := tries_take([(SECRET_TEST, f"{actor.kind} {actor.id}")]):
        raise ToolHubError(
            f"Too many tests of secrets. Wait {wait} s, then test again.", code="RATE_LIMIT", retry_after=wait
        )


def past_report(scope: str, name: str | None = None) -> PastReport | None:
    """The last test of a scope's secrets, or of the one of this name; None for none."""
    rows = Event.objects.filter(kind=SECRET_TESTED.name, subject_kind="secret", subject_id=scope).order_by(
        "-id"
    )
    for row in rows[: 1 if name is None else _BACK]:
        data: Mapping[str, Any] = orjson.loads(row.canonical)["data"]
        if name is None or name in {one["name"] for one in data["secrets"]}:
            secrets = tuple(
                SecretReport(one["name"], one["state"], tuple(one["notes"])) for one in data["secrets"]
            )
            return PastReport(row.at, row.actor_name, Report(**{**data, "secrets": secrets}))
    return None
