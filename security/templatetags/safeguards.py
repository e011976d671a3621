"""A page's card about its safeguards: who set which, and the changes that wait for a second person."""

from typing import Any

from django import template

from security.models import User
from security.proposals import proposals_about, safeguards_read

register = template.Library()
LABELS = {
    "approval": "Approval of calls",
    "sanitise": "Sanitised arguments",
    "contentChecks": "Content checks",
    "rules": "Rules",
    "flag": "Required flag",
    "is_active": "Switched on or off",
    "isolation": "Minimum isolation",
    "capabilities": "Capabilities of the tier",
    "flags": "Flags of the tier",
    "limits": "Limits of the tier",
    "state": "State",
    "on": "Two-person rule",
}


@register.inclusion_tag("security/_safeguards.html", takes_context=True)
def safeguards(context: Any, subject_kind: str, subject_id: object, *kinds: str) -> dict[str, Any]:
    """The card of a thing: `kinds` of security/safeguards.py. Empty where nothing was set or proposed.

    One query; more only where a change waits.
    """
    key = subject_kind, str(subject_id)
    setters, waits = safeguards_read(key, kinds)
    user = context["request"].user
    return {
        "setters": [{"label": LABELS.get(field, field), "by": by, "at": at} for field, by, at in setters],
        "proposals": proposals_about(user, *key) if waits and isinstance(user, User) else [],
    }
