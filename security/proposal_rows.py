"""Keeps changes that wait for a second person: the service function, and its arguments as JSON."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models import Model

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.errors import Conflict
from security.event_kinds import CHANGE_PROPOSED
from security.models import User
from security.permissions import actor_of
from security.policy.models import ProposedChange
from security.safeguards import SAFEGUARDS, Loosened
from security.sharing.kinds import kind_of


def proposal_add(
    *,
    by: User,
    door: str,
    arguments: Mapping[str, Any],
    found: Sequence[Loosened],
    subject: tuple[str, str],
    things: Sequence[Model],
) -> ProposedChange:
    """Keep a change until a second person decides. The same change of a person waits once only."""
    packed = _packed(arguments)
    with transaction.atomic():
        rows = ProposedChange.objects.select_for_update().filter(door=door, decision="", proposed_by=by)
        for row in rows:
            if row.arguments == packed:
                return row
        safeguard = SAFEGUARDS[found[0].kind]
        named = " and ".join(map(str, things)) or subject[1].replace("_", " ")
        row = ProposedChange.objects.create(
            door=door,
            arguments=packed,
            subject_kind=subject[0],
            subject_id=subject[1],
            title=f"Loosen {safeguard.noun}: {named}"[:300],
            changes=list(map(str, found)),
            permission=safeguard.permission,
            things=[{"kind": kind_of(thing).name, "pk": thing.pk} for thing in things],
            proposed_by=by,
        )
        record(proposal_entry(CHANGE_PROPOSED, row, by))
    return row


def proposal_entry(kind: EventKind, row: ProposedChange, by: User) -> Entry:
    """The event of a proposal: that it was made, or what was decided on it."""
    data = {"proposal": row.pk, "changes": row.changes, "proposed_by": row.proposed_by.get_username()}
    return Entry(kind, actor_of(by), row.subject_kind, row.subject_id, data)


def _packed(value: Any) -> Any:
    """A service function's argument as JSON."""
    if isinstance(value, Model):
        return {"$model": value._meta.label, "pk": value.pk}
    if isinstance(value, datetime):
        return {"$time": value.isoformat()}
    if isinstance(value, Mapping):
        return {str(name): _packed(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(one) for one in value]
    return value


def unpacked(value: Any) -> Any:
    """The argument again. Raises Conflict for an object that is gone."""
    if isinstance(value, list):
        return [unpacked(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "$model" in value:
        row = apps.get_model(value["$model"])._default_manager.filter(pk=value["pk"]).first()
        if row is None:
            raise Conflict("The thing that would be changed is gone.", suggestions=["Refuse the change."])
        return row
    if "$time" in value:
        return datetime.fromisoformat(value["$time"])
    return {name: unpacked(one) for name, one in value.items()}
