"""What an agent that manages others may give them: no more than it holds itself, and nothing to itself.

People give by their permissions. An agent acts for a person, but whoever has its token must not get by it
what the token does not open: without these checks an agent that manages personas would make one that may do
all, and a token for it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.utils import timezone

from core.errors import Denied
from security.acting import By
from security.capabilities import holders
from security.conditions import Condition
from security.decisions import APPROVED
from security.facts import GrantFact
from security.models import Persona, Token
from security.policy.models import Limit
from security.policy.selectors import restrictions_in_force, standing_of, tier_grants
from security.principals import PersonaPrincipal
from security.tokens import grants_of

Sight = Callable[[int], frozenset[str]]
# What manages the hub or approves calls is given by people alone.
PEOPLES = ("toolhub", APPROVED)
_SIGHT: list[Sight] = []


def sight_register(sight: Sight) -> None:
    """Makes known what an upper layer lets a persona see, as `sees` tells it."""
    _SIGHT.append(sight)


def sees(persona_id: int) -> frozenset[str]:
    """The names of tools that the persona sees, `package:NAME` and `collection:NAME` of what is whole."""
    return frozenset().union(*(sight(persona_id) for sight in _SIGHT))


def capabilities_check(
    by: By,
    capabilities: Sequence[str],
    expires_at: datetime | None = None,
    conditions: Sequence[Condition] = (),
) -> None:
    """Raises Denied for an agent that would give a capability that it does not hold so long and so freely."""
    if not isinstance(by, PersonaPrincipal) or not capabilities:
        return
    _bounds_check(by)
    for capability in capabilities:
        if capability.partition(":")[0] in PEOPLES:
            raise _denied(by, f"does not give {capability}: people do")
        wanted = GrantFact(capability, expires_at, tuple(conditions))
        if not _covered(wanted, by.grants):
            raise _denied(by, f"does not hold {capability} itself, so long and under no other conditions")


def sight_check(by: By, *names: str) -> None:
    """Raises Denied for an agent that would show a tool, package or collection that it does not see."""
    if not isinstance(by, PersonaPrincipal) or not names:
        return
    _bounds_check(by)
    if unseen := sorted(set(names) - sees(by.persona_id)):
        raise _denied(by, f"does not see {_bare(unseen[0])} itself")


def _bare(name: str) -> str:
    """Without what kind of thing it is."""
    return name.rpartition(":")[2]


def token_check(by: By, persona: Persona) -> None:
    """Raises Denied for an agent that would get a token which opens more than its own does."""
    if not isinstance(by, PersonaPrincipal) or by.persona_id == persona.pk:
        return
    _bounds_check(by)
    theirs = (*grants_of(persona.pk), *tier_grants(persona))
    if more := next((one for one in theirs if _counts(one) and not _token_covered(one, by.grants)), None):
        raise _denied(by, f"does not hold {more.capability} as {persona.name} does")
    if unseen := sorted(sees(persona.pk) - sees(by.persona_id)):
        raise _denied(by, f"does not see {_bare(unseen[0])} as {persona.name} does")
    if flags := sorted(set(standing_of(persona).flags) - set(by.standing.flags)):
        raise _denied(by, f"does not have the flag {flags[0]} as {persona.name} does")


def rotation_check(by: By, token: Token) -> None:
    """The same for a token that is rotated; of its own persona's an agent rotates the one that it calls with.

    With another it would live as long as that one.
    """
    token_check(by, token.persona)
    if isinstance(by, PersonaPrincipal) and by.persona_id == token.persona_id and by.token_id != token.pk:
        raise _denied(by, f"rotates the token that it calls with, and not {token.prefix}…")


def _bounds_check(by: PersonaPrincipal) -> None:
    """Who is held by rules of its own gives nothing: they would not hold those whom it gives to."""
    tier = Limit.objects.filter(tier__standings__persona=by.persona_id)
    bound = (
        by.standing.isolation
        or restrictions_in_force().filter(persona=by.persona_id).exists()
        or Limit.objects.filter(persona=by.persona_id).exists()
        or tier.exists()
    )
    if bound:
        raise _denied(by, "is held by restrictions, limits or an isolation of its own")


def _counts(grant: GrantFact) -> bool:
    return grant.expires_at is None or grant.expires_at > timezone.now()


def _covered(wanted: GrantFact, held: Sequence[GrantFact]) -> bool:
    """Whether one grant that counts holds the capability as long, under no condition that the wish lacks."""
    names = holders(wanted.capability)
    return any(
        grant.capability in names
        and _counts(grant)
        and _as_long(wanted.expires_at, grant.expires_at)
        and all(one in wanted.conditions for one in grant.conditions)
        for grant in held
    )


def _as_long(wanted: datetime | None, held: datetime | None) -> bool:
    return held is None or (wanted is not None and wanted <= held)


def _token_covered(theirs: GrantFact, held: Sequence[GrantFact]) -> bool:
    if theirs.capability.partition(":")[0] in PEOPLES:
        return False
    return _covered(theirs, held)


def _denied(by: PersonaPrincipal, words: str) -> Denied:
    return Denied(
        f"{by.persona} {words}.", suggestions=["Let a person do it: an agent gives no more than it holds."]
    )
