"""The list of steps in an installation's row: `{name, status, started_at, finished_at}` of each begun one."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from registry.installations.models import STEPS

Steps = Sequence[dict[str, Any]]


def step_mark(steps: Steps, name: str, status: str) -> list[dict[str, Any]]:
    """The steps with this one's new status: running, waiting, done or failed."""
    now = timezone.now().isoformat(timespec="milliseconds")
    known: dict[str, Any] = next((one for one in steps if one["name"] == name), {})
    began = known.get("started_at", now) if status != "running" else now
    made = {"name": name, "status": status, "started_at": began}
    if status in {"done", "failed"}:
        made["finished_at"] = now
    others = [dict(one) for one in steps if one["name"] != name]
    return sorted([*others, made], key=lambda one: STEPS.index(one["name"]))


def steps_stop(steps: Steps) -> list[dict[str, Any]]:
    """The steps of an installation that has ended: none of them runs or waits any more."""
    stopped = list(steps)
    for one in steps:
        if one["status"] in {"running", "waiting"}:
            stopped = step_mark(stopped, one["name"], "failed")
    return stopped
