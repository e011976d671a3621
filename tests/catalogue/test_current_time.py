"""current_time, with a clock that stands still."""

from datetime import UTC, datetime
from typing import Any

import pytest

from catalogue.system import current_time
from toolhub_sdk import FixedClock, ToolContext, ToolError, call, spec_of

NOON = datetime(2026, 7, 1, 12, 0, 0, 1_999, tzinfo=UTC)
NOON_MS = 1_782_907_200_001  # date -u -d '2026-07-01 12:00:00' +%s, and one millisecond


def at(moment: datetime, **arguments: str) -> Any:
    return call(current_time, arguments, ToolContext(clock=FixedClock(moment)))


def test_the_time_is_in_utc_when_no_zone_is_given() -> None:
    assert at(NOON) == {"timestamp": NOON_MS, "iso": "2026-07-01T12:00:00.001Z", "timezone": "UTC"}


@pytest.mark.parametrize(
    ("timezone", "iso"),
    [
        ("Asia/Kathmandu", "2026-07-01T17:45:00.001+05:45"),
        ("Europe/Berlin", "2026-07-01T14:00:00.001+02:00"),
        ("America/St_Johns", "2026-07-01T09:30:00.001-02:30"),
        ("Pacific/Kiritimati", "2026-07-02T02:00:00.001+14:00"),
        ("Etc/GMT+12", "2026-07-01T00:00:00.001-12:00"),
    ],
)
def test_the_time_in_a_zone_has_its_offset(timezone: str, iso: str) -> None:
    assert at(NOON, timezone=timezone) == {"timestamp": NOON_MS, "iso": iso, "timezone": timezone}


def test_summer_time_is_the_zones_own() -> None:
    assert at(datetime(2026, 1, 1, 12, tzinfo=UTC), timezone="Europe/Berlin")["iso"].endswith("+01:00")


def test_the_same_clock_gives_the_same_result() -> None:
    assert at(NOON) == at(NOON)
    spec = spec_of(current_time)
    assert spec is not None
    assert spec.determinism == "bounded"


@pytest.mark.parametrize(
    ("timezone", "near"),
    [
        ("Kathmandu", "Asia/Kathmandu"),
        ("europe/berlin", "Europe/Berlin"),
        ("Europe/Berlinn", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Asia/Katmandoo", "Asia/Katmandu"),
    ],
)
def test_an_unknown_zone_is_refused_with_near_names(timezone: str, near: str) -> None:
    with pytest.raises(ToolError) as refused:
        at(NOON, timezone=timezone)
    assert refused.value.code == "UNKNOWN_TIMEZONE"
    assert refused.value.recoverable
    assert near in refused.value.details["near"]
    assert near in refused.value.suggestions[0]


@pytest.mark.parametrize(
    "timezone", ["", "PST", "+02:00", "../../etc/passwd", "/etc/localtime", "localtime", "Asia", "UTC\x00"]
)
def test_what_only_names_a_file_is_no_zone(timezone: str) -> None:
    with pytest.raises(ToolError) as refused:
        at(NOON, timezone=timezone)
    assert refused.value.code == "UNKNOWN_TIMEZONE"
