"""The write doors of tiers and feature flags."""

import re
from collections.abc import Sequence
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, InvalidRequest, ToolHubError
from security.acting import PERSONAS, By, acting, own_check, person_answering
from security.decisions import limit_words
from security.event_kinds import (
    FLAG_CREATED,
    FLAG_DELETED,
    FLAG_SWITCHED,
    PERSONA_TIER_SET,
    TIER_CHANGED,
    TIER_CREATED,
    TIER_DELETED,
    TOOL_FLAG_SET,
)
from security.giving import capabilities_check
from security.loosening import safeguard_change, safeguarded
from security.models import Persona
from security.policy.capability_names import capability_read
from security.policy.models import Flag, FlaggedTool, Standing, Tier
from security.policy.selectors import limit_fact
from security.policy.services import field_error, isolation_set
from security.sharing.kinds import KINDS, things_named
from security.sharing.reach import about

NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
DESCRIPTION_MAX = 300
ITEMS_MAX = 200
# So many names stand in a refusal.
SHOWN = 20
Row = TypeVar("Row", bound=Model)


def tier_create(*, by: By, name: str, description: str = "") -> Tier:
    """A tier that grants nothing yet. Raises Denied, InvalidRequest, Conflict."""
    actor = acting(by, "policy.add_tier", PERSONAS)
    name_check(name)
    try:
        with transaction.atomic():
            tier = Tier.objects.create(name=name, description=_described(description))
            record(Entry(TIER_CREATED, actor, "tier", name, {"tier": name}))
    except IntegrityError as error:
        raise _taken("tier", name) from error
    return tier


@safeguarded("tier.change")
def tier_change(
    *,
    by: By,
    tier: Tier,
    description: str | None = None,
    capabilities: Sequence[str] | None = None,
    flags: Sequence[str] | None = None,
) -> None:
    """What the tier grants to its personas, from their next call on; None leaves a part as it is.

    Raises Denied, InvalidRequest.
    """
    actor = acting(by, "policy.change_tier", PERSONAS)
    own_check(by, *tier.standings.values_list("persona", flat=True))
    new = {
        "description": tier.description if description is None else _described(description),
        "capabilities": tier.capabilities if capabilities is None else _capabilities(capabilities),
        "flags": tier.flags if flags is None else _flags(flags),
    }
    capabilities_check(by, sorted(set(new["capabilities"]) - set(tier.capabilities)))
    with transaction.atomic():
        row = Tier.objects.select_for_update().get(pk=tier.pk)
        changed = {name: value for name, value in new.items() if getattr(row, name) != value}
        if not changed:
            return
        names = ("capabilities", "flags")
        held = {name: getattr(row, name) for name in names}, {name: new[name] for name in names}
        rule = safeguard_change(by, "tier", ("tier", row.name), *held)
        Tier.objects.filter(pk=row.pk).update(**changed)
        record(Entry(TIER_CHANGED, actor, "tier", row.name, {"tier": row.name, **changed, **rule}))


def tier_delete(*, by: By, tier: Tier) -> None:
    """Deletes a tier that no persona is on. Raises Denied, ToolHubError IN_USE."""
    actor = acting(by, "policy.delete_tier", PERSONAS)
    with transaction.atomic():
        Tier.objects.select_for_update().filter(pk=tier.pk).first()
        if tier.standings.exists():
            seen = _seen(by, tier.standings.order_by("persona__name"), persona="persona")
            names = list(seen.values_list("persona__name", flat=True)[:SHOWN])
            words = _named(names, tier.standings.count() - len(names), "persona")
            raise ToolHubError(
                f"Personas are on the tier {tier.name}: {words}.", code="IN_USE", data={"personas": names}
            )
        if Tier.objects.filter(pk=tier.pk).delete()[0]:
            record(Entry(TIER_DELETED, actor, "tier", tier.name, {"tier": tier.name}))


@safeguarded("persona.tier")
def tier_set(*, by: By, persona: Persona, tier: Tier | None) -> None:
    """Moves a persona to a tier, or to none, from its next call on. Raises Denied."""
    actor = acting(by, "policy.change_standing", PERSONAS, on=[persona])
    own_check(by, persona.pk)
    if tier is not None:
        tier.refresh_from_db(fields=["capabilities", "flags"])
    capabilities_check(by, tier.capabilities if tier else ())
    with transaction.atomic():
        row, _ = Standing.objects.select_for_update(of=("self",)).get_or_create(persona=persona)
        if row.tier_id == (tier.pk if tier else None):
            return
        held = _held_by(row.tier), _held_by(tier)
        rule = safeguard_change(by, "standing", ("persona", str(persona.pk)), *held, persona)
        row.tier = tier
        row.save(update_fields=["tier"])
        data = {"persona": persona.name, "tier": tier.name if tier else None, **rule}
        record(Entry(PERSONA_TIER_SET, actor, "persona", str(persona.pk), data))


@safeguarded("persona.standing")
def standing_change(*, by: By, persona: Persona, isolation: str, tier: Tier | None) -> None:
    """Set isolation and tier of a persona together. Raises as `isolation_set` and `tier_set`."""
    with transaction.atomic():
        isolation_set(by=by, persona=persona, isolation=isolation)
        tier_set(by=by, persona=persona, tier=tier)


def _held_by(tier: Tier | None) -> dict[str, list[str]]:
    """The flags and limits of a persona on the tier, as security/safeguards.py compares them."""
    if tier is None:
        return {"capabilities": [], "flags": [], "limits": []}
    limits = (f"{limit_words(limit_fact(row))} {row.tool}".rstrip() for row in tier.limits.all())
    given = {"capabilities": list(tier.capabilities), "flags": list(tier.flags)}
    return {**given, "limits": sorted(limits)}


def flag_create(*, by: By, name: str, description: str = "", state: str = Flag.State.OFF) -> Flag:
    """A feature flag that no tool needs yet. Raises Denied, InvalidRequest, Conflict."""
    actor = acting(by, "policy.add_flag", PERSONAS)
    name_check(name)
    _state_check(state)
    try:
        with transaction.atomic():
            flag = Flag.objects.create(name=name, description=_described(description), state=state)
            record(Entry(FLAG_CREATED, actor, "flag", name, {"flag": name, "state": state}))
    except IntegrityError as error:
        raise _taken("flag", name) from error
    return flag


@safeguarded("flag.switch")
def flag_switch(*, by: By, flag: Flag, state: str) -> None:
    """Off, on, or left to tiers, from the next call on. Raises Denied, InvalidRequest."""
    actor = acting(by, "policy.change_flag", PERSONAS)
    _state_check(state)
    with transaction.atomic():
        row = Flag.objects.select_for_update().get(pk=flag.pk)
        states = {"state": row.state}, {"state": state}
        rule = safeguard_change(by, "flag", ("flag", flag.name), *states)
        if Flag.objects.filter(pk=flag.pk).exclude(state=state).update(state=state):
            data = {"flag": flag.name, "state": state, **rule}
            record(Entry(FLAG_SWITCHED, actor, "flag", flag.name, data))


def flag_users(flag: Flag, by: By) -> tuple[list[str], int, list[str]]:
    """The tools that need the flag and are seen (20 at most), how many others, and the tiers that have it."""
    tools = list(_seen(by, flag.tools.order_by("tool"), tool="tool").values_list("tool", flat=True)[:SHOWN])
    tiers = [tier.name for tier in Tier.objects.all() if flag.name in tier.flags]
    return tools, flag.tools.count() - len(tools), tiers


def flag_delete(*, by: By, flag: Flag) -> None:
    """Deletes a flag that no tool needs and no tier has. Raises Denied, ToolHubError IN_USE."""
    actor = acting(by, "policy.delete_flag", PERSONAS)
    with transaction.atomic():
        tools, others, tiers = flag_users(flag, by)
        if tools or others or tiers:
            words = _named([*tools, *(f"the tier {tier}" for tier in tiers)], others, "tool")
            data = {"tools": tools, "tiers": tiers}
            raise ToolHubError(f"The flag {flag.name} is needed by {words}.", code="IN_USE", data=data)
        if Flag.objects.filter(pk=flag.pk).delete()[0]:
            record(Entry(FLAG_DELETED, actor, "flag", flag.name, {"flag": flag.name}))


@safeguarded("tool.flag")
def flag_require(*, by: By, tool: str, flag: Flag | None) -> None:
    """Makes a tool, which is known to exist, need a flag, or none, from its next call on. Raises Denied."""
    things = things_named(None, tool)
    actor = acting(by, "policy.change_flag", PERSONAS, on=things)
    rows = FlaggedTool.objects.filter(tool=tool)
    with transaction.atomic():
        before = rows.select_related("flag").first()
        if (before.flag_id if before else None) == (flag.pk if flag else None):
            return
        flags = {"flag": before.flag.name if before else None}, {"flag": flag.name if flag else None}
        rule = safeguard_change(by, "tool_flag", ("tool", tool), *flags, *things)
        rows.delete()
        if flag:
            FlaggedTool.objects.create(tool=tool, flag=flag)
        data = {"flag": flag.name if flag else None, **rule}
        record(Entry(TOOL_FLAG_SET, actor, "tool", tool, data))


def _seen(by: By, rows: QuerySet[Row], **columns: str) -> QuerySet[Row]:
    """Those rows that name what the one who acts sees; all for the hub itself."""
    if isinstance(by, Actor):
        return rows
    (kind,) = columns
    return about(person_answering(by), rows, KINDS[kind].view, **columns)


def _named(names: Sequence[str], others: int, noun: str) -> str:
    """`a, b and 2 more tools`: those more that are too many, or not for the reader."""
    told = ", ".join(names)
    if not others:
        return told
    more = f"{others} {'more ' if names else ''}{noun}{'s' if others > 1 else ''}"
    return f"{told} and {more}" if names else f"{more} that you do not see"


def name_check(name: str) -> None:
    """Raises InvalidRequest for a name that is malformed."""
    if not NAME.fullmatch(name):
        raise field_error("name", "Use a small letter, then small letters, digits and hyphens; at most 64.")


def _taken(kind: str, name: str) -> Conflict:
    message = f"The {kind} {name} exists already."
    return Conflict(message, errors=[{"pointer": "/name", "message": message}])


def _described(text: str) -> str:
    text = text.strip()
    if len(text) > DESCRIPTION_MAX or "\0" in text:
        raise field_error("description", f"Use at most {DESCRIPTION_MAX} characters, and no NUL.")
    return text


def _state_check(state: str) -> None:
    if state not in Flag.State.values:
        raise field_error("state", f"One of {', '.join(Flag.State.values)}.")


def _capabilities(names: Sequence[str]) -> list[str]:
    read = [capability_read(name, f"/capabilities/{place}") for place, name in enumerate(names)]
    return _items("capabilities", read, [], "")


def _flags(names: Sequence[str]) -> list[str]:
    asked = [name for name in names if "\0" not in name]
    known = set(Flag.objects.filter(name__in=asked).values_list("name", flat=True))
    return _items("flags", names, [name for name in names if name not in known], "no flag of this hub")


def _items(field: str, names: Sequence[str], wrong: Sequence[str], words: str) -> list[str]:
    if wrong:
        place = list(names).index(wrong[0])
        message = f"{wrong[0][:120]!r} is {words}."
        raise InvalidRequest(message, errors=[{"pointer": f"/{field}/{place}", "message": message}])
    if len(set(names)) > ITEMS_MAX:
        raise field_error(field, f"Use at most {ITEMS_MAX}.")
    return sorted(set(names))
