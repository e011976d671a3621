"""The write doors of limits."""

from django.db import transaction

from audit.ledger import Entry, record
from core.errors import InvalidRequest
from security.acting import PERSONAS, By, acting, own_check, person_behind
from security.loosening import safeguard_change, safeguarded
from security.models import Persona
from security.policy.models import Limit, Tier
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
    """At most `amount` of `measure` in `window_s` seconds, from the next call on. `tool` is known to exist.

    For a persona, for each persona on a tier, or for all together with a tool. Raises Denied, InvalidRequest.
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
        record(Entry("limit.created", actor, *_about(row), _data(row)))
    return row


@safeguarded("limit.delete")
def limit_delete(*, by: By, limit: Limit) -> None:
    """Takes a limit away with what was counted for it. Raises Denied."""
    things = things_named(limit.persona, limit.tool)
    actor = acting(by, "policy.delete_limit", PERSONAS, on=things)
    on_tier = limit.tier.standings.values_list("persona", flat=True) if limit.tier else ()
    own_check(by, limit.persona_id, *on_tier)
    with transaction.atomic():
        rule = safeguard_change(by, "limit", _about(limit), _data(limit), None, *things)
        _, deleted = Limit.objects.filter(pk=limit.pk).delete()
        if deleted.get("policy.Limit"):
            record(Entry("limit.deleted", actor, *_about(limit), {**_data(limit), **rule}))


def _fits(kind: str, measure: str, amount: int, window_s: int) -> None:
    if kind not in Limit.Kind.values:
        raise field_error("kind", f"One of {', '.join(Limit.Kind.values)}.")
    if measure not in Limit.Measure.values:
        raise field_error("measure", f"One of {', '.join(Limit.Measure.values)}.")
    if kind == Limit.Kind.RATE and measure != Limit.Measure.CALLS:
        raise field_error("measure", "A rate limits calls; seconds and bytes are quotas.")
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
