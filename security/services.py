"""The write doors of personas, grants and tokens: permission, change and audit in one transaction."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, Denied, InvalidRequest
from security.acting import PERSONAS, By, acting, own_check, person_behind
from security.capabilities import HUB
from security.conditions import SESSION, Condition, conditions_check, session_of
from security.decisions import APPROVED
from security.four_eyes import four_eyes_hold
from security.giving import capabilities_check, loosen_check, rotation_check, token_check
from security.lineage import line_check, tokens_end
from security.models import Grant, Persona, Token, User
from security.permissions import actor_of, require
from security.policy.capability_names import capability_read
from security.principals import PersonaPrincipal
from security.sharing.kinds import things_named
from security.tokens import token_digest, token_text

PERSONA_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
APPROVE = "execution.approve_run"
TOKEN_DAYS_MAX = 366
OVERLAP_HOURS_MAX = 24 * 14


def _entry(kind: str, by: Actor, persona: Persona, **data: object) -> Entry:
    return Entry(kind, by, "persona", str(persona.pk), {"persona": persona.name, **data})


def _field_error(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])


def _fits(field: str, text: str, most: int) -> str:
    """The text without white space around it, where a column of that size can hold it on any database."""
    text = text.strip()
    if len(text) > most or "\0" in text:
        raise _field_error(field, f"Use at most {most} characters, and no NUL.")
    return text


def persona_create(*, by: By, name: str, title: str = "", description: str = "") -> Persona:
    """A new persona without any right. Raises InvalidRequest, Conflict when the name is taken."""
    actor = acting(by, "security.add_persona", PERSONAS)
    if not PERSONA_NAME.fullmatch(name):
        raise _field_error("name", "Use a small letter, then small letters, digits and hyphens; at most 64.")
    title, description = _fits("title", title, 120), _fits("description", description, 10_000)
    try:
        with transaction.atomic():
            persona = Persona.objects.create(name=name, title=title, description=description)
            record(_entry("persona.created", actor, persona))
    except IntegrityError as error:
        message = f"The persona {name} exists already."
        raise Conflict(message, errors=[{"pointer": "/name", "message": message}]) from error
    return persona


def persona_switch(*, by: By, persona: Persona, on: bool) -> None:
    """Switches a persona on or off. Off refuses its next call."""
    actor = acting(by, "security.change_persona", PERSONAS, on=[persona])
    if on:
        loosen_check(by)
    with transaction.atomic():
        if Persona.objects.filter(pk=persona.pk, is_active=not on).update(is_active=on):
            record(_entry("persona.switched_on" if on else "persona.switched_off", actor, persona))


def persona_describe(
    *, by: By, persona: Persona, title: str | None = None, description: str | None = None
) -> None:
    """How people call it, and what its agents do; None leaves a text. Raises Denied, InvalidRequest."""
    actor = acting(by, "security.change_persona", PERSONAS, on=[persona])
    new = {
        "title": persona.title if title is None else _fits("title", title, 120),
        "description": persona.description
        if description is None
        else _fits("description", description, 10_000),
    }
    with transaction.atomic():
        row = Persona.objects.select_for_update().get(pk=persona.pk)
        changed: dict[str, object] = {key: text for key, text in new.items() if getattr(row, key) != text}
        if changed:
            Persona.objects.filter(pk=row.pk).update(**changed)
            record(_entry("persona.described", actor, row, **changed))


def grant_create(
    *,
    by: By,
    persona: Persona,
    capability: str,
    reason: str,
    expires_at: datetime | None = None,
    conditions: Sequence[Condition] = (),
) -> Grant:
    """Gives a capability, perhaps until a time (UTC), perhaps under conditions (security/conditions.py).

    Raises Denied, InvalidRequest, Conflict when held already.
    """
    actor = acting(by, "security.add_grant", PERSONAS, on=[persona])
    own_check(by, persona.pk)
    person = person_behind(by)
    capability_read(capability)
    reason = _fits("reason", reason, 200)
    if not reason:
        raise _field_error("reason", "Say why the persona needs it.")
    if expires_at is not None and expires_at <= timezone.now():
        raise _field_error("expires_at", "The time has passed.")
    checked = conditions_check(list(conditions))
    if checked and capability.partition(":")[0] == HUB:
        message = f"{capability} is about the hub: conditions on a call's arguments cannot be met there."
        raise InvalidRequest(message, errors=[{"pointer": "/conditions", "message": message}])
    session = _session_check(capability, checked, expires_at)
    capabilities_check(by, [capability], expires_at, checked)
    _peoples_check(person, persona, capability)
    _advance_check(person, persona, capability)
    try:
        with transaction.atomic():
            grant = Grant.objects.create(
                persona=persona,
                conditions=checked,
                capability=capability,
                reason=reason,
                granted_by=person,
                expires_at=expires_at,
                session=session,
            )
            until = expires_at.isoformat() if expires_at else None
            data: dict[str, object] = {"capability": capability, "reason": grant.reason, "expires_at": until}
            data |= {"conditions": checked} if checked else {}
            record(_entry("grant.created", actor, persona, **data))
    except IntegrityError as error:
        message = f"{persona.name} holds {capability} already{' in this session' if session else ''}."
        raise Conflict(message, errors=[{"pointer": "/capability", "message": message}]) from error
    return grant


def _session_check(capability: str, conditions: Sequence[Condition], expires_at: datetime | None) -> str:
    """The session that a grant is for; empty without one. Raises InvalidRequest.

    Agents name their sessions themselves: what counts in one ends by itself all the same.
    """
    named = [one for one in conditions if one["kind"] == SESSION]
    if not named:
        return ""
    message = ""
    if capability.partition(":")[0] != APPROVED:
        message = f"Only an approval in advance, {APPROVED}:TOOL, is given for a session."
    elif len(named) > 1:
        message = "A grant is for one session."
    elif expires_at is None:
        message = "A grant for a session needs an end."
    if message:
        raise InvalidRequest(message, errors=[{"pointer": "/conditions", "message": message}])
    return session_of(named)


def _peoples_check(by: User, persona: Persona, capability: str) -> None:
    """The right to manage one persona gives it neither the hub nor approvals. Raises Denied, NotFound.

    Who gives `toolhub:…` may grant in all of the hub. Who gives `approved:TOOL` may approve the persona's
    calls of the tool, and in all of the hub where no such tool is named.
    """
    kind, _, tool = capability.partition(":")
    if kind == HUB:
        require(by, "security.add_grant")
    if kind == APPROVED:
        named = things_named(None, tool)
        if not named:
            require(by, APPROVE)
        require(by, APPROVE, persona, *named)


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


def grant_revoke(*, by: By, grant: Grant) -> None:
    """Takes a capability back; the next call sees it. Raises Denied."""
    actor = acting(by, "security.delete_grant", PERSONAS, on=[grant.persona])
    own_check(by, grant.persona_id)
    with transaction.atomic():
        deleted, _ = Grant.objects.filter(pk=grant.pk).delete()
        if deleted:
            data = {"session": grant.session} if grant.session else {}
            record(_entry("grant.revoked", actor, grant.persona, capability=grant.capability, **data))


def session_grants_end(*, actor: Actor, persona_id: int, session: str) -> None:
    """Takes back what was granted for a session of the persona's, which is over; on record."""
    with transaction.atomic():
        rows = Grant.objects.filter(persona=persona_id, session=session).exclude(session="")
        for grant in rows.select_related("persona").select_for_update(of=("self",)):
            record(
                _entry("grant.revoked", actor, grant.persona, capability=grant.capability, session=session)
            )
        rows.delete()


def token_create(*, by: By, persona: Persona, name: str, days: int = 90) -> tuple[Token, str]:
    """A token for a persona, valid `days` days; returns the row and its text, which is not kept.

    The person who makes it, or for whom an agent does, is responsible for it. What an agent makes ends with
    the token that it calls with, at the latest (lineage.py). Raises Denied, InvalidRequest, Conflict.
    """
    actor = acting(by, "security.add_token", PERSONAS, on=[persona])
    own_check(by, persona.pk)
    if not 1 <= days <= TOKEN_DAYS_MAX:
        raise _field_error("days", f"Choose from 1 to {TOKEN_DAYS_MAX} days.")
    name = _fits("name", name, 80)
    if not name:
        raise _field_error("name", "Say where the token will be used.")
    token_check(by, persona)
    with transaction.atomic():
        token, text = _token_add(by, persona, name, timezone.now() + timedelta(days=days))
        record(_token_entry("token.created", actor, token))
    return token, text


def _token_add(by: By, persona: Persona, name: str, expires_at: datetime) -> tuple[Token, str]:
    text, maker = token_text(), None
    if isinstance(by, PersonaPrincipal):
        maker = Token.objects.filter(pk=by.token_id or 0).first()
        if maker is None:
            raise Denied(f"{by.persona} calls without a token: it makes none.")
        line_check(maker)
        expires_at = min(expires_at, maker.expires_at)
    token = Token.objects.create(
        persona=persona,
        responsible=person_behind(by),
        made_with=maker,
        name=name,
        prefix=text[:12],
        digest=token_digest(text),
        expires_at=expires_at,
    )
    return token, text


def _token_entry(kind: str, actor: Actor, token: Token, **data: object) -> Entry:
    said = {"token": token.prefix, "name": token.name, "expires_at": token.expires_at.isoformat()}
    return _entry(kind, actor, token.persona, **said, **data)


def token_rotate(
    *, by: By, token: Token, overlap_hours: int = 24, days: int | None = None
) -> tuple[Token, str]:
    """A new token in place of a valid one, which goes on for `overlap_hours` at most; as `token_create`.

    Valid `days` days, else as long as the old one was made for. An agent may rotate the token that it calls
    with: the new one then ends when the old one would have, so that nobody lives on by it alone. What was
    made with the old one goes on with the new one. Raises as it, and Conflict.
    """
    actor = acting(by, "security.add_token", PERSONAS, on=[token.persona])
    rotation_check(by, token)
    if not 0 <= overlap_hours <= OVERLAP_HOURS_MAX:
        raise _field_error("overlap_hours", f"Choose from 0 to {OVERLAP_HOURS_MAX} hours.")
    if days is not None and not 1 <= days <= TOKEN_DAYS_MAX:
        raise _field_error("days", f"Choose from 1 to {TOKEN_DAYS_MAX} days.")
    with transaction.atomic():
        old = Token.objects.select_for_update(of=("self",)).select_related("persona").get(pk=token.pk)
        if old.state != "valid":
            raise Conflict(f"The token {old.prefix}… is {old.state}.", suggestions=["Make a new one."])
        now = timezone.now()
        ends = now + (timedelta(days=days) if days else old.expires_at - old.created_at)
        new, text = _token_add(by, old.persona, old.name, ends)
        Token.objects.filter(made_with=old).exclude(pk=new.pk).update(made_with=new)
        old.expires_at = min(old.expires_at, now + timedelta(hours=overlap_hours))
        old.save(update_fields=["expires_at"])
        record(_token_entry("token.rotated", actor, new, old=old.prefix, old_ends=old.expires_at.isoformat()))
    return new, text


def token_revoke(*, by: By, token: Token) -> None:
    """Ends a token, and what agents made with it, at once. Who answers for it may, whatever else they may.

    Raises Denied.
    """
    if isinstance(by, User) and token.responsible_id == by.pk and by.is_active:
        actor = actor_of(by)
    else:
        actor = acting(by, "security.delete_token", PERSONAS, on=[token.persona])
    with transaction.atomic():
        tokens_end([token.pk], actor)
