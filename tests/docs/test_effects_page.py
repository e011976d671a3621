"""docs/effects.md says what the code does: figures, routes and settings."""

import re
from pathlib import Path

from django.conf import settings
from django.urls import resolve

from execution.memory.models import Scope
from execution.memory.values import DEPTH_MAX, VALUE_BYTES_MAX

PAGE = (Path(settings.ROOT) / "docs" / "effects.md").read_text(encoding="utf-8")


def test_figures_are_those_of_the_code() -> None:
    assert f"at most {VALUE_BYTES_MAX:,} bytes and {DEPTH_MAX} levels" in PAGE
    assert all(f"| `{scope}` |" in PAGE for scope in Scope.values)


def test_each_route_is_there() -> None:
    routes = re.findall(r"`(?:[A-Z]+ )?(?:\{[^}]*\}`, )?(/api/v1/[^`]*)`", PAGE)
    assert len(routes) >= 5
    for route in routes:
        resolve(re.sub(r"\{[^}]*\}", "0", route))
