"""Ids in the order of time (RFC 9562), and the clock of leases."""

import itertools
import time
import uuid

import pytest
from django.db import connection
from django.db.models import F, FloatField, Func, Value

from core.clock import lease_boot, lease_now, uuid7
from security.models import User


def test_an_id_has_the_version_and_variant_bits_of_rfc_9562() -> None:
    for _ in range(1000):
        made = uuid7()
        assert made.version == 7
        assert made.variant == uuid.RFC_4122
        assert str(made)[14] == "7"
        assert str(made)[19] in "89ab"


def test_an_id_begins_with_the_milliseconds_since_the_epoch() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7()
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000


def test_ids_of_later_milliseconds_sort_later() -> None:
    by_ms = {}
    while len(by_ms) < 5:
        made = uuid7()
        by_ms.setdefault(made.int >> 80, made)
    for earlier, later in itertools.pairwise(by_ms.values()):
        assert earlier < later
        assert str(earlier) < str(later)


def test_ids_are_random_in_all_their_74_bits() -> None:
    made = [uuid7().int for _ in range(2000)]
    assert len(set(made)) == 2000
    always, never = made[0], made[0]
    for number in made:
        always &= number
        never |= number
    fixed = {76, 77, 78, 79, 62, 63}
    for bit in set(range(80)) - fixed:
        assert not always >> bit & 1
        assert never >> bit & 1


@pytest.mark.django_db
def test_the_lease_clock_goes_forward_and_is_the_databases_where_that_has_one(admin: User) -> None:
    def now() -> float:
        return float(User.objects.annotate(t=lease_now()).values_list("t", flat=True)[0])

    first, second = now(), now()
    assert 0 <= second - first < 5
    if connection.vendor == "postgresql":
        epoch = Func(Func(function="clock_timestamp"), template="EXTRACT(EPOCH FROM %(expressions)s)::float8")
        seen = User.objects.annotate(t=Func(epoch, output_field=FloatField(), template="%(expressions)s"))
        assert abs(seen.values_list("t", flat=True)[0] - second) < 5
        assert lease_boot() == ""
    else:
        assert abs(time.clock_gettime(time.CLOCK_BOOTTIME) - second) < 5
        assert uuid.UUID(lease_boot())


@pytest.mark.django_db
def test_a_lease_can_be_compared_with_now_inside_a_query(admin: User) -> None:
    rows = User.objects.annotate(ends=lease_now() + Value(30.0), now=lease_now())
    assert rows.filter(ends__gt=F("now")).count() == 1
