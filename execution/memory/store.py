"""Reads and writes memory in the caller's transaction.

The session is locked first and its spaces in one order, so that nobody deadlocks.
"""

import itertools
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now

from core.json.canonical import canonical
from execution.engine.changes import ABSENT
from execution.engine.features import LockKind
from execution.engine.places import Place
from execution.memory.models import Item, Scope, Session, Space
from execution.memory.values import memory_full, value_size


def space_columns(place: Place, scope: str) -> dict[str, Any]:
    """The columns that name the space of a scope, with their values."""
    return {
        "persona_id": place.persona_id,
        "scope": scope,
        "session": "" if scope == Scope.LONG_TERM else place.session,
        "loop": place.loop if scope == Scope.WORKING else "",
    }


def _living() -> Q:
    return Q(space__expires_at=None) | Q(space__expires_at__gt=Now())


def items_of(place: Place, scope: str) -> QuerySet[Item]:
    """The values of a scope that are there now, by key."""
    columns = {f"space__{name}": value for name, value in space_columns(place, scope).items()}
    return Item.objects.filter(_living(), **columns).order_by("key")


def memory_read(place: Place, scope: str, key: str) -> Any:
    """The value, or ABSENT."""
    return next(iter(items_of(place, scope).filter(key=key).values_list("value", flat=True)), ABSENT)


def memory_find(place: Place, key: str) -> Any:
    """The value in working memory, else in short-term, else in long-term memory; else ABSENT."""
    for scope in Scope.values:
        value = memory_read(place, scope, key)
        if value is not ABSENT:
            return value
    return ABSENT


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same as JSON, or both absent: true is not 1."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return canonical(one) == canonical(other)


def spaces_lock(place: Place, scopes: Iterable[str]) -> dict[str, Space]:
    """The spaces of these scopes, made where they are not there, locked until the transaction ends.

    What has expired is emptied. The session lives on from now.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("Memory is written in the business transaction only.")
    wanted = sorted(set(scopes))
    if set(wanted) - {Scope.LONG_TERM}:
        session_touch(place)
    return {scope: _lock(place, scope) for scope in wanted}


def session_touch(place: Place) -> Session:
    """The session, made where it is not there, locked; it and its memory live on from now."""
    # After this row nobody else writes in the session before the transaction ends.
    session: Session = _locked(Session.objects, persona_id=place.persona_id, name=place.session)
    Session.objects.filter(pk=session.pk).update(last_at=Now())
    living = Space.objects.filter(persona_id=place.persona_id, session=place.session, expires_at__gt=Now())
    living.update(expires_at=_expiry())
    return session


def _expiry() -> Any:
    return Now() + timedelta(hours=settings.SESSION_HOURS)


def _lock(place: Place, scope: str) -> Space:
    living = ExpressionWrapper(Q(expires_at__gt=Now()), BooleanField())
    found = _locked(Space.objects.annotate(living=living), **space_columns(place, scope))
    space: Space = found
    if scope != Scope.LONG_TERM and not found.living:
        Item.objects.filter(space=space).delete()
        space.keys = space.bytes = 0
        Space.objects.filter(pk=space.pk).update(keys=0, bytes=0, expires_at=_expiry())
    return space


def _locked(rows: Any, **columns: Any) -> Any:
    """The row with these columns, made where it is not there, locked until the transaction ends."""
    found = rows.select_for_update().filter(**columns).first()
    if found is None:
        rows.model.objects.get_or_create(**columns)
        found = rows.select_for_update().get(**columns)
    return found


def value_put(space: Space, key: str, value: Any) -> Any:
    """Writes a value into a locked space; the value before, or ABSENT. ABSENT as value deletes.

    Raises ToolHubError MEMORY_FULL, InvalidRequest.
    """
    before = Item.objects.filter(space=space, key=key).first()
    if value is ABSENT:
        if before:
            before.delete()
            _count(space, -1, -before.size)
        return before.value if before else ABSENT
    size = value_size(value)
    _count(space, 0 if before else 1, size - (before.size if before else 0))
    written = {"value": value, "size": size, "updated_at": Now()}
    if before:  # the space is locked: nobody else has written or deleted it since
        Item.objects.filter(pk=before.pk).update(**written)
    else:
        Item.objects.create(space=space, key=key, **written)
    return before.value if before else ABSENT


def _count(space: Space, keys: int, size: int) -> None:
    space.keys, space.bytes = space.keys + keys, space.bytes + size
    if keys > 0 and space.keys > settings.MEMORY_KEYS_MAX:
        raise memory_full(f"The {space.scope} memory holds {settings.MEMORY_KEYS_MAX} keys already.")
    if size > 0 and space.bytes > settings.MEMORY_BYTES_MAX:
        raise memory_full(f"The {space.scope} memory may hold {settings.MEMORY_BYTES_MAX} bytes.")
    Space.objects.filter(pk=space.pk).update(keys=space.keys, bytes=space.bytes)


def _sessions_touch(keys: Sequence[tuple[int, str, str]]) -> None:
    for key in keys:
        session_touch(Place(*key))


def _spaces_take(keys: Sequence[tuple[int, str, str, str]]) -> dict[tuple[int, str, str, str], Space]:
    found: dict[tuple[int, str, str, str], Space] = {}
    for place, group in itertools.groupby(keys, key=lambda key: Place(*key[:3])):
        spaces = spaces_lock(place, [scope for *_, scope in group])
        found |= {
            (place.persona_id, place.session, place.loop, scope): space for scope, space in spaces.items()
        }
    return found


# The session and then its memory, before what is counted.
SESSION = LockKind(10, _sessions_touch)
"""Sessions that live on from now; keys are `(persona, session, loop)`."""
SPACES = LockKind(20, _spaces_take)
"""Spaces of memory, given by place and scope; keys are `(persona, session, loop, scope)`."""
