"""What an attempt ended with, as a value, before anything is written."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from audit.models import Event
from core.errors import error_object
from core.json.canonical import canonical
from execution.engine.changes import Change
from execution.models import Run, Status
from execution.run_events import CALL_COMPLETED, CALL_FAILED
from execution.side_effects import SideEffect

Files = Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Outcome:
    """One attempt's end. `data` is the normalised result and `encoded` its canonical bytes, on success.

    Times in UTC; `duration_ms` counts the tool's own work. `sandbox` says what held the tool, `{level,
    filter, limits}`; None for built-in tools.
    """

    status: Status
    started_at: datetime
    ended_at: datetime
    duration_ms: float
    data: Any = None
    encoded: bytes = b""
    error: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    resources: Mapping[str, Any] = field(default_factory=dict)
    sandbox: Mapping[str, Any] | None = None
    # Events of the attempt that are told with its outcome, as kind and data.
    told: Sequence[tuple[str, Mapping[str, Any]]] = ()
    # Files that the tool left for its caller, as name and content.
    files: Files = field(default=(), repr=False)
    # What the tool asks to have changed in memory.
    memory: tuple[Change, ...] = ()
    # How far the effect can have gone, where whoever carried the attempt out knows; else how it ended tells.
    side_effect: SideEffect | None = None
    # What starting took, before the tool's own work, in ms.
    start_ms: float = 0.0

    @property
    def result_hash(self) -> bytes | None:
        """SHA-256 of the canonical result; None without a result."""
        return hashlib.sha256(self.encoded).digest() if self.encoded else None

    @property
    def event(self) -> str:
        return CALL_COMPLETED if self.status is Status.COMPLETED else CALL_FAILED

    @property
    def error_code(self) -> str:
        return str(self.error["code"]) if self.error else ""


def outcome_set(run: Run, outcome: Outcome, at: datetime, ledger: Event) -> None:
    """Puts an outcome into a run as its row has it, or will have it: nothing is written."""
    run.status, run.completed_at, run.duration_ms = outcome.status, at, outcome.duration_ms
    run.result = outcome.data if outcome.status is Status.COMPLETED else None
    run.result_hash, run.error, run.resources = outcome.result_hash, outcome.error, dict(outcome.resources)
    run.warnings = [*run.warnings, *outcome.warnings]
    run.outcome_leaf, run.sandbox = ledger.leaf, outcome.sandbox
    run.side_effect = outcome.side_effect or ""


def failure(
    code: str,
    message: str,
    *,
    at: datetime,
    status: Status = Status.FAILED,
    details: Mapping[str, Any] | None = None,
    side_effect: SideEffect | None = None,
) -> Outcome:
    """An outcome without a result that took no time of the tool's."""
    error = error_object(code, message, details=details)
    return Outcome(status, at, at, 0.0, error=error, side_effect=side_effect)


def success(data: Any, *, started_at: datetime, ended_at: datetime, duration_ms: float) -> Outcome:
    """A completed outcome. Raises CanonicalError when the data is not JSON."""
    return Outcome(
        Status.COMPLETED,
        started_at,
        ended_at,
        duration_ms,
        data=data,
        encoded=canonical(data),
        side_effect=SideEffect.DONE,
    )


def files_view(files: Files) -> list[dict[str, Any]]:
    """The files as they stand in the run and in the ledger: name, size and hash."""
    return [
        {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files
    ]
