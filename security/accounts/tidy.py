"""Invitations and notices that were mailed long ago."""

import functools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Manager
from django.db.models.functions import Now

from core.duties.rows import all_or_each
from core.outbox.models import Delivery, State
from security.accounts.invitations import KIND as INVITATION
from security.accounts.notices import KIND as NOTICE
from security.models import Invitation, Notice

BATCH = 1_000


def invitations_expire() -> int:
    """Deletes those made TOOLHUB_MESSAGE_DAYS ago, when their addresses are no good, and mails still owed.

    The person stays, and so does what the ledger says. Returns how many.
    """
    deleted = 0
    for rows, kind in ((Invitation.objects, INVITATION), (Notice.objects, NOTICE)):
        old = rows.filter(created_at__lt=Now() - timedelta(days=settings.MESSAGE_DAYS)).order_by("created_at")
        deleted += all_or_each(kind, old, functools.partial(_delete, rows, kind), most=BATCH)
    return deleted


def _delete(rows: Manager[Any], kind: str, keys: Sequence[UUID]) -> int:
    Delivery.objects.filter(kind=kind, subject__in=keys, state=State.QUEUED).delete()
    return rows.filter(pk__in=keys).delete()[0]
