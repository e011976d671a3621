"""What people add to a tool without touching its release: category, tags, texts, approval of calls."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from audit.ledger import Entry, record
from core.errors import InvalidRequest
from registry.content import MODES
from registry.contracts import CATEGORIES
from registry.event_kinds import TOOL_OVERLAY_EDITED
from registry.models import Tool
from security.acting import By, acting
from security.loosening import safeguard_change, safeguarded

SWITCHES = ("approval", "sanitise")
MEMBERS = ("category", "tags", "documentation", "notes", *SWITCHES, "contentChecks")
TEXT_MAX = 20_000
TAGS_MAX, TAG_MAX = 20, 40


@safeguarded("tool.overlay")
def tool_overlay_edit(*, by: By, tool: Tool, overlay: Mapping[str, Any]) -> Tool:
    """Replaces the overlay; an empty member falls back to the release's. Raises Denied, InvalidRequest."""
    actor = acting(by, "registry.change_tool", on=[tool])
    kept = {name: value for name, value in _checked(overlay).items() if value}
    with transaction.atomic():
        row = Tool.objects.select_for_update(of=("self",)).select_related("active", "package").get(pk=tool.pk)
        before, row.overlay = row.overlay, kept
        subject = "tool", row.name
        rule = safeguard_change(by, "tool", subject, _safeguards(before), _safeguards(kept), row)
        own = row.active.declared.get("category", "custom") if row.active else row.category
        row.category = kept.get("category") or own
        row.asks_approval = kept.get("approval", False)
        row.sanitises = kept.get("sanitise", False)
        row.content_mode = kept.get("contentChecks", "")
        row.save(update_fields=["overlay", "category", "asks_approval", "sanitises", "content_mode"])
        data = {"before": before, "after": kept, **rule}
        record(Entry(TOOL_OVERLAY_EDITED, actor, "tool", row.name, data))
    return row


def _checked(overlay: Mapping[str, Any]) -> dict[str, Any]:
    for name in overlay:
        if name not in MEMBERS:
            raise _wrong(str(name)[:64], f"Only {', '.join(MEMBERS)} can be edited.")
    category, tags = overlay.get("category", ""), overlay.get("tags", [])
    if category and category not in CATEGORIES:
        raise _wrong("category", f"One of {', '.join(CATEGORIES)}.")
    well = isinstance(tags, list) and all(isinstance(tag, str) and 1 <= len(tag) <= TAG_MAX for tag in tags)
    if not well or len(tags) > TAGS_MAX:
        raise _wrong("tags", f"At most {TAGS_MAX} tags of at most {TAG_MAX} characters.")
    for name in SWITCHES:
        if not isinstance(overlay.get(name, False), bool):
            raise _wrong(name, "true, or false.")
    if overlay.get("contentChecks", "") not in ("", *MODES):
        raise _wrong("contentChecks", f"One of {', '.join(MODES)}.")
    for name in ("documentation", "notes"):
        text = overlay.get(name, "")
        if not isinstance(text, str) or len(text) > TEXT_MAX:
            raise _wrong(name, f"Text of at most {TEXT_MAX:,} characters.")
    return dict(overlay)


def _safeguards(overlay: Mapping[str, Any]) -> dict[str, Any]:
    """The members that hold calls back, as security/safeguards.py compares them."""
    switches = {name: bool(overlay.get(name)) for name in SWITCHES}
    return {**switches, "contentChecks": overlay.get("contentChecks", "")}


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
