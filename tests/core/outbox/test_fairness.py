"""Whose message is sent next."""

from uuid import uuid4

import pytest
from django.db import transaction

from core.outbox.models import Delivery
from core.outbox.services import delivery_add, delivery_claim
from core.outbox.tries import OWNER_MAX

pytestmark = pytest.mark.django_db


def owed(owner: str) -> Delivery:
    with transaction.atomic():
        return delivery_add(kind="run.outcome", subject=uuid4(), owner=owner, url="https://example.org/")


def test_whoever_has_the_fewest_under_way_is_next() -> None:
    for owner in ("slow", "slower"):
        for _ in range(4):
            owed(owner)
    first = [delivery_claim(), delivery_claim()]
    assert {one.owner for one in first if one} == {"slow", "slower"}
    owed("new")
    third = delivery_claim()
    assert third is not None
    assert third.owner == "new"
    rest = [one.owner for one in iter(delivery_claim, None)]
    assert sorted(rest) == ["slow", "slower"]
    assert Delivery.objects.filter(claim=None).count() == 2 * (4 - OWNER_MAX)
