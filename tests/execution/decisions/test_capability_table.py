"""Sets of capabilities over REST: forty pairs, each verdict written down by hand."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.django_db

# required, held, satisfied
PAIRS: list[tuple[list[str], list[str], bool]] = [
    ([], [], True),
    ([], ["file:read"], True),
    (["file:read"], [], False),
    (["file:read"], ["file:read"], True),
    (["file:read"], ["file"], True),
    (["file:read"], ["file:*"], True),
    (["file:read"], ["*"], True),
    (["file:read"], ["file:write"], False),
    (["file:read"], ["files:read"], False),
    (["file:write"], ["files:write"], False),
    (["file:write"], ["fil*"], False),
    (["file:write"], ["file*"], False),
    (["file:write"], ["fil"], False),
    (["file:write"], ["*:write"], False),
    (["file:write"], ["**"], False),
    (["file:write"], [""], False),
    (["file:write"], ["FILE:WRITE"], False),
    (["file:write"], [" file:write"], False),
    (["file:write"], ["file:writes"], False),
    (["file:write"], ["file:write:tmp"], False),
    (["file:write:tmp"], ["file:write:tmp"], True),
    (["file:write:tmp"], ["file:write"], True),
    (["file:write:tmp"], ["file:write:*"], True),
    (["file:write:tmp"], ["file:*"], True),
    (["file:write:tmp"], ["file"], True),
    (["file:write:tmp"], ["file:read"], False),
    (["file:write:tmp"], ["file:*:tmp"], False),
    (["file:write:tmp"], ["file:write:tm"], False),
    (["file:write:tmp"], ["file:write:home"], False),
    (["file"], ["file:*"], False),
    (["file"], ["file:read", "file:write"], False),
    (["file"], ["*"], True),
    (["file:read", "file:write"], ["file:read"], False),
    (["file:read", "file:write"], ["file:read", "file:write"], True),
    (["file:read", "file:write"], ["file"], True),
    (["file:read", "network:api.example.org"], ["file:*"], False),
    (["file:read", "network:api.example.org"], ["file:*", "network"], True),
    (["network:api.example.org"], ["network:api.example"], False),
    (["network:api.example"], ["network:api.example.org"], False),
    (["network:api.example.org"], ["network:*.example.org"], False),
    (["db.read"], ["db"], True),
    (["db.read"], ["db:*"], False),
    (["db.table.read"], ["db.table.*"], True),
    (["*"], ["file", "network"], False),
    (["*"], ["*"], True),
]


def test_the_table_has_forty_pairs() -> None:
    assert len({(tuple(required), tuple(held)) for required, held, _ in PAIRS}) >= 40


@pytest.mark.parametrize(("required", "held", "satisfied"), PAIRS)
def test_held_capabilities_satisfy_required_ones(
    ask: Callable[..., Any], required: list[str], held: list[str], satisfied: bool
) -> None:
    answer = ask(required=required, held=held).json()
    assert answer["allowed"] is satisfied
    (check,) = answer["decision"]["checks"]
    assert check["verdict"] == ("pass" if satisfied else "fail")
    assert check["code"] == ("" if satisfied else "CAPABILITY_MISSING")


def test_what_is_no_capability_is_told(ask: Callable[..., Any]) -> None:
    answer = ask(required=["file:write"], held=["fil*", "file:write"]).json()
    assert answer["allowed"] is True
    assert answer["warnings"] == ["'fil*' is no capability: no tool asks for it, and nobody is granted it."]
