"""The write doors of personas, grants and tokens: permission, change and audit in one transaction."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, Denied, InvalidRequest
from security.acting import PERSONAS, By, acting, own_check, person_behind
from security.conditions import Condition
from security.event_kinds import (
    GRANT_CHANGED,
    GRANT_CREATED,
    GRANT_REVOKED,
    PERSONA_CREATED,
    PERSONA_DESCRIBED,
    PERSONA_SWITCHED_OFF,
    PERSONA_SWITCHED_ON,
    TOKEN_CREATED,
    TOKEN_ROTATED,
)
from security.giving import rotation_check, token_check
from security.granting import (
    agent_check,
    bypassed,
    given_check,
    given_read,
    given_values,
    once_check,
    told_of,
)
from security.lineage import line_check, tokens_end
from security.loosening import safeguard_change, safeguarded
from security.models import Grant, Persona, Token, User
from security.permissions import actor_of
from security.policy.capability_names import capability_read
from security.principals import PersonaPrincipal
from security.tokens import token_digest, token_text

PERSONA_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
APPROVE = "execution.approve_run"
TOKEN_DAYS_MAX = 366
OVERLAP_HOURS_MAX = 24 * 14


def _entry(kind: EventKind, by: Actor, persona: Persona, **data: object) -> Entry:
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
            record(_entry(PERSONA_CREATED, actor, persona))
    except IntegrityError as error:
        message = f"The persona {name} exists already."
        raise Conflict(message, errors=[{"pointer": "/name", "message": message}]) from error
    return persona


@safeguarded("persona.switch")
def persona_switch(*, by: By, persona: Persona, on: bool) -> None:
    """Switches a persona on or off. Off refuses its next call."""
    actor = acting(by, "security.change_persona", PERSONAS, on=[persona])
    with transaction.atomic():
        row = Persona.objects.select_for_update(of=("self",)).get(pk=persona.pk)
        states = {"is_active": row.is_active}, {"is_active": on}
        rule = safeguard_change(by, "persona", ("persona", str(persona.pk)), *states, row)
        if Persona.objects.filter(pk=persona.pk, is_active=not on).update(is_active=on):
            record(_entry(PERSONA_SWITCHED_ON if on else PERSONA_SWITCHED_OFF, actor, persona, **rule))


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
            record(_entry(PERSONA_DESCRIBED, actor, row, **changed))


@safeguarded("grant.create")
def grant_create(
    *,
    by: By,
    persona: Persona,
    capability: str,
    reason: str,
    expires_at: datetime | None = None,
    conditions: Sequence[Condition] = (),
) -> Grant:
    """Grant a capability, perhaps until a time (UTC), perhaps under conditions (security/conditions.py).

    A persona can hold several grants of one capability with different conditions: any that allows a call is
    enough. Raises Denied, InvalidRequest, and Conflict for the same grant again.
    """
    actor = acting(by, "security.add_grant", PERSONAS, on=[persona])
    own_check(by, persona.pk)
    capability_read(capability)
    given = given_read(capability, reason, expires_at, conditions)
    given_check(by, persona, given)
    with transaction.atomic():
        Persona.objects.select_for_update(of=("self",)).get(pk=persona.pk)
        once_check(persona, given)
        rule = safeguard_change(by, "grant", ("persona", str(persona.pk)), *bypassed(persona, given), persona)
        grant = Grant.objects.create(
            persona=persona,
            capability=capability,
            granted_by=person_behind(by),
            session=given.session,
            **given.columns,
        )
        record(_entry(GRANT_CREATED, actor, persona, capability=capability, **given.told, **rule))
    return grant


@safeguarded("grant.change")
def grant_change(
    *,
    by: By,
    grant: Grant,
    reason: str | None = None,
    expires_at: datetime | Literal["keep"] | None = "keep",
    conditions: Sequence[Condition] | None = None,
) -> Grant:
    """Change a grant, or renew one that has expired. What is left out stays.

    The person who changes it answers for it from then on. Raises Denied, InvalidRequest, Conflict.
    """
    persona = grant.persona
    actor = acting(by, "security.add_grant", PERSONAS, on=[persona])
    own_check(by, persona.pk)
    with transaction.atomic():
        Persona.objects.select_for_update(of=("self",)).get(pk=persona.pk)
        row = Grant.objects.select_for_update(of=("self",)).filter(pk=grant.pk).first()
        if row is None:
            raise Conflict("The grant was revoked meanwhile.", suggestions=["Grant the capability again."])
        agent_check(by, row)
        given = given_read(
            row.capability,
            row.reason if reason is None else reason,
            row.expires_at if expires_at == "keep" else expires_at,
            row.conditions if conditions is None else conditions,
            before=row,
        )
        given_check(by, persona, given)
        once_check(persona, given, but=row.pk)
        values = given_values(row), given_values(given)
        rule = safeguard_change(by, "grant", ("persona", str(persona.pk)), *values, persona)
        changed = {name: value for name, value in given.columns.items() if getattr(row, name) != value}
        if changed:
            before = {name: getattr(row, name) for name in changed}
            row.granted_by, row.changed_at, row.session = person_behind(by), timezone.now(), given.session
            for name, value in changed.items():
                setattr(row, name, value)
            row.save(update_fields=[*changed, "granted_by", "changed_at", "session"])
            told = {"grant": row.pk, "before": told_of(before), "after": told_of(changed)}
            record(_entry(GRANT_CHANGED, actor, persona, capability=row.capability, **told, **rule))
    return row


def grant_revoke(*, by: By, grant: Grant) -> None:
    """Takes a capability back; the next call sees it. Raises Denied."""
    actor = acting(by, "security.delete_grant", PERSONAS, on=[grant.persona])
    own_check(by, grant.persona_id)
    agent_check(by, grant)
    with transaction.atomic():
        deleted, _ = Grant.objects.filter(pk=grant.pk).delete()
        if deleted:
            data = {"session": grant.session} if grant.session else {}
            record(_entry(GRANT_REVOKED, actor, grant.persona, capability=grant.capability, **data))


def session_grants_end(*, actor: Actor, persona_id: int, session: str) -> None:
    """Takes back what was granted for a session of the persona's, which is over; on record."""
    with transaction.atomic():
        rows = Grant.objects.filter(persona=persona_id, session=session).exclude(session="")
        for grant in rows.select_related("persona").select_for_update(of=("self",)):
            record(_entry(GRANT_REVOKED, actor, grant.persona, capability=grant.capability, session=session))
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
        record(_token_entry(TOKEN_CREATED, actor, token))
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


def _token_entry(kind: EventKind, actor: Actor, token: Token, **data: object) -> Entry:
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
        record(_token_entry(TOKEN_ROTATED, actor, new, old=old.prefix, old_ends=old.expires_at.isoformat()))
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
