"""Create, change and delete limits: permission, change and audit event in one transaction."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from audit.ledger import Entry, record
from core.errors import InvalidRequest, NotFound
from security.acting import PERSONAS, By, acting, own_check, person_behind
from security.event_kinds import LIMIT_CHANGED, LIMIT_CREATED, LIMIT_DELETED
from security.loosening import safeguard_change, safeguarded
from security.models import Persona
from security.policy.models import Limit, Tier, Usage
from security.policy.services import field_error
from security.sharing.kinds import things_named

AMOUNT_MAX = 10**15
WINDOW_MAX = 366 * 86_400


def limit_create(
    *,
    by: By,
    kind: str,
    measure: str,
    amount: int,
    window_s: int,
    persona: Persona | None = None,
    tier: Tier | None = None,
    tool: str = "",
) -> Limit:
    """Limit calls to `amount` of `measure` in `window_s` seconds, from the next call on.

    The limit counts a persona, each persona on a tier, or, with a tool alone, all personas together. The
    caller checked that `tool` exists. Raises Denied, InvalidRequest.
    """
    actor = acting(by, "policy.add_limit", PERSONAS, on=things_named(persona, tool))
    _fits(kind, measure, amount, window_s)
    if persona is not None and tier is not None:
        raise field_error("tier", "Name a persona or a tier.")
    if persona is None and tier is None and not tool:
        raise field_error("tool", "Name a persona, a tier or a tool.")
    with transaction.atomic():
        row = Limit.objects.create(
            kind=kind,
            measure=measure,
            amount=amount,
            window_s=window_s,
            persona=persona,
            tier=tier,
            tool=tool,
            created_by=person_behind(by),
        )
        record(Entry(LIMIT_CREATED, actor, *_about(row), _data(row)))
    return row


@safeguarded("limit.change")
def limit_change(
    *, by: By, limit: Limit, kind: str | None = None, amount: int | None = None, window_s: int | None = None
) -> Limit:
    """Change a limit from the next call on, and return it. None leaves a value as it is.

    A window that is open keeps its start and its count, and ends `window_s` seconds after its start.
    Persona, tier, tool and measure say what the limit counts, and stay. Raises Denied, InvalidRequest,
    NotFound.
    """
    things = things_named(limit.persona, limit.tool)
    actor = acting(by, "policy.change_limit", PERSONAS, on=things)
    _own_check(by, limit)
    with transaction.atomic():
        rows = Limit.objects.select_related("persona", "tier", "created_by")
        row = rows.select_for_update(of=("self",)).filter(pk=limit.pk).first()
        if row is None:
            raise NotFound("Somebody deleted the limit in the meantime.")
        given = {"kind": kind, "amount": amount, "window_s": window_s}
        changed = {name: value for name, value in given.items() if value not in (None, getattr(row, name))}
        before, seconds = _data(row), row.window_s
        for name, value in changed.items():
            setattr(row, name, value)
        _fits(row.kind, row.measure, row.amount, row.window_s, new=False)
        if changed:
            after = _data(row)
            rule = safeguard_change(by, "limit", _about(row), before, after, *things)
            row.changed_by, row.changed_at = person_behind(by), timezone.now()
            row.save(update_fields=[*changed, "changed_by", "changed_at"])
            _windows_move(row, row.window_s - seconds)
            old = {name: before[name] for name in changed}
            record(Entry(LIMIT_CHANGED, actor, *_about(row), {**after, "before": old, **rule}))
    return row


def _windows_move(row: Limit, by_s: int) -> None:
    """Move the ends of a limit's windows, under locks in the order in which calls take them."""
    if by_s:
        usage = Usage.objects.filter(limit=row)
        list(usage.select_for_update().order_by("whose").values_list("pk"))
        usage.update(ends_at=F("ends_at") + timedelta(seconds=by_s))


@safeguarded("limit.delete")
def limit_delete(*, by: By, limit: Limit) -> None:
    """Delete a limit and what was counted for it. Raises Denied."""
    things = things_named(limit.persona, limit.tool)
    actor = acting(by, "policy.delete_limit", PERSONAS, on=things)
    _own_check(by, limit)
    with transaction.atomic():
        rule = safeguard_change(by, "limit", _about(limit), _data(limit), None, *things)
        _, deleted = Limit.objects.filter(pk=limit.pk).delete()
        if deleted.get("policy.Limit"):
            record(Entry(LIMIT_DELETED, actor, *_about(limit), {**_data(limit), **rule}))


def _own_check(by: By, limit: Limit) -> None:
    """Raise Denied for an agent whose own calls the limit counts."""
    on_tier = limit.tier.standings.values_list("persona", flat=True) if limit.tier else ()
    own_check(by, limit.persona_id, *on_tier)


def _fits(kind: str, measure: str, amount: int, window_s: int, *, new: bool = True) -> None:
    if kind not in Limit.Kind.values:
        raise field_error("kind", f"One of {', '.join(Limit.Kind.values)}.")
    if measure not in Limit.Measure.values:
        raise field_error("measure", f"One of {', '.join(Limit.Measure.values)}.")
    if kind == Limit.Kind.RATE and measure != Limit.Measure.CALLS:
        raise field_error("measure" if new else "kind", "A rate limits calls; seconds and bytes are quotas.")
    if not 1 <= amount <= AMOUNT_MAX:
        raise _range("amount", AMOUNT_MAX)
    if not 1 <= window_s <= WINDOW_MAX:
        raise _range("window_s", WINDOW_MAX)


def _range(field: str, most: int) -> InvalidRequest:
    return field_error(field, f"A whole number from 1 to {most}.")


def _about(row: Limit) -> tuple[str, str]:
    if row.persona:
        return "persona", str(row.persona_id)
    return ("tier", row.tier.name) if row.tier else ("tool", row.tool)


def _data(row: Limit) -> dict[str, object]:
    named = {
        "persona": row.persona.name if row.persona else "",
        "tier": row.tier.name if row.tier else "",
        "tool": row.tool,
    }
    data: dict[str, object] = {name: value for name, value in named.items() if value}
    return data | {
        "kind": str(row.kind),
        "measure": str(row.measure),
        "amount": row.amount,
        "window_s": row.window_s,
    }
