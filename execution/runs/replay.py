"""Replaying a run, and comparing the replay with the recording.

A tool that is deterministic, or bounded and given the recorded time and chance, says the same again. One
that is not, or that has effects, is not carried out again unless the caller insists: its recording is the
answer.
"""

from dataclasses import dataclass
from typing import Any

from core.errors import NotFound
from execution.engine.selectors import finished_require, payload_require
from execution.engine.states import FINAL
from execution.engine.submit import Manner, run_submit
from execution.event_kinds import RUN_REPLAYED
from execution.models import Run, Status
from execution.runs.again import request_again, run_again_by
from execution.runs.difference import differences
from registry.models import ToolVersion
from registry.selectors import tool_resolve
from security.models import User
from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Replay:
    """A run and what repeats it: another run, or the recording itself (`replay` is then the run)."""

    original: Run
    replay: Run

    @property
    def is_recording(self) -> bool:
        return self.replay.pk == self.original.pk

    @property
    def finished(self) -> bool:
        return self.replay.status in FINAL

    def as_dict(self) -> dict[str, Any]:
        """`{same, recorded, run_id, replay_run_id, original, replay, difference}`.

        `same` is null until the replay has its outcome. `difference` points into the results (RFC 6901),
        at most 50 places.
        """
        found = comparison(self.original, self.replay) if self.finished else None
        return {
            "same": None if found is None else not found,
            "recorded": self.is_recording,
            "run_id": str(self.original.pk),
            "replay_run_id": None if self.is_recording else str(self.replay.pk),
            "original": _summary(self.original),
            "replay": _summary(self.replay),
            "difference": found or [],
        }


def _summary(run: Run) -> dict[str, Any]:
    return {
        "version": run.tool_version.version,
        "status": run.status,
        "result_hash": bytes(run.result_hash).hex() if run.result_hash else None,
        "error_code": run.error["code"] if run.error else None,
    }


def comparison(original: Run, replay: Run) -> list[dict[str, Any]]:
    """Where the outcomes of two finished runs differ, by pointers into their results. Raises (410)."""
    payload_require(original)
    payload_require(replay)
    return differences(_outcome(original), _outcome(replay))


def _outcome(run: Run) -> dict[str, Any]:
    completed = run.status == Status.COMPLETED
    return {"success": completed, "data": run.result if completed else None, "error": run.error_told}


def repeats_safely(version: ToolVersion) -> bool:
    """Whether the version says the same again, and nothing is touched by it or follows from it."""
    return (
        version.is_pure
        and version.determinism != "non_deterministic"
        and not {"effects", "memory"} & version.extras
    )


def recorded_of(run: Run) -> dict[str, str]:
    """What a replay takes from the recording: the run that fixed chance, and its start.

    A replay of a replay takes what that one took.
    """
    recorded: dict[str, str] = run.request.get("replay_of") or {"run_id": str(run.pk)}
    if "started_at" not in recorded and run.started_at:
        recorded = {**recorded, "started_at": run.started_at.isoformat(timespec="microseconds")}
    return recorded


def run_replay(
    *,
    principal: PersonaPrincipal,
    run: Run,
    manner: Manner,
    version: str | None = None,
    again: bool = False,
    key: str | None = None,
) -> Replay:
    """Replays a finished run of the caller, in its own version or another, through every check.

    Raises ToolHubError (409 without an outcome, 410 without a payload) and what `run_submit` raises.
    """
    finished_require(run)
    payload_require(run)
    meant = tool_resolve(run.tool, principal.persona_id, version).version if version else run.tool_version
    if not again and not repeats_safely(meant):
        return Replay(run, run)
    request = request_again(run, version=meant.version, replay_of=recorded_of(run))
    return Replay(
        run, run_submit(principal=principal, name=run.tool, request=request, manner=manner, key=key)
    )


def run_replay_by(*, by: User, run: Run) -> Run:
    """Replays a run for a person; a worker carries it out, its page compares. Raises as `run_again_by`."""
    finished_require(run)
    request = request_again(run, replay_of=recorded_of(run))
    return run_again_by(by=by, run=run, request=request, kind=RUN_REPLAYED)


def replayed_by(run: Run) -> Replay | None:
    """A finished replay and the run it repeats; None for any other run, or without payloads."""
    if "replay_of" not in run.request or run.origin_id is None:
        return None
    original = Run.objects.select_related("tool_version").filter(pk=run.origin_id).first()
    if original is None:
        raise NotFound("The run that was replayed is gone.")
    expired = original.payload_expired_at or run.payload_expired_at
    return None if expired or run.status not in FINAL else Replay(original, run)
