"""Reads rules into facts, for calls and for lists; and rules themselves, for pages."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Prefetch, Q, QuerySet
from django.utils import timezone

from core.errors import NotFound
from security.capabilities import covers
from security.facts import FlagFact, GrantFact, LimitFact, Policy, RestrictionFact, Standing
from security.models import Grant, Persona, User
from security.policy.models import Capability, Flag, FlaggedTool, Limit, Restriction, Tier
from security.policy.usage import usage_read, usage_told
from security.sharing.reach import about


def restrictions_read(rows: Sequence[Sequence[Any]] | None) -> tuple[RestrictionFact, ...]:
    """Facts from a statement's JSON: rows of their fields, `until` as text; None for no row."""
    found = []
    for is_pause, of_persona, tool, capability, reason, by, until in rows or ():
        ends = datetime.fromisoformat(until) if until else None
        found.append(RestrictionFact(is_pause, of_persona, tool, capability, reason, by, ends))
    return tuple(found)


def restrictions_in_force() -> QuerySet[Restriction]:
    """Those whose end, if they have one, has not come."""
    return Restriction.objects.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))


class PolicyBook:
    """The rules for some personas and tools, read at once: few queries for a call as for a page of them.

    With `used` it looks at what is used of limits, as nobody does who goes on to spend of them.
    `limit_rows` and `restriction_rows` are all that name the personas, whatever the tool, and what holds for
    everybody.
    """

    def __init__(self, personas: Collection[int], tools: Collection[str], *, used: bool = False) -> None:
        mine = Q(persona__in=personas) | Q(tier__standings__persona__in=personas)
        limits = Limit.objects.filter(mine | Q(persona=None, tier=None, tool__in=tools)).order_by("pk")
        # People look at who made a limit where they look at its use; a call needs neither.
        people = ("persona", "created_by", "changed_by") if used else ()
        limits = limits.select_related("tier", *people)
        self.limit_rows = list(limits.annotate(on=F("tier__standings__persona")))
        self._limits = [(row.persona_id or row.on, row.tool, limit_fact(row)) for row in self.limit_rows]
        counted = {fact.id for _, _, fact in self._limits}
        self._used = usage_read(counted, personas) if used else None
        rows = restrictions_in_force().filter(
            Q(persona__in=personas) | Q(persona=None, tool__in=["", *tools])
        )
        self.restriction_rows = list(rows.select_related("persona", "created_by").order_by("pk"))
        flags = FlaggedTool.objects.filter(tool__in=tools).select_related("flag")
        self._flags = {row.tool: FlagFact(row.flag.name, row.flag.state) for row in flags}
        self._restrictions = [(row.persona_id, row.tool, _fact(row)) for row in self.restriction_rows]

    @property
    def tools(self) -> frozenset[str]:
        """The tools that its limits and restrictions name."""
        limited = {row.tool for row in self.limit_rows}
        return frozenset(limited | {row.tool for row in self.restriction_rows}) - {""}

    def told(self, persona_id: int) -> list[tuple[Limit, LimitFact]]:
        """The limits that count a persona's calls alone, its tier's among them, with what is used of each."""
        rows = [
            (row, fact)
            for row, (whose, _, fact) in zip(self.limit_rows, self._limits, strict=True)
            if whose == persona_id
        ]
        facts = usage_told([fact for _, fact in rows], persona_id, self._used)
        return [(row, fact) for (row, _), fact in zip(rows, facts, strict=True)]

    def of(self, persona_id: int, tool: str) -> Policy:
        """What they say of calls of one tool by one persona."""
        limits = tuple(
            fact
            for of_persona, of_tool, fact in self._limits
            if of_persona in {None, persona_id} and of_tool in {"", tool}
        )
        return Policy(
            limits=limits if self._used is None else usage_told(limits, persona_id, self._used),
            restrictions=tuple(
                fact
                for of_persona, of_tool, fact in self._restrictions
                if of_persona in {None, persona_id} and of_tool in {"", tool}
            ),
            flag=self._flags.get(tool),
        )


def policy_at_start(policy: Policy) -> Policy:
    """What of the rules counts for a run that was accepted: a pause keeps it from being claimed, no more."""
    restrictions = tuple(one for one in policy.restrictions if not one.is_pause)
    return dataclasses.replace(policy, restrictions=restrictions, limits=())


def capabilities_known(text: str = "", begin: str = "", but: Collection[str] = ()) -> list[str]:
    """Names that have `text` in them, of catalogue, grants in force and tiers; no wildcards; from `begin`.

    `but` are names that the reader must not read.
    """
    now = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    granted = Grant.objects.filter(now, capability__icontains=text).values_list("capability", flat=True)
    noted = Capability.objects.filter(name__icontains=text).values_list("name", flat=True)
    tiers = (name for row in Tier.objects.all() for name in row.capabilities)
    names = {*granted, *noted, *(name for name in tiers if text.lower() in name.lower())}
    return sorted(name for name in names if name >= begin and not name.endswith("*") and name not in but)


def limit_fact(row: Limit) -> LimitFact:
    """The fact for a limit, nobody having looked at what is used of it."""
    tier = row.tier.name if row.tier else None
    shape = row.pk, row.kind, row.measure, row.amount, row.window_s, row.tool
    return limit_read(*shape, row.persona_id is not None, tier)


def limit_read(
    pk: int,
    kind: str,
    measure: str,
    amount: int,
    window_s: int,
    tool: str,
    of_persona: bool,
    tier: str | None,
) -> LimitFact:
    """The fact from a limit's columns."""
    most = amount * 1000 if measure == "seconds" else amount
    whose = "of this persona" if of_persona else f"of the tier {tier}" if tier else "of all personas"
    of = f"{whose} with {tool}" if tool else whose
    return LimitFact(pk, kind, measure, most, window_s, of, together=not of_persona and tier is None)


def _fact(row: Restriction) -> RestrictionFact:
    return RestrictionFact(
        row.is_pause,
        row.persona_id is not None,
        row.tool,
        row.capability,
        row.reason,
        row.created_by.get_username(),
        row.expires_at,
    )


def standing_of(persona: Persona) -> Standing:
    """A persona's standing; a query unless `standing__tier` was selected with it."""
    row = getattr(persona, "standing", None)
    if row is None:
        return Standing()
    tier = row.tier
    return Standing(row.isolation, tier.name, tuple(tier.flags)) if tier else Standing(row.isolation)


def tier_grants(persona: Persona) -> tuple[GrantFact, ...]:
    """What the persona's tier grants."""
    row = getattr(persona, "standing", None)
    return grants_by_tier(row.tier.name, row.tier.capabilities) if row and row.tier else ()


def grants_by_tier(tier: str, capabilities: Sequence[str]) -> tuple[GrantFact, ...]:
    """The facts for a tier's capabilities."""
    return tuple(GrantFact(name, None, tier=tier) for name in capabilities)


def restrictions_page(filters: Mapping[str, str], by: User) -> QuerySet[Restriction]:
    """Restrictions and pauses of what the person sees, newest first.

    Narrowed by `kind`, `persona`, `tool` and `q`.
    """
    rows = _restrictions(by).order_by("-pk")
    if filters.get("kind") in {"restriction", "pause"}:
        rows = rows.filter(is_pause=filters["kind"] == "pause")
    if filters.get("persona"):
        rows = rows.filter(persona__name=filters["persona"])
    if filters.get("tool"):
        rows = rows.filter(tool=filters["tool"])
    if filters.get("q"):
        text = filters["q"].strip()
        found = Q(tool__icontains=text) | Q(capability__icontains=text) | Q(reason__icontains=text)
        rows = rows.filter(found | Q(persona__name__icontains=text))
    return rows


def _restrictions(by: User) -> QuerySet[Restriction]:
    rows = Restriction.objects.select_related("persona", "created_by")
    return about(by, rows, "policy.view_restriction", persona="persona", tool="tool")


def _limits(by: User) -> QuerySet[Limit]:
    rows = Limit.objects.select_related("persona", "tier", "created_by", "changed_by")
    return about(by, rows, "policy.view_limit", persona="persona", tool="tool")


def restriction_detail(pk: int, by: User) -> Restriction:
    """One of what the person sees. Raises NotFound."""
    row = _restrictions(by).filter(pk=pk).first()
    if row is None:
        raise NotFound("There is no such restriction.")
    return row


def pauses_of(persona: Persona | None = None, tool: str = "") -> list[Restriction]:
    """The pauses that hold calls of a persona or of a tool now, the hub's among them."""
    here = Q(persona=None, tool="")
    if persona is not None:
        here |= Q(persona=persona)
    if tool:
        here |= Q(tool=tool)
    rows = restrictions_in_force().filter(here, is_pause=True)
    return list(rows.select_related("persona", "created_by"))


@dataclasses.dataclass(frozen=True)
class ToolPolicy:
    """What holds for everybody who calls a tool: pauses, restrictions, the flag that it needs, limits."""

    pauses: list[Restriction]
    restrictions: list[Restriction]
    flag: FlagFact | None
    limits: list[LimitFact]


def tool_policy(tool: str, required: Sequence[str]) -> ToolPolicy:
    """The policy of a tool that needs these capabilities; three queries."""
    book = PolicyBook([], [tool])
    rows = [row for row in book.restriction_rows if not row.is_pause]
    return ToolPolicy(
        pauses=[row for row in book.restriction_rows if row.is_pause],
        restrictions=[
            row
            for row in rows
            if not row.capability or any(covers(row.capability, needed) for needed in required)
        ],
        flag=book.of(0, tool).flag,
        limits=[limit_fact(row) for row in book.limit_rows],
    )


def tiers_page(filters: Mapping[str, str]) -> QuerySet[Tier]:
    """Every tier, by name, with `personas` (how many are on it); narrowed by `q`."""
    rows = Tier.objects.annotate(personas=Count("standings")).order_by("name")
    return rows.filter(name__icontains=filters["q"].strip()) if filters.get("q") else rows


def flags_page(filters: Mapping[str, str], by: User) -> QuerySet[Flag]:
    """Every flag, by name, with the tools that need it and the person sees; narrowed by `q`."""
    rows = Flag.objects.prefetch_related(Prefetch("tools", flagged_tools(by))).order_by("name")
    return rows.filter(name__icontains=filters["q"].strip()) if filters.get("q") else rows


def flagged_tools(by: User) -> QuerySet[FlaggedTool]:
    """The tools that need a flag, those that the person sees."""
    return about(by, FlaggedTool.objects.all(), "policy.view_flag", tool="tool")


def tier_detail(name: str) -> Tier:
    """A tier, for who may see it. Raises NotFound."""
    tier = Tier.objects.filter(name=name).first()
    if tier is None:
        raise NotFound(f"There is no tier {name[:64]!r}.")
    return tier


def flag_detail(name: str) -> Flag:
    """A flag, for who may see it. Raises NotFound."""
    flag = Flag.objects.filter(name=name).first()
    if flag is None:
        raise NotFound(f"There is no flag {name[:64]!r}.")
    return flag


def limits_page(filters: Mapping[str, str], by: User) -> QuerySet[Limit]:
    """Every limit of what the person sees, newest first.

    Narrowed by `persona`, `tier`, `tool` (names) and `q` (a part of one).
    """
    rows = _limits(by).order_by("-pk")
    for name, column in (("persona", "persona__name"), ("tier", "tier__name"), ("tool", "tool")):
        if filters.get(name):
            rows = rows.filter(**{column: filters[name]})
    if filters.get("q"):
        text = filters["q"].strip()
        found = Q(persona__name__icontains=text) | Q(tier__name__icontains=text) | Q(tool__icontains=text)
        rows = rows.filter(found)
    return rows


def limit_detail(pk: int, by: User) -> Limit:
    """A limit of what the person sees. Raises NotFound."""
    row = _limits(by).filter(pk=pk).first()
    if row is None:
        raise NotFound("There is no such limit.")
    return row


def capabilities_page(filters: Mapping[str, str], but: Collection[str] = ()) -> QuerySet[Capability]:
    """The catalogue, by name, narrowed by `risk` and `q` (a part of name or description), without `but`."""
    rows = Capability.objects.exclude(name__in=but).order_by("name")
    if filters.get("risk"):
        rows = rows.filter(risk=filters["risk"])
    if filters.get("q"):
        text = filters["q"].strip()
        rows = rows.filter(Q(name__icontains=text) | Q(description__icontains=text))
    return rows


def capability_detail(pk: int, but: Collection[str] = ()) -> Capability:
    """A capability of the catalogue, unless it is one of `but`. Raises NotFound."""
    row = Capability.objects.exclude(name__in=but).filter(pk=pk).first()
    if row is None:
        raise NotFound("There is no such capability.")
    return row
