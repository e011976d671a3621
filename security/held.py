"""Whether grants hold a capability: the one function that calls, the API and the simulator ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from security.capabilities import holders, of_hub
from security.conditions import APPROVAL, condition_words, unmet
from security.facts import GrantFact

# Conditions that a refusal names.
TRIED = 3
_OWN, _OWN_THEN_TIERS = (False,), (False, True)


@dataclass(frozen=True)
class Held:
    """Whether a capability is held: by which grant, or why by none, and what mends that.

    `why` follows the capability in a sentence; `remedy` and `hint` are what to do.
    """

    by: GrantFact | None
    why: str
    remedy: str = ""
    hint: str = ""


def held(
    needed: str,
    grants: Sequence[GrantFact],
    *,
    persona: str,
    now: datetime,
    arguments: Mapping[str, Any] | None = None,
) -> Held:
    """Return the narrowest grant that holds the capability, a persona's own before its tier's.

    Of several grants of one name any that counts is enough; one that asks for approval goes first. Without
    `arguments`, conditions count as met. A capability that manages the hub takes a grant by name, without
    conditions and not of a tier: those are about calls of tools.
    """
    tried: list[str] = []
    is_expired = False
    for of_tier in _OWN if of_hub(needed) else _OWN_THEN_TIERS:
        for name in holders(needed):
            chosen: GrantFact | None = None
            for grant in grants:
                if grant.capability != name or bool(grant.tier) is not of_tier:
                    continue
                if grant.expires_at is not None and grant.expires_at <= now:
                    is_expired = True
                elif grant.conditions and (failed := _failed(needed, grant, arguments)):
                    # The rule and never the arguments: decisions stand in the ledger.
                    tried.append(failed)
                elif chosen is None or (asks_approval(grant) and not asks_approval(chosen)):
                    chosen = grant
            if chosen is not None:
                return _by(chosen)
    return _by_none(needed, persona, tried, is_expired=is_expired)


def asks_approval(grant: GrantFact) -> bool:
    """Whether a person approves each call that stands on the grant."""
    return any(one["kind"] == APPROVAL for one in grant.conditions)


def _failed(needed: str, grant: GrantFact, arguments: Mapping[str, Any] | None) -> str:
    """The condition that is not met, in words; empty where the grant counts."""
    if of_hub(needed):
        return " and ".join(map(condition_words, grant.conditions)) + ", which is about calls of tools"
    failed = None if arguments is None else unmet(grant.conditions, arguments)
    return condition_words(failed) if failed else ""


def _by(grant: GrantFact) -> Held:
    tier = f" of the tier {grant.tier}" if grant.tier else ""
    if not grant.conditions:
        return Held(grant, tier)
    return Held(grant, f"{tier} where {' and '.join(map(condition_words, grant.conditions))}")


def _by_none(needed: str, persona: str, tried: Sequence[str], *, is_expired: bool) -> Held:
    if tried:
        words = ", or where ".join(dict.fromkeys(tried[:TRIED]))
        more = f", and {len(tried) - TRIED} more" if len(tried) > TRIED else ""
        why, hint = f"is granted only where {words}{more}", f"Or change the grant of {needed}."
    elif is_expired:
        why, hint = "is expired", f"Or renew the grant of {needed}."
    else:
        why, hint = "is missing", ""
    if of_hub(needed):
        hint = "By name, without conditions; * and tiers do not count."
    return Held(None, why, f"Grant {needed} to {persona}.", hint)
