"""The write doors of deliveries: owed, claimed, recorded, sent again.

At least once: a claim only moves the row's due time, so that a sender that dies has lost nothing. The row
falls due again and is sent a second time under the same id.
"""

import uuid
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Count, Q
from django.db.models.functions import Now
from django.utils import timezone

from core.outbox.kinds import KINDS, Try
from core.outbox.models import Delivery, State
from core.outbox.tries import CLAIM_S, OWNER_MAX

# Where a message goes that is sent by mail.
MAIL = "mail:"


def delivery_add(*, kind: str, subject: uuid.UUID, owner: str, url: str) -> Delivery:
    """Owes a message, in the transaction of the change that it tells of: both are there, or none."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("A message is owed in the business transaction only.")
    return Delivery.objects.create(kind=kind, subject=subject, owner=owner, url=url, next_at=Now())


def delivery_claim() -> Delivery | None:
    """Takes the oldest due message of an owner with the fewest under way; None when there is none.

    An owner that has OWNER_MAX under way waits: slow receivers of one hold up nobody else's messages.
    """
    due = Delivery.objects.filter(state=State.QUEUED, next_at__lte=Now())
    if not due.exists():
        return None
    with transaction.atomic():
        sending = Delivery.objects.filter(state=State.QUEUED, claim__isnull=False, next_at__gt=Now())
        busy = {row["owner"]: row["n"] for row in sending.order_by().values("owner").annotate(n=Count("pk"))}
        skip = connection.features.has_select_for_update_skip_locked
        free = due.select_for_update(skip_locked=skip).order_by("next_at")
        delivery = free.exclude(owner__in=busy).first()
        for under_way in range(1, OWNER_MAX):
            if delivery is None:
                delivery = free.filter(owner__in=[o for o, n in busy.items() if n == under_way]).first()
        if delivery is None:
            return None
        delivery.claim, delivery.attempts = uuid.uuid4(), delivery.attempts + 1
        Delivery.objects.filter(pk=delivery.pk).update(
            claim=delivery.claim, attempts=delivery.attempts, next_at=Now() + timedelta(seconds=CLAIM_S)
        )
    return delivery


def delivery_record(delivery: Delivery, news: Try) -> bool:
    """Writes how a try went, and tells the kind; false when the claim was lost meanwhile."""
    state = State.DELIVERED if news.delivered else State.QUEUED if news.next_at else State.FAILED
    wait = news.next_at - timezone.now() if news.next_at else timedelta()
    with transaction.atomic():
        mine = Delivery.objects.filter(pk=delivery.pk, claim=delivery.claim, state=State.QUEUED)
        moved = mine.update(
            state=state,
            claim=None,
            error=news.error[:300],
            # By the database's clock, as claims compare with it.
            next_at=Now() + wait,
            ended_at=None if state is State.QUEUED else Now(),
        )
        if moved:
            KINDS[delivery.kind].told(delivery, news)
    return bool(moved)


def delivery_again(delivery: Delivery) -> bool:
    """Owes a message anew, at once, with all tries, under its old id; false while somebody sends it."""
    free = Delivery.objects.filter(Q(claim=None) | Q(next_at__lte=Now()), pk=delivery.pk)
    changes = {"attempts": 0, "next_at": Now(), "ended_at": None, "error": ""}
    return bool(free.update(state=State.QUEUED, claim=None, **changes))
