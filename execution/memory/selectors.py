"""Reads sessions and what they remember."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from core.errors import NotFound
from execution.engine.places import DEFAULT, Place
from execution.memory.models import Item, Scope, Session, Space
from execution.memory.store import items_of
from execution.memory.values import key_check, scope_check


def item_get(place: Place, scope: str, key: str) -> Item:
    """The value of a key. Raises NotFound, InvalidRequest."""
    scope_check(scope)
    key_check(key)
    item = items_of(place, scope).filter(key=key).first()
    if item is None:
        raise NotFound(f"There is nothing under {key!r} in {scope} memory.")
    return item


def items_list(place: Place, scope: str) -> list[Item]:
    """The keys of a scope, without their values. Raises InvalidRequest."""
    scope_check(scope)
    return list(items_of(place, scope).defer("value"))


def sessions_of(persona_id: int) -> QuerySet[Session]:
    """A persona's sessions that still stand on record, by name."""
    return Session.objects.filter(persona_id=persona_id).order_by("name")


def session_get(persona_id: int, name: str) -> Session:
    """Raises NotFound."""
    session = sessions_of(persona_id).filter(name=name).first()
    if session is None:
        raise NotFound("There is no such session: nothing was remembered in it.")
    return session


def session_of(persona_id: int, name: str) -> Session | None:
    """The session of a run, by the name that it has there, if anything is on record of it."""
    return sessions_of(persona_id).filter(name=name or DEFAULT).first()


def session_over(session: Session) -> bool:
    """Whether nothing was written for so long that its memory is gone."""
    living = Session.objects.filter(last_at__gt=Now() - timedelta(hours=settings.SESSION_HOURS))
    return not living.filter(pk=session.pk).exists()


def spaces_of(persona_id: int, session: str) -> list[Space]:
    """What a session remembers, by scope and loop; the persona's long-term memory is the last."""
    mine = Space.objects.filter(Q(session=session) | Q(scope=Scope.LONG_TERM), persona_id=persona_id)
    rows = mine.filter(Q(expires_at=None) | Q(expires_at__gt=Now()), keys__gt=0)
    order = Scope.values
    return sorted(rows, key=lambda space: (-order.index(space.scope) - 1, space.loop), reverse=True)


def space_view(space: Space) -> dict[str, Any]:
    """`{scope, loop_id, keys, bytes}`."""
    loop = space.loop if space.scope == Scope.WORKING else None
    return {"scope": space.scope, "loop_id": loop, "keys": space.keys, "bytes": space.bytes}
