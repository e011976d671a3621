"""Tools that ask the system."""

import difflib
import functools
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Annotated, TypedDict
from zoneinfo import ZoneInfo

from toolhub_sdk import DeclaredError, Example, Field, Package, ToolContext, ToolError, tool

PACKAGE = Package(
    name="toolhub-system",
    version="1.0.0",
    title="System",
    description="What time it is, anywhere.",
    license="MIT",
    author="ToolHub",
    keywords=("time", "clock"),
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEAR = "Use a name of the IANA time zone database, such as Europe/Berlin or UTC."


class Time(TypedDict):
    timestamp: Annotated[int, Field(description="Milliseconds since 1970-01-01T00:00:00Z.")]
    iso: Annotated[
        str,
        Field(description="The local time there with its offset from UTC (RFC 3339).", format="date-time"),
    ]
    timezone: Annotated[str, Field(description="The time zone's name.")]


@tool(
    category="system",
    tags=("time", "date", "clock"),
    determinism="bounded",
    timeout_ms=1000,
    examples=(Example({}), Example({"timezone": "Asia/Kathmandu"})),
    errors=(DeclaredError("UNKNOWN_TIMEZONE", suggestions=(_NEAR,)),),
)
def current_time(
    ctx: ToolContext,
    timezone: Annotated[
        str,
        Field(
            description="An IANA time zone name; UTC when left out.",
            max_length=64,
            examples=("UTC", "Asia/Kathmandu"),
        ),
    ] = "UTC",
) -> Time:
    """Returns the current date and time, in UTC or in a given time zone.

    Takes an IANA time zone name such as `Europe/Berlin`; returns `{"timestamp", "iso", "timezone"}`:
    milliseconds since the epoch, the local time with milliseconds and offset, and the zone's name. Offsets
    like `+02:00` and abbreviations like `PST` are not names of zones: they are the error UNKNOWN_TIMEZONE,
    which suggests near ones.
    """
    if timezone not in _zone_names():
        raise _unknown(timezone)
    now = ctx.clock.now()
    iso = now.astimezone(ZoneInfo(timezone)).isoformat(timespec="milliseconds")
    if timezone == "UTC":
        iso = iso.replace("+00:00", "Z")
    return {"timestamp": (now - _EPOCH) // timedelta(milliseconds=1), "iso": iso, "timezone": timezone}


@functools.cache
def _zone_names() -> frozenset[str]:
    """The names in the tzdata package: the same on every machine, and none that is only a file's name."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


def _unknown(timezone: str) -> ToolError:
    near = _near(timezone)
    suggestions = (f"Did you mean {' or '.join(near)}?", _NEAR) if near else (_NEAR,)
    return ToolError(
        "UNKNOWN_TIMEZONE",
        f"There is no time zone named {timezone!r}.",
        suggestions=suggestions,
        details={"near": near},
    )


def _near(timezone: str) -> list[str]:
    """Up to three names: those with this place, else those that are written much alike."""
    wanted = timezone.strip().lower().replace(" ", "_")
    by_name = {name.lower(): name for name in sorted(_zone_names())}
    same_place = [name for low, name in by_name.items() if wanted in (low, low.rpartition("/")[2])]
    if same_place or len(wanted) < 5:  # PST is much like EST, but not near
        return same_place[:3]
    places = {low.rpartition("/")[2]: name for low, name in by_name.items()}
    alike = [by_name[low] for low in difflib.get_close_matches(wanted, by_name, n=3)]
    alike += [places[low] for low in difflib.get_close_matches(wanted, places, n=3)]
    return list(dict.fromkeys(alike))[:3]
