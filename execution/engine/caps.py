"""Caps: how many runs may be carried out at once, by session, tool, persona and in the whole hub.

The choice of a run (`choice.py`, `hotwork.py`) looks at them without a lock. Two claims at once may
both see the last free place: so whoever claims under a cap takes the cap's lock and counts again.

Calls that name no session share the persona's default session. Its cap bounds what workers carry out: calls
that the web process carries out at once neither wait for it nor count. Nearly every claim is under it, so its
lock and its count are part of the claim's own statements (`hotwork.py`).
"""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection

from execution.models import Run, Status

DEFAULT_SESSION = ("", "default")
"""How a run's row names the persona's default session."""


@dataclass(frozen=True)
class Choice:
    """A run that may be claimed, and what its caps are counted by. `at_once` is the tool's, if it has one."""

    run_id: UUID
    persona_id: int
    tool: str
    session: str
    at_once: int | None


def caps_hold(choice: Choice) -> bool:
    """Whether the run's caps are free, also against claims at the same time; in the claim's transaction."""
    caps = caps_of(choice)
    if not caps:
        return True
    if connection.vendor == "postgresql":  # SQLite has one writer
        with connection.cursor() as cursor:
            for name in sorted(caps):
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"cap:{name}"])
    running = Run.objects.filter(status=Status.RUNNING)
    return all(running.filter(**same).count() < most for same, most in caps.values())


def caps_of(choice: Choice) -> dict[str, tuple[dict[str, object], int]]:
    """By name of its lock: which running runs a cap counts, and how many there may be."""
    persona: dict[str, object] = {"persona_id": choice.persona_id}
    caps: dict[str, tuple[dict[str, object], int]] = {}
    if settings.HUB_RUNS_MAX:
        caps["hub"] = ({}, settings.HUB_RUNS_MAX)
    if settings.PERSONA_RUNS_MAX:
        caps[f"persona:{choice.persona_id}"] = (persona, settings.PERSONA_RUNS_MAX)
    if settings.SESSION_RUNS_MAX and choice.session not in DEFAULT_SESSION:
        same = {**persona, "session": choice.session}
        caps[f"session:{choice.persona_id}:{choice.session}"] = (same, settings.SESSION_RUNS_MAX)
    if choice.at_once is not None:
        caps[f"tool:{choice.tool}"] = ({"tool": choice.tool}, choice.at_once)
    return caps
