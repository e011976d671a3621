"""What forms and requests name: personas, tools and times that have to exist."""

from datetime import datetime

from django.utils.dateparse import parse_datetime

from registry.models import Tool
from security.models import Persona, User
from security.policy.models import Flag, Tier
from security.policy.services import field_error
from security.sharing.reach import within


def persona_named(text: str, by: User, field: str = "persona") -> Persona | None:
    """The persona, or None for an empty text. Raises InvalidRequest for one that the person does not see."""
    text = text.strip()
    if not text:
        return None
    found = (
        within(by, Persona.objects.filter(name=text), "security.view_persona").first()
        if "\0" not in text
        else None
    )
    if found is None:
        raise field_error(field, f"There is no persona {text[:64]!r}.")
    return found


def tool_named(text: str, by: User, field: str = "tool") -> str:
    """The tool's name, or an empty text. Raises InvalidRequest for one that the person does not see.

    A rule for a mistyped name would hold nothing.
    """
    text = text.strip()
    rows = Tool.objects.filter(name=text)
    if text and ("\0" in text or not within(by, rows, "registry.view_tool").exists()):
        raise field_error(field, f"There is no tool {text[:64]!r}.")
    return text


def tier_named(text: str, field: str = "tier") -> Tier | None:
    """The tier, or None for an empty text. Raises InvalidRequest for one that does not exist."""
    found = Tier.objects.filter(name=text.strip()).first() if "\0" not in text else None
    if text.strip() and found is None:
        raise field_error(field, f"There is no tier {text[:64]!r}.")
    return found


def flag_named(text: str, field: str = "flag") -> Flag | None:
    """The flag, or None for an empty text. Raises InvalidRequest for one that does not exist."""
    found = Flag.objects.filter(name=text.strip()).first() if "\0" not in text else None
    if text.strip() and found is None:
        raise field_error(field, f"There is no flag {text[:64]!r}.")
    return found


def time_read(text: str | None, field: str = "expires_at") -> datetime | None:
    """An RFC 3339 time with its offset. Raises InvalidRequest."""
    if text is None:
        return None
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise field_error(field, "Write it as 2026-01-31T12:00:00Z.")
    return found
