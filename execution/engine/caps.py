"""Caps: how many runs may be carried out at once, by session, tool, persona and in the whole hub.

The choice of a run (`store/`) looks at them without a lock. Two claims at once may
both see the last free place: so whoever claims under a cap takes the cap's lock and counts again.

Calls that name no session share the persona's default session. Its cap bounds what workers carry out: calls
that the web process carries out at once neither wait for it nor count. Nearly every claim is under it, so its
lock and its count are part of the store's own statements.
"""

from django.conf import settings

from execution.engine.due import DEFAULT_SESSION, Choice
from execution.engine.store import current
from execution.models import Run, Status


def caps_hold(choice: Choice) -> bool:
    """Whether the run's caps are free, also against claims at the same time; in the claim's transaction."""
    caps = caps_of(choice)
    if not caps:
        return True
    current.STORE.names_lock(sorted(f"cap:{name}" for name in caps))
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
