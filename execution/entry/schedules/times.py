"""When a schedule is due: cron expressions of five fields in a named time zone.

The clock's jumps are treated as Debian's cron does. A fixed time that the clock skips is due right after
the jump, one that the clock repeats is due once, and what is due each hour or minute keeps its distance.
"""

import functools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from core.errors import InvalidRequest

FIELDS = 5


@functools.cache
def time_zones() -> tuple[str, ...]:
    """The names of the IANA time zone database, sorted."""
    return tuple(sorted(available_timezones()))


def time_zone_check(name: str) -> None:
    """Raises InvalidRequest for what is no name of a time zone."""
    if name not in time_zones():
        message = f"{name[:64]!r} is no time zone. Use a name such as Europe/Berlin or UTC."
        raise InvalidRequest(message, errors=[{"pointer": "/time_zone", "message": message}])


def due_after(cron: str, time_zone: str, after: datetime) -> datetime | None:
    """The first due time later than `after`, in UTC; None when there is none within 50 years.

    Raises InvalidRequest for an expression that is none.
    """
    if len(cron.split()) != FIELDS:
        raise _cron_error("it has minute, hour, day of month, month and day of week")
    try:
        times = CronSim(cron, after.astimezone(ZoneInfo(time_zone)))
    except CronSimError as error:
        raise _cron_error(str(error)) from error
    # Within an hour that the clock repeats, the first answer can lie before `after`.
    found = next((at for at in times if at > after), None)
    return found.astimezone(UTC) if found else None


def _cron_error(why: str) -> InvalidRequest:
    message = f"This is no cron expression: {why}. `0 9 * * 1-5` is nine o'clock from Monday to Friday."
    return InvalidRequest(message, errors=[{"pointer": "/cron", "message": message}])


def in_words(cron: str) -> str:
    """A cron expression in English. Raises CronSimError for what is none."""
    return CronSim(cron, datetime.now(UTC)).explain()
