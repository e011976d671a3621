"""Names that would tell a person of tools and personas that teams keep from them."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import orjson
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast

from registry.models import ToolVersion
from security.acting import person_answering
from security.decisions import APPROVED
from security.models import Grant, Persona, User
from security.policy.catalogue import OWN
from security.policy.models import Tier
from security.principals import PersonaPrincipal
from security.sharing.reach import kept_from

# By kind, what is kept.
Kept = Mapping[str, list[QuerySet[Any]]]


def capabilities_kept(person: User) -> frozenset[str]:
    """What nothing needs or holds but tools and personas that are kept; empty where nothing is. One query."""
    kept = kept_from(person)
    if not kept:
        return frozenset()
    theirs, known = set[str](), set[str](OWN)
    for names, is_kept in _named(kept):
        (theirs if is_kept else known).update(orjson.loads(names) if names.startswith("[") else [names])
    approved = {name for name in (theirs | known) if name.startswith(f"{APPROVED}:")}
    return frozenset(theirs - known) | _approvals_kept(approved, kept["tool"])


def _named(kept: Kept) -> Iterable[tuple[str, bool]]:
    """Names of capabilities, one or a list of them as JSON, and whether it is a kept thing that has them."""
    needed = ToolVersion.objects.exclude(required_capabilities=[]).order_by()
    parts: list[QuerySet[Any]] = [
        needed.values_list(Cast("required_capabilities", TextField()), _any(kept["tool"], "tool")),
        Grant.objects.order_by().values_list(
            Cast("capability", TextField()), _any(kept["persona"], "persona")
        ),
        Tier.objects.order_by().values_list(Cast("capabilities", TextField()), Value(False)),
    ]
    return parts[0].union(*parts[1:])


def _any(things: list[QuerySet[Any]], column: str) -> "ExpressionWrapper[Any]":
    found = Q(*(Exists(rows.filter(pk=OuterRef(column))) for rows in things), _connector=Q.OR)
    return ExpressionWrapper(found, BooleanField())


def _approvals_kept(names: set[str], things: list[QuerySet[Any]]) -> frozenset[str]:
    """Those of the names that approve tools that are kept."""
    tools = {name.partition(":")[2] for name in names}
    return frozenset(f"{APPROVED}:{name}" for name in _among(tools, things))


def _among(names: Collection[str], things: list[QuerySet[Any]]) -> frozenset[str]:
    """The names that things have; no query where there are none."""
    if not names:
        return frozenset()
    rows = [one.filter(name__in=names).values_list("name", flat=True) for one in things]
    return frozenset(rows[0].union(*rows[1:]))


def tools_kept(by: User | PersonaPrincipal, persona: Persona, rules: Iterable[str] = ()) -> frozenset[str]:
    """The tools that a persona's grants, and `rules` of its own, name and the reader must not read.

    None where nothing is kept, nor from an agent that reads of itself.
    """
    if isinstance(by, PersonaPrincipal) and by.persona_id == persona.pk:
        return frozenset()
    kept = kept_from(person_answering(by)).get("tool", [])
    if not kept:
        return frozenset()
    approved = [row.capability.partition(":") for row in persona.grants.all()]
    return _among({*rules, *(tool for kind, _, tool in approved if kind == APPROVED)} - {""}, kept)


def grants_told(persona: Persona, kept: frozenset[str]) -> list[Grant]:
    """The persona's grants without approvals of tools that are kept, from what was prefetched."""
    return [row for row in persona.grants.all() if not _approves(row.capability, kept)]


def grants_without(rows: QuerySet[Grant], kept: frozenset[str]) -> QuerySet[Grant]:
    """The same of rows that are not read yet."""
    return rows.exclude(capability__in=[f"{APPROVED}:{name}" for name in kept])


def _approves(capability: str, tools: frozenset[str]) -> bool:
    kind, _, tool = capability.partition(":")
    return kind == APPROVED and tool in tools
