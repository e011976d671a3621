"""A persona's signing secrets: what the hub sends on its behalf is signed with them.

Sealed as the vault's are, in a table of their own: several of one persona count at a time.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.ledger import Entry, record
from core.outbox.signing import secret_key, secret_text
from security.event_kinds import SIGNING_SECRET_CREATED
from security.models import Persona, SigningSecret, User
from security.permissions import actor_of, require
from security.sealing import seal, unseal

# So long messages are signed with the secret before, too.
OVERLAP = timedelta(hours=24)


def signing_secret_create(*, by: User, persona: Persona) -> str:
    """A new secret for a persona, in the text form that receivers take; it cannot be read again.

    Earlier ones go on signing beside it for a day. Raises Denied.
    """
    require(by, "security.add_signingsecret", persona)
    text = secret_text()
    with transaction.atomic():
        ends_at = timezone.now() + OVERLAP
        replaced = SigningSecret.objects.filter(persona=persona, ends_at=None).update(ends_at=ends_at)
        SigningSecret.objects.create(persona=persona, sealed=seal(text.encode()), created_by=by)
        data = {"persona": persona.name, "replaced": bool(replaced)}
        record(Entry(SIGNING_SECRET_CREATED, actor_of(by), "persona", str(persona.pk), data))
    return text


def signing_keys(persona_id: int) -> list[bytes]:
    """The keys that sign for a persona now, newest first; empty when it has none. Raises Unsealable."""
    valid = SigningSecret.objects.filter(Q(ends_at=None) | Q(ends_at__gt=timezone.now()), persona=persona_id)
    return [secret_key(unseal(row.sealed).decode()) for row in valid.order_by("-id")]


def has_signing_secret(persona_id: int) -> bool:
    """Whether messages on behalf of a persona can be signed."""
    return SigningSecret.objects.filter(persona=persona_id, ends_at=None).exists()
