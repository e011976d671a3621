"""An installation as the API answers it: S4's members, and ours."""

from typing import Any

from registry.installations.approval import objection_of
from registry.installations.models import Installation, LogLine, Status


def installation_view(one: Installation, *, brief: bool = False) -> dict[str, Any]:
    """`success` is None until it has ended, `tool_name` the package, `warnings` and `errors` texts.

    `brief` leaves out what stands in the report, which may be long.
    """
    ended = {Status.PUBLISHED: True, Status.FAILED: False, Status.CANCELLED: False}
    made = {
        "success": ended.get(Status(one.status)),
        "tool_name": one.package or None,
        "version": one.version or None,
        "errors": [one.error["message"]] if one.error else [],
        "id": str(one.pk),
        "status": one.status,
        "step": one.step,
        "steps": one.steps,
        "source": source_view(one),
        "digest": one.digest or None,
        "error": one.error,
        "release": one.release_id,
        "asked_by": one.asked_by,
        "activation": _activation(one),
        "team": one.team.name if one.team else None,
        "review_ends_at": one.review_ends_at.isoformat() if one.review_ends_at else None,
        "created_at": one.created_at.isoformat(),
        "finished_at": one.finished_at.isoformat() if one.finished_at else None,
    }
    if not brief:
        made["dependencies"] = one.report.get("dependencies", [])
        made["warnings"] = [warning["message"] for warning in one.report.get("warnings", [])]
        made["report"] = one.report
    return made


def _activation(one: Installation) -> dict[str, Any] | None:
    if one.status != Status.AWAITING_REVIEW:
        return None
    objection = objection_of(one)
    return {"proposed": not objection, "reason": objection}


def line_view(line: LogLine) -> dict[str, Any]:
    """A line of the log."""
    return {"seq": line.seq, "at": line.at.isoformat(), "step": line.step, "text": line.text}


def source_view(one: Installation) -> dict[str, str]:
    """The source as it was given, without the query of an address."""
    made = {
        "type": one.source_type,
        "location": one.location,
        "ref": one.ref,
        "path": one.path,
        "digest": one.expected_digest,
    }
    return {name: str(value) for name, value in made.items() if value}
