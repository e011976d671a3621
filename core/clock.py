"""Clocks: one that workers on all machines share for leases, time-ordered ids, and `since` of lists."""

import functools
import secrets
import time
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from django.db import connection
from django.db.models import FloatField, Func, Value
from django.db.models.expressions import Combinable
from django.utils import timezone


class DatabaseSeconds(Func):
    """Seconds since the epoch by PostgreSQL's own clock, at the moment of the statement's execution."""

    template = "EXTRACT(EPOCH FROM clock_timestamp())::double precision"
    arity = 0
    output_field = FloatField()


@functools.cache
def boot_id() -> str:
    """Names this boot of this machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def lease_now() -> Combinable:
    """The lease clock's now, in seconds, to be used inside a query.

    PostgreSQL: the database's clock. SQLite is one machine's: CLOCK_BOOTTIME, which no change
    of the wall clock moves; `lease_boot` tells boots apart.
    """
    if connection.vendor == "postgresql":
        return DatabaseSeconds()
    return Value(time.clock_gettime(time.CLOCK_BOOTTIME), output_field=FloatField())


def lease_boot() -> str:
    """What a lease of this machine carries as its boot; empty where the database's clock rules."""
    return "" if connection.vendor == "postgresql" else boot_id()


def uuid7() -> uuid.UUID:
    """A time-ordered id (RFC 9562 §5.7): 48 bits of ms, 74 random bits. New rows stay near in the index."""
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    value = value & ~(0xF000 << 64) | 0x7000 << 64
    value = value & ~(0xC000 << 48) | 0x8000 << 48
    return uuid.UUID(int=value)


def since_of(filters: Mapping[str, str]) -> datetime | None:
    """The moment (UTC) so many hours ago as `since` says; None without a number of up to four digits."""
    hours = filters.get("since", "")
    if not (hours.isascii() and hours.isdigit() and len(hours) <= 4):
        return None
    return timezone.now() - timedelta(hours=int(hours))
