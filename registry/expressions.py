"""What expressions of a contract see: one scope for rules, preconditions, effects and retries."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

IDS = ("session_id", "task_id", "loop_id", "agent_id", "user_id")
_CONTEXT = {**dict.fromkeys(IDS, "default"), "project": None}


def context_whole(context: Mapping[str, Any]) -> dict[str, Any]:
    """A call's context as expressions and tools see it: ids that the caller left out are `default`."""
    return {**_CONTEXT, **context}


def call_scope(
    arguments: Mapping[str, Any], recorded: Mapping[str, Any], persona: str = ""
) -> dict[str, Any]:
    """What each expression sees of a call: `arguments`, `context`, `context_data`, `persona` and `now`.

    `recorded` has the call's `context` and `context_data`, where they were given. `now` is RFC 3339 in UTC.
    """
    return {
        "arguments": dict(arguments),
        "context": context_whole(recorded.get("context", {})),
        "context_data": dict(recorded.get("context_data", {})),
        "persona": persona,
        "now": timezone.now().isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }
