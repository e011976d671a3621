"""Where a person is signed in: listed with what is known of it, ended one by one or all at once."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from audit.ledger import Entry, record
from core.middleware import Handler
from security.event_kinds import PERSON_SESSIONS_ENDED
from security.guessing.devices import device_remember
from security.models import User
from security.permissions import actor_of

SEEN = "seen"
SEEN_EVERY_S = 300
# The first that fits: browsers name those that they want to be taken for, too.
_BROWSERS = {
    "Edge": r"\bEdg",
    "Opera": r"\bOPR/",
    "Firefox": r"\bFirefox/|\bFxiOS/",
    "Chrome": r"\bChrome/|\bCriOS/|HeadlessChrome/",
    "Safari": r"\bSafari/",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "macOS": "Macintosh|Mac OS X",
    "Linux": "Linux|X11",
}


@dataclass(frozen=True)
class SignedIn:
    """One session: `device` in words, the address of its last use, and whether it is the one that asks."""

    pk: int
    device: str
    address: str
    since: datetime
    seen: datetime
    current: bool


def sessions_of(person: User, request: HttpRequest) -> list[SignedIn]:
    """The person's sessions that still hold, the one that asks first, then by last use."""
    key = request.session.session_key
    rows = [
        SignedIn(
            row.pk,
            device_words(row.user_agent),
            row.ip,
            row.created_at,
            row.last_seen_at,
            row.session_key == key,
        )
        for row in UserSession.objects.purge_and_list(person)
    ]
    return sorted(rows, key=lambda one: (one.current, one.seen), reverse=True)


def device_words(user_agent: str) -> str:
    """Firefox on Linux; the beginning of the text itself where it is none of the usual ones."""
    browser = next((name for name, sign in _BROWSERS.items() if re.search(sign, user_agent)), "")
    system = next((name for name, sign in _SYSTEMS.items() if re.search(sign, user_agent)), "")
    if browser:
        return f"{browser} on {system}" if system else browser
    return user_agent[:80] or "Unknown browser"


def session_end(*, by: User, row: UserSession) -> None:
    """Ends one of the person's own sessions, on record."""
    with transaction.atomic():
        row.end()
        record(_entry(by, by, "one"))


def sessions_end(person: User, *, by: User, why: str, keep: HttpRequest | None = None) -> None:
    """Ends all sessions of a person, listed or not, but for the one that asks; on record with the reason."""
    with transaction.atomic():
        User.objects.filter(pk=person.pk).update(sessions_epoch=F("sessions_epoch") + 1)
        record(_entry(by, person, why))
    person.refresh_from_db(fields=["sessions_epoch"])
    if keep is not None:
        update_session_auth_hash(keep, person)
        UserSession.objects.create_from_request(keep)
        device_remember(keep, person)


def _entry(by: User, person: User, what: str) -> Entry:
    said = {"person": person.get_username(), "what": what}
    return Entry(PERSON_SESSIONS_ENDED, actor_of(by), "person", str(person.pk), said)


class SeenMiddleware:
    """Notes the last use of a session, at most every five minutes: from the sign-in on."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        response = self.get_response(request)
        # What needed no session is not made to read one.
        if request.session.accessed:
            self._note(request)
        return response

    def _note(self, request: HttpRequest) -> None:
        now, seen = timezone.now(), request.session.get(SEEN)
        if seen is not None and now.timestamp() - seen > SEEN_EVERY_S and request.user.is_authenticated:
            request.session[SEEN] = now.timestamp()
            UserSession.objects.create_from_request(request)
