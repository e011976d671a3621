"""The write doors of policy: permission, change and audit in one transaction."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, InvalidRequest
from security.acting import PERSONAS, By, acting, own_check, person_behind
from security.event_kinds import (
    PAUSE_BEGUN,
    PAUSE_ENDED,
    PERSONA_ISOLATION_SET,
    RESTRICTION_CREATED,
    RESTRICTION_LIFTED,
)
from security.loosening import safeguard_change, safeguarded
from security.models import Persona
from security.policy.capability_names import capability_read
from security.policy.models import Restriction, Standing
from security.policy.selectors import pauses_of
from security.safeguards import ISOLATION
from security.sharing.kinds import things_named

REASON_MAX = 200
_NONE: Mapping[str, str] = {}


def restriction_create(
    *,
    by: By,
    persona: Persona | None = None,
    tool: str = "",
    capability: str = "",
    reason: str,
    expires_at: datetime | None = None,
) -> Restriction:
    """Denies calls from the next one on; what is named has to fit all at once. `tool` is known to exist.

    Raises Denied, InvalidRequest.
    """
    actor = acting(by, "policy.add_restriction", PERSONAS, on=things_named(persona, tool))
    if capability:
        capability_read(capability)
    if persona is None and not tool and not capability:
        raise field_error(
            "capability", "Name a persona, a tool or a capability. To stop all calls, pause the hub."
        )
    return _create(by, actor, persona, tool, capability, reason, expires_at, is_pause=False)


def pause_begin(
    *,
    by: By,
    persona: Persona | None = None,
    tool: str = "",
    reason: str,
    expires_at: datetime | None = None,
) -> Restriction:
    """Pauses a persona, a tool, or the whole hub: calls are refused, runs that wait go on waiting.

    Raises Denied, InvalidRequest, Conflict when it is paused already.
    """
    actor = acting(by, "policy.add_restriction", PERSONAS, on=things_named(persona, tool))
    if persona is not None and tool:
        raise field_error("tool", "Pause a persona or a tool; to keep one from the other, restrict it.")
    if any(
        row.persona_id == (persona.pk if persona else None) and row.tool == tool
        for row in pauses_of(persona, tool)
    ):
        raise Conflict(f"{tool or (persona.name if persona else 'The hub')} is paused already.")
    return _create(by, actor, persona, tool, "", reason, expires_at, is_pause=True)


def _create(
    by: By,
    actor: Actor,
    persona: Persona | None,
    tool: str,
    capability: str,
    reason: str,
    expires_at: datetime | None,
    *,
    is_pause: bool,
) -> Restriction:
    reason = reason_read(reason)
    if expires_at is not None and expires_at <= timezone.now():
        raise field_error("expires_at", "The time has passed.")
    with transaction.atomic():
        row = Restriction.objects.create(
            persona=persona,
            tool=tool,
            capability=capability,
            is_pause=is_pause,
            reason=reason,
            created_by=person_behind(by),
            expires_at=expires_at,
        )
        record(_entry(PAUSE_BEGUN if is_pause else RESTRICTION_CREATED, actor, row))
    return row


@safeguarded("restriction.lift")
def restriction_lift(*, by: By, restriction: Restriction) -> None:
    """Ends a restriction or a pause; the next call sees it. Raises Denied."""
    named = things_named(restriction.persona, restriction.tool)
    actor = acting(by, "policy.delete_restriction", PERSONAS, on=named)
    own_check(by, restriction.persona_id)
    before = {name: getattr(restriction, name) for name in ("tool", "capability", "is_pause", "expires_at")}
    with transaction.atomic():
        rule = safeguard_change(by, "restriction", _about(restriction), before, None, *named)
        deleted, _ = Restriction.objects.filter(pk=restriction.pk).delete()
        if deleted:
            kind = PAUSE_ENDED if restriction.is_pause else RESTRICTION_LIFTED
            record(_entry(kind, actor, restriction, rule))


@safeguarded("persona.isolation")
def isolation_set(*, by: By, persona: Persona, isolation: str) -> None:
    """The least isolation of a persona's calls, from the next one on; empty: as tools ask.

    Raises Denied, InvalidRequest.
    """
    actor = acting(by, "policy.change_standing", PERSONAS, on=[persona])
    own_check(by, persona.pk)
    if isolation not in ISOLATION:
        raise field_error("isolation", f"One of {', '.join(ISOLATION[1:])}, or empty.")
    with transaction.atomic():
        row, _ = Standing.objects.select_for_update().get_or_create(persona=persona)
        if row.isolation == isolation:
            return
        subject = "persona", str(persona.pk)
        before, after = {"isolation": row.isolation}, {"isolation": isolation}
        rule = safeguard_change(by, "standing", subject, before, after, persona)
        row.isolation = isolation
        row.save(update_fields=["isolation"])
        data = {"persona": persona.name, "isolation": isolation, **rule}
        record(Entry(PERSONA_ISOLATION_SET, actor, "persona", str(persona.pk), data))


def reason_read(text: str) -> str:
    """The reason without white space around it. Raises InvalidRequest for none."""
    text = text.strip()
    if not 1 <= len(text) <= REASON_MAX or "\0" in text:
        raise field_error("reason", f"Say why, in 1 to {REASON_MAX} characters.")
    return text


def field_error(field: str, message: str) -> InvalidRequest:
    """What is wrong with one field of a request or form."""
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])


def _entry(kind: EventKind, actor: Actor, row: Restriction, rule: Mapping[str, str] = _NONE) -> Entry:
    named = {
        "persona": row.persona.name if row.persona else "",
        "tool": row.tool,
        "capability": row.capability,
    }
    data: dict[str, object] = {name: value for name, value in named.items() if value}
    data |= {"reason": row.reason, "expires_at": row.expires_at.isoformat() if row.expires_at else None}
    return Entry(kind, actor, *_about(row), {**data, **rule})


def _about(row: Restriction) -> tuple[str, str]:
    if row.persona:
        return "persona", str(row.persona_id)
    return ("tool", row.tool) if row.tool else ("hub", "policy")
