"""Tokens: made, found and ended. About sixty lines of our own (see docs/adr/0004)."""

import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet, prefetch_related_objects
from django.utils import timezone

from security.facts import GrantFact, TokenState
from security.lineage import line_ended
from security.models import Grant, Persona, Token, User
from security.policy.selectors import standing_of, tier_grants
from security.principals import PersonaPrincipal

# A fixed prefix lets secret scanners find leaked tokens.
MARK = "thp_"
SHAPE = re.compile(r"thp_[A-Za-z0-9_-]{43}")
USED_EVERY = timedelta(minutes=1)
_WITH_TOKEN = ("persona__standing__tier", "responsible")


def token_text() -> str:
    """A new token's text: the mark and 256 random bits."""
    return MARK + secrets.token_urlsafe(32)


def token_valid() -> QuerySet[Token]:
    """The tokens that neither ended nor were revoked."""
    return Token.objects.filter(revoked_at=None, expires_at__gt=timezone.now())


def token_digest(text: str) -> bytes:
    """SHA-256; enough for 256 random bits, where a slow hash would only slow callers."""
    return hashlib.sha256(text.encode()).digest()


def principal_find(text: str) -> tuple[PersonaPrincipal, TokenState] | None:
    """The principal behind a token's text, and the token's state; None for an unknown token.

    Two queries: token with persona and responsible person, and the persona's grants; one more for a token
    that an agent made.
    """
    if not SHAPE.fullmatch(text):
        return None
    token = Token.objects.select_related(*_WITH_TOKEN).filter(digest=token_digest(text)).first()
    if token is None:
        return None
    now = timezone.now()
    if token.state == "valid" and line_ended(token):
        return _principal(token), "revoked"
    if token.state == "valid" and (token.last_used_at is None or now - token.last_used_at > USED_EVERY):
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return _principal(token), token.state


def principal_of(token_id: int) -> tuple[PersonaPrincipal, TokenState]:
    """The principal of a token that a run was accepted with, by what holds now.

    Expiry after acceptance does not matter, so an expired token counts as valid here.
    """
    token = Token.objects.select_related(*_WITH_TOKEN).get(pk=token_id)
    return _principal(token), "revoked" if token.revoked_at or line_ended(token) else "valid"


def principal_of_persona(persona: Persona, responsible: User) -> PersonaPrincipal:
    """The principal of a call without a token: the hub makes it, and a person is responsible for it."""
    return _of(persona, responsible, None)


def principal_supposed(persona: Persona) -> PersonaPrincipal:
    """The principal of a call that nobody makes, to ask what would be decided: no token, no person."""
    return principals_supposed([persona])[0]


def principals_supposed(personas: Sequence[Persona]) -> list[PersonaPrincipal]:
    """The same for many, their rights by few queries."""
    prefetch_related_objects(personas, "standing__tier", "grants")
    return [
        PersonaPrincipal(
            persona_id=persona.pk,
            persona=persona.name,
            persona_active=persona.is_active,
            token_id=None,
            responsible_id=0,
            responsible="",
            responsible_active=True,
            grants=(*map(_fact, persona.grants.all()), *tier_grants(persona)),
            standing=standing_of(persona),
        )
        for persona in personas
    ]


def _fact(row: Grant) -> GrantFact:
    return GrantFact(row.capability, row.expires_at, tuple(row.conditions), granted_by=row.granted_by_id)


def _principal(token: Token) -> PersonaPrincipal:
    return _of(token.persona, token.responsible, token.pk)


def grants_read(
    capabilities: Sequence[str] | None,
    expiries: Sequence[datetime | None] | None,
    conditions: Sequence[str] | None,
    people: Sequence[int] | None,
) -> tuple[GrantFact, ...]:
    """Grants from the columns of a statement: conditions are canonical JSON, mostly `[]`."""
    rows = zip(capabilities or (), expiries or (), conditions or (), people or (), strict=True)
    return tuple(
        GrantFact(name, ends, () if text == "[]" else tuple(json.loads(text)), granted_by=person)
        for name, ends, text, person in rows
    )


def grants_of(persona_id: int) -> tuple[GrantFact, ...]:
    """All grants of a persona, expired ones, too."""
    return tuple(map(_fact, Grant.objects.filter(persona_id=persona_id)))


def _of(persona: Persona, responsible: User, token_id: int | None) -> PersonaPrincipal:
    return PersonaPrincipal(
        persona_id=persona.pk,
        persona=persona.name,
        persona_active=persona.is_active,
        token_id=token_id,
        responsible_id=responsible.pk,
        responsible=responsible.get_username(),
        responsible_active=responsible.is_active,
        grants=grants_of(persona.pk) + tier_grants(persona),
        standing=standing_of(persona),
    )
