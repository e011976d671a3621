"""Order of versions by semver 2.0.0 §11: the only place where two versions are compared."""

import re
from collections.abc import Iterable
from typing import Literal, TypeVar

import semver
from django.db.models import Model, QuerySet

from core.errors import InvalidRequest

_NUMBER = r"(?:0|[1-9][0-9]*)"
SPEC = re.compile(rf"{_NUMBER}(?:\.{_NUMBER})?")
_BOUND = re.compile(
    rf"(\^|~|>=|<=|>|<|=)?({_NUMBER})(?:\.({_NUMBER}|x|\*))?(?:\.({_NUMBER}|x|\*))?(-[0-9A-Za-z.-]+)?(?:\+.*)?"
)
Relation = Literal["newer", "older", "same"]
Row = TypeVar("Row", bound=Model)


def is_version(text: str) -> bool:
    """Whether the text is an exact version by semver 2.0.0."""
    return semver.Version.is_valid(text)


def order_key(version: str) -> tuple[semver.Version, str]:
    """The sort key of a version. Equal precedence is ordered by the text of the build metadata."""
    parsed = semver.Version.parse(version)
    return parsed, parsed.build or ""


def is_prerelease(version: str) -> bool:
    """Whether the version has a pre-release part, such as 2.0.0-rc.1."""
    return semver.Version.parse(version).prerelease is not None


def relation(version: str, other: str) -> Relation:
    """How a version stands to another one. Build metadata does not count (§10)."""
    order = semver.Version.parse(version).compare(other)
    return "newer" if order > 0 else "older" if order < 0 else "same"


def same_version(version: str, known: Iterable[str]) -> str | None:
    """The known version that has the same precedence: equal, or different in build metadata alone (§10)."""
    return next((one for one in known if relation(version, one) == "same"), None)


def rows_newest_first(rows: QuerySet[Row], count: int, keep: int | None = None) -> list[Row]:
    """The rows with the `count` highest versions, highest first; `keep` is the id of a row that is always
    among them.

    The ids and versions are read first, so that no other column of the remaining rows is.
    """
    versions = dict(rows.order_by().values_list("pk", "version"))
    order = sorted(versions, key=lambda pk: order_key(versions[pk]), reverse=True)
    found = rows.order_by().in_bulk([pk for place, pk in enumerate(order) if place < count or pk == keep])
    return [found[pk] for pk in order if pk in found]


def version_pick(spec: str, available: Iterable[str]) -> str | None:
    """The version that a number names: `1.4.0` exactly, `1.4` or `1` the highest release of that line.

    Returns None when there is none. A line never means a pre-release. Raises InvalidRequest when the spec is
    no version number.
    """
    if len(spec) > 64 or not (SPEC.fullmatch(spec) or is_version(spec)):
        raise InvalidRequest(f"{spec[:64]!r} is no version: write 1, 1.4 or 1.4.0.")
    versions = list(available)
    if spec in versions:
        return spec
    if not SPEC.fullmatch(spec):
        return None
    line = [one for one in versions if one.startswith(f"{spec}.") and not is_prerelease(one)]
    return max(line, key=order_key, default=None)


def range_holds(span: str, version: str) -> bool:
    """Whether a version is in a range such as `^1.2`, `~1.2.3`, `>=1.0 <2.0`, `1.4.0` or `*`.

    The parts of a range all have to hold. A pre-release is in a range only if a part names a pre-release of
    the same major, minor and patch number, as npm judges it.
    """
    if span.strip() == "*":
        return not is_prerelease(version)
    parts = [_BOUND.fullmatch(part) for part in span.split()]
    if not parts or None in parts:
        return False
    found = [part for part in parts if part is not None]
    number = semver.Version.parse(version)
    if number.prerelease and not any(
        part[5] and _lowest(part).finalize_version() == number.finalize_version() for part in found
    ):
        return False
    return all(_part_holds(part, number) for part in found)


def _lowest(part: re.Match[str]) -> semver.Version:
    minor, patch = (0 if one in {None, "x", "*"} else int(one) for one in (part[3], part[4]))
    return semver.Version(int(part[2]), minor, patch, part[5][1:] if part[5] else None)


def _part_holds(part: re.Match[str], number: semver.Version) -> bool:
    sign, low = part[1] or "=", _lowest(part)
    after = _after(part, low)
    if sign == ">=":
        return number >= low
    if sign == "<":
        return number < low
    if sign == ">":
        return number >= after if after else number > low
    if sign == "<=":
        return number < after if after else number <= low
    return low <= number and (number < after if after else number == low)


def _after(part: re.Match[str], low: semver.Version) -> semver.Version | None:
    """The first version behind the line that the part names; None for one exact version."""
    if part[1] == "^":
        if low.major:
            return semver.Version(low.major + 1)
        if low.minor:
            return semver.Version(0, low.minor + 1)
    if part[3] in {None, "x", "*"}:
        return semver.Version(low.major + 1)
    if part[1] == "~" or part[4] in {None, "x", "*"}:
        return semver.Version(low.major, low.minor + 1)
    return semver.Version(0, 0, low.patch + 1) if part[1] == "^" else None
