"""The write doors of personas, grants and tokens: permission, change and audit in one transaction."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.errors import Conflict, Denied, InvalidRequest
from security.capabilities import HUB, is_capability
from security.conditions import Condition, conditions_check
from security.decisions import APPROVED
from security.four_eyes import four_eyes_hold
from security.models import Grant, Persona, Token, User
from security.permissions import actor_of, require
from security.tokens import token_digest, token_text

PERSONA_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
TOKEN_DAYS_MAX = 366


def _entry(kind: str, by: User, persona: Persona, **data: object) -> Entry:
    return Entry(kind, actor_of(by), "persona", str(persona.pk), {"persona": persona.name, **data})


def _field_error(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])


def _fits(field: str, text: str, most: int) -> str:
    """The text without white space around it, where a column of that size can hold it on any database."""
    text = text.strip()
    if len(text) > most or "\0" in text:
        raise _field_error(field, f"Use at most {most} characters, and no NUL.")
    return text


def persona_create(*, by: User, name: str, title: str = "", description: str = "") -> Persona:
    """A new persona without any right. Raises InvalidRequest, Conflict when the name is taken."""
    require(by, "security.add_persona")
    if not PERSONA_NAME.fullmatch(name):
        raise _field_error("name", "Use a small letter, then small letters, digits and hyphens; at most 64.")
    title, description = _fits("title", title, 120), _fits("description", description, 10_000)
    try:
        with transaction.atomic():
            persona = Persona.objects.create(name=name, title=title, description=description)
            record(_entry("persona.created", by, persona))
    except IntegrityError as error:
        message = f"The persona {name} exists already."
        raise Conflict(message, errors=[{"pointer": "/name", "message": message}]) from error
    return persona


def persona_switch(*, by: User, persona: Persona, on: bool) -> None:
    """Switches a persona on or off. Off refuses its next call."""
    require(by, "security.change_persona")
    with transaction.atomic():
        if Persona.objects.filter(pk=persona.pk, is_active=not on).update(is_active=on):
            record(_entry("persona.switched_on" if on else "persona.switched_off", by, persona))


def grant_create(
    *,
    by: User,
    persona: Persona,
    capability: str,
    reason: str,
    expires_at: datetime | None = None,
    conditions: Sequence[Condition] = (),
) -> Grant:
    """Gives a capability, perhaps until a time (UTC), perhaps under conditions (security/conditions.py).

    Raises Denied, InvalidRequest, Conflict when held already.
    """
    require(by, "security.add_grant")
    if not is_capability(capability):
        raise _field_error("capability", "Write it as a, a:b, a.b, a:* or *; no other wildcards.")
    reason = _fits("reason", reason, 200)
    if not reason:
        raise _field_error("reason", "Say why the persona needs it.")
    if expires_at is not None and expires_at <= timezone.now():
        raise _field_error("expires_at", "The time has passed.")
    checked = conditions_check(list(conditions))
    if checked and capability.partition(":")[0] == HUB:
        message = f"{capability} is about the hub: conditions on a call's arguments cannot be met there."
        raise InvalidRequest(message, errors=[{"pointer": "/conditions", "message": message}])
    _advance_check(by, persona, capability)
    try:
        with transaction.atomic():
            grant = Grant.objects.create(
                persona=persona,
                conditions=checked,
                capability=capability,
                reason=reason,
                granted_by=by,
                expires_at=expires_at,
            )
            until = expires_at.isoformat() if expires_at else None
            data: dict[str, object] = {"capability": capability, "reason": grant.reason, "expires_at": until}
            data |= {"conditions": checked} if checked else {}
            record(_entry("grant.created", by, persona, **data))
    except IntegrityError as error:
        message = f"{persona.name} holds {capability} already."
        raise Conflict(message, errors=[{"pointer": "/capability", "message": message}]) from error
    return grant


def _advance_check(by: User, persona: Persona, capability: str) -> None:
    """Who is responsible for an agent does not approve its calls, in advance neither. Raises Denied.

    Tells those early whom a token shows; the decision on each call holds for all (security/decisions.py).
    """
    if capability.partition(":")[0] != APPROVED or not four_eyes_hold():
        return
    valid = Token.objects.filter(persona=persona, revoked_at=None, expires_at__gt=timezone.now())
    if valid.filter(responsible=by).exists():
        raise Denied(
            f"You are responsible for a token of {persona.name}.",
            suggestions=["Ask somebody else who may grant, or switch the rule of four eyes off."],
        )


def grant_revoke(*, by: User, grant: Grant) -> None:
    """Takes a capability back; the next call sees it."""
    require(by, "security.delete_grant")
    with transaction.atomic():
        deleted, _ = Grant.objects.filter(pk=grant.pk).delete()
        if deleted:
            record(_entry("grant.revoked", by, grant.persona, capability=grant.capability))


def token_create(*, by: User, persona: Persona, name: str, days: int = 90) -> tuple[Token, str]:
    """A token for a persona, valid `days` days; returns the row and its text, which is not kept.

    The person who makes it is responsible for it.
    """
    require(by, "security.add_token")
    name = _fits("name", name, 80)
    if not name:
        raise _field_error("name", "Say where the token will be used.")
    if not 1 <= days <= TOKEN_DAYS_MAX:
        raise _field_error("days", f"Choose from 1 to {TOKEN_DAYS_MAX} days.")
    text = token_text()
    expires_at = timezone.now() + timedelta(days=days)
    with transaction.atomic():
        token = Token.objects.create(
            persona=persona,
            responsible=by,
            name=name,
            prefix=text[:12],
            digest=token_digest(text),
            expires_at=expires_at,
        )
        record(
            _entry(
                "token.created",
                by,
                persona,
                token=token.prefix,
                name=token.name,
                expires_at=expires_at.isoformat(),
            )
        )
    return token, text


def token_revoke(*, by: User, token: Token) -> None:
    """Ends a token at once. Who answers for it may, whatever else they may. Raises Denied."""
    if token.responsible_id != by.pk or not by.is_active:
        require(by, "security.delete_token")
    with transaction.atomic():
        if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(_entry("token.revoked", by, token.persona, token=token.prefix))
