"""The vault: secrets that the hub has to use again, sealed, each in a scope that says who gets it.

A scope is `package:NAME` or `git`. What is sealed names its own place, so that a row that somebody moved to
another place of the table cannot be opened there.
"""

import json
from collections.abc import Collection, Mapping

from django.db import transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import InvalidRequest
from security.event_kinds import SECRET_REMOVED, SECRET_SET, VAULT_ROTATED
from security.keys import vault_keys_forget_old
from security.models import Secret, SigningSecret
from security.sealing import Unsealable, reseal, seal, unseal

# Shorter ones could not be told from other text when what tools say is searched for them.
LEAST, MOST = 8, 16_384
# All secrets of a package have to fit into a pipe: their sealed texts together are a third longer.
SEALED_MOST = 72_000


def secret_set(*, actor: Actor, scope: str, name: str, value: str) -> None:
    """Keeps a secret, in place of the one before; who may is for the caller to ask.

    Raises InvalidRequest, which never holds the value, for one that is too short or too long.
    """
    if not LEAST <= len(value) <= MOST or "\0" in value or not _is_text(value):
        message = f"A secret has {LEAST} to {MOST:,} characters, and no NUL."
        raise InvalidRequest(message, errors=[{"pointer": f"/{name}", "message": message}])
    columns = {"sealed": _sealed(scope, name, value), "set_by": actor.name, "set_at": timezone.now()}
    with transaction.atomic():
        _, made = Secret.objects.update_or_create(scope=scope, name=name, defaults=columns)
        if sum(map(len, Secret.objects.filter(scope=scope).values_list("sealed", flat=True))) > SEALED_MOST:
            message = "The secrets of one package may have some 50,000 characters together."
            raise InvalidRequest(message, errors=[{"pointer": f"/{name}", "message": message}])
        record(Entry(SECRET_SET, actor, "secret", scope, {"name": name, "replaced": not made}))


def secret_remove(*, actor: Actor, scope: str, name: str | None = None) -> int:
    """Removes one secret, or all of a scope; returns how many there were."""
    rows = Secret.objects.filter(scope=scope)
    with transaction.atomic():
        mine = rows if name is None else rows.filter(name=name)
        names = list(mine.order_by("name").values_list("name", flat=True))
        mine.delete()
        for each in names:
            record(Entry(SECRET_REMOVED, actor, "secret", scope, {"name": each}))
    return len(names)


def secrets_read(scope: str, names: Collection[str] | None = None) -> dict[str, str]:
    """The secrets of a scope by name, or those of them that are named. Raises Unsealable."""
    rows = Secret.objects.filter(scope=scope)
    wanted = rows if names is None else rows.filter(name__in=names)
    return {row.name: _opened(row) for row in wanted.order_by("name")}


def secrets_listed(scope: str) -> Mapping[str, Secret]:
    """The rows of a scope by name, with who set them; not opened."""
    return {row.name: row for row in Secret.objects.filter(scope=scope)}


def vault_rotate(*, actor: Actor) -> tuple[int, list[str]]:
    """Seals everything anew under the newest key: how many rows, and those that no key opens, which stay.

    The signing secrets of personas and people's second factors are among them. After it the older keys are
    needed no more, unless something could not be opened.
    """
    from security.second_factor import second_factors_reseal  # noqa: PLC0415 - needs allauth's models

    done, unread = 0, []
    with transaction.atomic():
        for model in (Secret, SigningSecret):
            for row in model._default_manager.select_for_update().order_by("pk"):
                try:
                    sealed = reseal(row.sealed)
                except Unsealable:
                    unread.append(str(row))
                    continue
                model._default_manager.filter(pk=row.pk).update(sealed=sealed)
                done += 1
        codes, lost = second_factors_reseal()
        done, unread = done + codes, unread + lost
        if not unread:
            vault_keys_forget_old()
        record(Entry(VAULT_ROTATED, actor, "hub", "vault", {"sealed": done, "unread": len(unread)}))
    return done, unread


def _sealed(scope: str, name: str, value: str) -> str:
    return seal(json.dumps([scope, name, value]).encode())


def _opened(row: Secret) -> str:
    scope, name, value = json.loads(unseal(row.sealed))
    if (scope, name) != (row.scope, row.name):
        raise Unsealable(f"{row} was sealed for another place.")
    return str(value)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True
