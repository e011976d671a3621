"""The keys of the hub's processes: all processes on one database have the same ones.

The database records their fingerprints. A process that lacks a recorded key does not start: it could not read
secrets, and it would seal new ones under a key that nobody else has.
"""

import hashlib

from django.conf import settings
from django.db import connection, transaction

from audit.ledger import Entry, record
from core.actors import Actor
from security.event_kinds import KEYS_ADOPTED
from security.models import KeyFingerprint, Secret, SigningSecret
from security.sealing import Unsealable, unseal

VAULT, COOKIES = "vault", "secret_key"
# Any number that no other advisory lock has.
LOCK = 0x6B657973
_ADOPT = "If the keys were changed or lost on purpose, run `manage.py keys_adopt`."
_REMEDIES = {
    VAULT: "Set TOOLHUB_VAULT_KEYS as the hub's other processes have it, or copy their file vault_key.",
    COOKIES: "Set TOOLHUB_SECRET_KEY as the hub's other processes have it, or copy their file secret_key.",
}


class KeysMissing(Exception):
    """The message is a sentence for the person who starts the process."""


def fingerprint(kind: str, key: str) -> str:
    """The first 16 hex digits of SHA-256 over the kind and the key."""
    return hashlib.sha256(f"toolhub key fingerprint\n{kind}\n{key}".encode()).hexdigest()[:16]


def keys_here() -> dict[str, list[str]]:
    """The fingerprints of this process's keys by kind, newest first."""
    return {
        VAULT: [fingerprint(VAULT, key) for key in settings.VAULT_KEYS],
        COOKIES: [fingerprint(COOKIES, settings.SECRET_KEY)],
    }


def keys_problem() -> str:
    """Which recorded key this process lacks and what to do; empty if it lacks none."""
    here = keys_here()
    for kind, recorded in _recorded().items():
        for mark in recorded:
            if mark not in here[kind]:
                name = "vault key" if kind == VAULT else "secret key"
                return (
                    f"The database belongs to a hub whose {name} has the fingerprint {mark}; "
                    f"this process has {', '.join(here[kind])}. {_REMEDIES[kind]} {_ADOPT}"
                )
    return ""


def keys_record() -> None:
    """Record this process's keys when it has all that are recorded already. Raises KeysMissing."""
    with transaction.atomic():
        _lock()
        known = _recorded()
        if not known[VAULT] and not _opens_what_is_sealed():
            raise KeysMissing(
                f"The database holds secrets that no key of this process opens. {_REMEDIES[VAULT]} {_ADOPT}"
            )
        problem = keys_problem()
        if problem:
            raise KeysMissing(problem)
        for kind, marks in keys_here().items():
            for mark in marks:
                if mark not in known[kind]:
                    KeyFingerprint.objects.create(kind=kind, fingerprint=mark)


def keys_adopt(*, actor: Actor) -> None:
    """Make this process's keys the hub's, whatever was recorded. Secrets under other keys stay unreadable."""
    with transaction.atomic():
        _lock()
        before = _recorded()
        KeyFingerprint.objects.all().delete()
        for kind, marks in keys_here().items():
            KeyFingerprint.objects.bulk_create(KeyFingerprint(kind=kind, fingerprint=mark) for mark in marks)
        record(Entry(KEYS_ADOPTED, actor, "hub", "keys", {"before": before, "after": keys_here()}))


def vault_keys_forget_old() -> None:
    """Everything is sealed under the newest key: the older ones are not needed any more."""
    newest = keys_here()[VAULT][0]
    KeyFingerprint.objects.filter(kind=VAULT).exclude(fingerprint=newest).delete()
    KeyFingerprint.objects.get_or_create(kind=VAULT, fingerprint=newest)


def _recorded() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {VAULT: [], COOKIES: []}
    for kind, mark in KeyFingerprint.objects.order_by("pk").values_list("kind", "fingerprint"):
        found[kind].append(mark)
    return found


def _opens_what_is_sealed() -> bool:
    """Of a database from before fingerprints were recorded: whether its newest secrets can be opened."""
    for model in (Secret, SigningSecret):
        row = model._default_manager.order_by("-pk").first()
        try:
            if row is not None:
                unseal(row.sealed)
        except Unsealable:
            return False
    return True


def _lock() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
