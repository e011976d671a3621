"""Limits as the API and the pages show them."""

from typing import Any

from security.decisions import limit_words
from security.models import Persona
from security.policy.models import Limit
from security.policy.selectors import PolicyBook


def limit_view(row: Limit) -> dict[str, Any]:
    """Return a limit as the API answers it."""
    return {
        "id": row.pk,
        "kind": row.kind,
        "measure": row.measure,
        "amount": row.amount,
        "window_s": row.window_s,
        "persona": row.persona.name if row.persona else None,
        "tier": row.tier.name if row.tier else None,
        "tool": row.tool or None,
        "created_by": row.created_by.get_username(),
        "created_at": row.created_at,
        "changed_by": row.changed_by.get_username() if row.changed_by else None,
        "changed_at": row.changed_at,
    }


def limits_view(persona: Persona, book: PolicyBook, kept: frozenset[str]) -> list[dict[str, Any]]:
    """Return a persona's limits and its tier's, each with its use now; without those on `kept` tools."""
    return [
        {
            **limit_view(row),
            "used": (fact.used or 0) / 1000 if row.measure == "seconds" else fact.used,
            "resets_at": fact.ends_at,
            "words": limit_words(fact),
        }
        for row, fact in book.told(persona.pk)
        if row.tool not in kept
    ]
