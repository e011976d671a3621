"""What a grant is read from, and what stands against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone

from core.errors import Conflict, Denied, InvalidRequest
from security.acting import By, person_behind
from security.capabilities import HUB, holders, of_hub
from security.conditions import APPROVAL, SESSION, Condition, conditions_check, session_of
from security.decisions import APPROVED
from security.giving import capabilities_check
from security.models import Grant, Persona, Token, User
from security.permissions import require
from security.principals import PersonaPrincipal
from security.sharing.kinds import things_named
from security.two_person_rule import four_eyes_hold

APPROVE = "execution.approve_run"
REASON_MAX = 200


@dataclass(frozen=True)
class Given:
    """A grant as it is to be."""

    capability: str
    reason: str
    expires_at: datetime | None
    conditions: list[dict[str, Any]]
    session: str

    @property
    def columns(self) -> dict[str, Any]:
        """What of it can be changed."""
        return {"reason": self.reason, "expires_at": self.expires_at, "conditions": self.conditions}

    @property
    def told(self) -> dict[str, object]:
        """For the record; conditions where there are some."""
        return told_of({name: value for name, value in self.columns.items() if name != "conditions" or value})


def given_read(
    capability: str,
    reason: str,
    expires_at: datetime | None,
    conditions: Sequence[Condition],
    before: Grant | None = None,
) -> Given:
    """Return the grant that is asked for. Raise InvalidRequest with a pointer to what does not fit.

    An end that has passed is an error, unless the grant had it `before`.
    """
    reason = reason.strip()
    if not 1 <= len(reason) <= REASON_MAX or "\0" in reason:
        raise field_error("reason", f"Say why the persona needs it, in 1 to {REASON_MAX} characters.")
    is_past = expires_at is not None and expires_at <= timezone.now()
    if is_past and (before is None or before.expires_at != expires_at):
        raise field_error("expires_at", "The time has passed.")
    checked = conditions_check(list(conditions))
    if checked and of_hub(capability):
        message = f"{capability} is about the hub: conditions on a call's arguments cannot be met there."
        raise InvalidRequest(message, errors=[{"pointer": "/conditions", "message": message}])
    return Given(capability, reason, expires_at, checked, _session_check(capability, checked, expires_at))


def given_check(by: By, persona: Persona, given: Given) -> None:
    """Raise Denied where the giver may not give that: an agent more than it holds, a person approvals."""
    person = person_behind(by)
    capabilities_check(by, [given.capability], given.expires_at, given.conditions)
    _peoples_check(person, persona, given.capability)
    _advance_check(person, persona, given.capability)


def once_check(persona: Persona, given: Given, but: int = 0) -> None:
    """Raise Conflict where the persona holds the capability under the same conditions already."""
    now = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    rows = persona.grants.filter(now, capability=given.capability, session=given.session).exclude(pk=but)
    same = next((row for row in rows if row.conditions == given.conditions), None)
    if same is not None:
        where = " in this session" if given.session else " under these conditions" if given.conditions else ""
        message = f"{persona.name} holds {given.capability} already{where}, by the grant {same.pk}."
        raise Conflict(
            message,
            suggestions=[f"Change the grant {same.pk}, or grant it under other conditions."],
            errors=[{"pointer": "/capability", "message": message}],
        )


def given_values(grant: Grant | Given) -> dict[str, Any]:
    """The fields of a grant as security/safeguards.py compares them."""
    conditions = list(grant.conditions)
    return {
        "approval": _asks(conditions),
        "conditions": [one for one in conditions if one["kind"] != APPROVAL],
        "expires_at": grant.expires_at,
    }


def bypassed(persona: Persona, given: Given) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What a new grant makes of the approval that a wider one asks for: before and after.

    The narrowest grant counts, so a narrower one that asks for no approval takes the approval away.
    """
    now = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    wider = holders(given.capability)[1:]
    rows = persona.grants.filter(now, capability__in=wider)
    asked = any(_asks(row.conditions) for row in rows)
    return ({"approval": True} if asked else None), {"approval": _asks(given.conditions)}


def agent_check(by: By, grant: Grant) -> None:
    """Raise Denied for an agent that changes or revokes a grant which asks for approval.

    Without it another grant could let the same calls pass unasked.
    """
    if isinstance(by, PersonaPrincipal) and _asks(grant.conditions) and grant.is_in_force:
        raise Denied(
            f"{by.persona} may not change a grant that asks for approval.",
            suggestions=[f"Ask {grant.granted_by.get_username()} or an admin to change it in the console."],
        )


def told_of(columns: Mapping[str, Any]) -> dict[str, object]:
    """Columns of a grant for the record."""
    times = {name: value.isoformat() for name, value in columns.items() if isinstance(value, datetime)}
    return {**columns, **times}


def _asks(conditions: Sequence[Condition]) -> bool:
    return any(one["kind"] == APPROVAL for one in conditions)


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


def field_error(field: str, message: str) -> InvalidRequest:
    """An error that points to one field."""
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
