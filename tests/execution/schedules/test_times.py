"""Due times, worked out by hand from the clocks' own rules.

Europe/Berlin in 2026: on 29 March 02:00 becomes 03:00 (01:00 UTC), on 25 October 03:00 becomes 02:00
(01:00 UTC). Asia/Kathmandu: 5 h 45 min before UTC, all year.
"""

from datetime import UTC, datetime

import pytest

from core.errors import InvalidRequest
from execution.entry.schedules.times import due_after, in_words, time_zone_check


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# Expression, time zone, after (UTC), the next three due times (UTC).
TABLE = [
    # Nine in the morning stays nine in the morning: 08:00 UTC in winter, 07:00 UTC in summer.
    (
        "0 9 * * *",
        "Europe/Berlin",
        "2026-03-27 12:00",
        ("2026-03-28 08:00", "2026-03-29 07:00", "2026-03-30 07:00"),
    ),
    (
        "0 9 * * *",
        "Europe/Berlin",
        "2026-10-23 12:00",
        ("2026-10-24 07:00", "2026-10-25 08:00", "2026-10-26 08:00"),
    ),
    # Half past two does not exist on 29 March: right after the jump, at 03:00 (01:00 UTC).
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28 00:00",
        ("2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"),
    ),
    # Half past two comes twice on 25 October: once, the first time (00:30 UTC).
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24 00:00",
        ("2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"),
    ),
    # Asked within the repeated hour, at 02:15 for the second time: the next day's.
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-25 01:15",
        ("2026-10-26 01:30", "2026-10-27 01:30", "2026-10-28 01:30"),
    ),
    # Every half hour keeps its distance over both jumps.
    (
        "*/30 * * * *",
        "Europe/Berlin",
        "2026-03-29 00:15",
        ("2026-03-29 00:30", "2026-03-29 01:00", "2026-03-29 01:30"),
    ),
    (
        "*/30 * * * *",
        "Europe/Berlin",
        "2026-10-25 00:15",
        ("2026-10-25 00:30", "2026-10-25 01:00", "2026-10-25 01:30"),
    ),
    # Six in the morning in Kathmandu is 00:15 UTC; midnight there is 18:15 UTC of the day before.
    (
        "0 6 * * *",
        "Asia/Kathmandu",
        "2026-03-28 00:15",
        ("2026-03-29 00:15", "2026-03-30 00:15", "2026-03-31 00:15"),
    ),
    (
        "0 0 1 * *",
        "Asia/Kathmandu",
        "2026-01-31 12:00",
        ("2026-01-31 18:15", "2026-02-28 18:15", "2026-03-31 18:15"),
    ),
    # 28 November 2026 is a Saturday.
    (
        "0 9 * * MON-FRI",
        "UTC",
        "2026-11-27 09:00",
        ("2026-11-30 09:00", "2026-12-01 09:00", "2026-12-02 09:00"),
    ),
    ("0 0 29 2 *", "UTC", "2026-01-01 00:00", ("2028-02-29 00:00", "2032-02-29 00:00", "2036-02-29 00:00")),
    ("* * * * *", "UTC", "2026-01-01 00:00:30", ("2026-01-01 00:01", "2026-01-01 00:02", "2026-01-01 00:03")),
]


@pytest.mark.parametrize(("cron", "zone", "after", "expected"), TABLE, ids=str)
def test_due_times(cron: str, zone: str, after: str, expected: tuple[str, ...]) -> None:
    at = utc(after)
    found = []
    for _ in expected:
        following = due_after(cron, zone, at)
        assert following is not None
        found.append(at := following)
    assert found == [utc(text) for text in expected]


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "0 0 31 2 *",
        "0 0 * * MOON",
        "@daily",
        "a b c d e",
    ],
)
def test_what_is_no_expression_is_refused_at_its_field(cron: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        due_after(cron, "UTC", utc("2026-01-01 00:00"))
    assert refusal.value.errors[0]["pointer"] == "/cron"


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "CEST+2", "../etc/passwd", "europe/berlin"])
def test_what_is_no_time_zone_is_refused_at_its_field(name: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        time_zone_check(name)
    assert refusal.value.errors[0]["pointer"] == "/time_zone"


def test_an_expression_is_said_in_words() -> None:
    assert in_words("0 9 * * 1-5") == "At 09:00 on Monday through Friday"
