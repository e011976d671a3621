"""The write doors of memory for callers, and what ends loops and sessions."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.duties.rows import all_or_each, delete
from execution.engine.changes import ABSENT
from execution.engine.places import Place
from execution.event_kinds import LOOP_ENDED, MEMORY_DELETED, MEMORY_WRITTEN, SESSION_ENDED
from execution.memory.models import Scope, Session, SessionEvent, Space
from execution.memory.store import memory_read, session_touch, space_columns, spaces_lock, value_put
from execution.memory.values import key_check, scope_check
from security.sandbox.folders import session_folder_remove
from security.services import session_grants_end

BATCH = 500


def memory_put(*, by: Actor, place: Place, scope: str, key: str, value: Any) -> None:
    """Writes a value. Raises InvalidRequest, and ToolHubError MEMORY_FULL beyond the limits."""
    _change(by, place, scope, key, value)


def memory_delete(*, by: Actor, place: Place, scope: str, key: str) -> bool:
    """Deletes a value; false where there was none."""
    return _change(by, place, scope, key, ABSENT) is not ABSENT


def _change(by: Actor, place: Place, scope: str, key: str, value: Any) -> Any:
    scope_check(scope)
    key_check(key)
    if value is ABSENT and memory_read(place, scope, key) is ABSENT:
        return ABSENT
    with transaction.atomic():
        before = value_put(spaces_lock(place, [scope])[scope], key, value)
        kind = MEMORY_DELETED if value is ABSENT else MEMORY_WRITTEN
        record(Entry(kind, by, "persona", str(place.persona_id), _named(place, scope=scope, key=key)))
    return before


def loop_end(*, by: Actor, place: Place) -> bool:
    """Ends a loop: its working memory is gone. False where there was none."""
    return _end(by, place, Space.objects.filter(**space_columns(place, Scope.WORKING)), LOOP_ENDED)


def session_end(*, by: Actor, place: Place) -> bool:
    """Ends a session: its working and short-term memory is gone. False where there was none.

    What was approved for it in advance no longer is. The files that tools kept for it are removed, too, as
    far as they are on this machine.
    """
    session_folder_remove(place.persona_id, place.session)
    session_grants_end(actor=by, persona_id=place.persona_id, session=place.session)
    spaces = Space.objects.filter(persona_id=place.persona_id, session=place.session)
    return _end(by, place, spaces.exclude(scope=Scope.LONG_TERM), SESSION_ENDED)


def _end(by: Actor, place: Place, spaces: QuerySet[Space], kind: EventKind) -> bool:
    if not Session.objects.filter(persona_id=place.persona_id, name=place.session).exists():
        return False
    with transaction.atomic():
        session_touch(place)
        gone = list(spaces.filter(expires_at__gt=Now()).values_list("pk", flat=True))
        Space.objects.filter(pk__in=gone).delete()
        if gone:
            record(Entry(kind, by, "persona", str(place.persona_id), _named(place)))
    return bool(gone)


def _named(place: Place, **more: str) -> dict[str, str]:
    return {"session": place.session, "loop": place.loop, **more}


def memory_expire() -> int:
    """The steward's duty: removes what sessions that are over remember, and old sessions and events."""
    old = Now() - timedelta(days=settings.PAYLOAD_DAYS)
    spaces = all_or_each("memory", Space.objects.filter(expires_at__lte=Now()), _spaces_delete, most=BATCH)
    sessions = delete("memory sessions", Session.objects.filter(last_at__lt=old), most=BATCH)
    return spaces + sessions + delete("memory events", SessionEvent.objects.filter(at__lt=old), most=BATCH)


def _spaces_delete(pks: Sequence[int]) -> int:
    rows = Space.objects.select_for_update(skip_locked=True) if _skips() else Space.objects.all()
    free = list(rows.filter(pk__in=pks, expires_at__lte=Now()).values_list("pk", flat=True))
    Space.objects.filter(pk__in=free).delete()
    return len(free)


def _skips() -> bool:
    return settings.DATABASE_IS_SQLITE is False
