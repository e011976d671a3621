"""Picks a version by number: `1.4.0` exactly, `1.4` or `1` as the highest of that line."""

import re
from collections.abc import Iterable

import semver

from core.errors import InvalidRequest

SPEC = re.compile(r"\d+(\.\d+){0,1}|\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def version_pick(spec: str, available: Iterable[str]) -> str | None:
    """The highest available version that the spec names, by semver 2.0.0 §11; None when there is none.

    Raises InvalidRequest when the spec is no version number.
    """
    if len(spec) > 64 or not SPEC.fullmatch(spec):
        raise InvalidRequest(f"{spec[:64]!r} is no version: write 1, 1.4 or 1.4.0.")
    versions = list(available)
    if spec in versions:
        return spec
    if spec.count(".") >= 2:
        return None
    line = [v for v in versions if v.startswith(f"{spec}.") and not semver.Version.parse(v).prerelease]
    return max(line, key=semver.Version.parse, default=None)
