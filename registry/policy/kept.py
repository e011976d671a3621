"""Names that would tell a person of tools and personas that teams keep from them."""

from django.db.models import QuerySet

from registry.models import Tool, ToolVersion
from security.acting import person_answering
from security.decisions import APPROVED
from security.models import Grant, Persona, User
from security.policy.catalogue import OWN
from security.policy.models import Tier
from security.principals import PersonaPrincipal
from security.sharing.reach import kept_from


def capabilities_kept(person: User) -> frozenset[str]:
    """What nothing needs or holds but tools and personas that are kept; empty where nothing is."""
    kept = kept_from(person)
    if not kept:
        return frozenset()
    tools = dict(row for things in kept["tool"] for row in things.values_list("pk", "name"))
    personas = {pk for things in kept["persona"] for pk in things.values_list("pk", flat=True)}
    approvals = {f"{APPROVED}:{name}" for name in tools.values()}
    theirs = {
        *_needed(ToolVersion.objects.filter(tool__in=tools)),
        *_held(Grant.objects.filter(persona__in=personas)),
    }
    known = {
        *OWN,
        *_needed(ToolVersion.objects.filter(tool__in=Tool.objects.exclude(pk__in=tools))),
        *_held(Grant.objects.exclude(persona__in=personas)),
        *(name for row in Tier.objects.all() for name in row.capabilities),
    }
    return frozenset(approvals | (theirs - known))


def tools_kept(by: User | PersonaPrincipal, persona: Persona) -> frozenset[str]:
    """The tools that a persona's rules may name and the reader must not read.

    None where nothing is kept, nor from an agent that reads of itself.
    """
    if isinstance(by, PersonaPrincipal) and by.persona_id == persona.pk:
        return frozenset()
    kept = kept_from(person_answering(by)).get("tool", [])
    return frozenset(name for things in kept for name in things.values_list("name", flat=True))


def grants_told(persona: Persona, kept: frozenset[str]) -> list[Grant]:
    """The persona's grants without approvals of tools that are kept, from what was prefetched."""
    return [row for row in persona.grants.all() if not _approves(row.capability, kept)]


def grants_without(rows: QuerySet[Grant], kept: frozenset[str]) -> QuerySet[Grant]:
    """The same of rows that are not read yet."""
    return rows.exclude(capability__in=[f"{APPROVED}:{name}" for name in kept])


def _approves(capability: str, tools: frozenset[str]) -> bool:
    kind, _, tool = capability.partition(":")
    return kind == APPROVED and tool in tools


def _needed(versions: QuerySet[ToolVersion]) -> set[str]:
    return {name for names in versions.values_list("required_capabilities", flat=True) for name in names}


def _held(rows: QuerySet[Grant]) -> set[str]:
    return set(rows.values_list("capability", flat=True))
