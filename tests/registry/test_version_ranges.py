"""Ranges of versions that a package asks for, as npm judges them, and the comparison of two versions."""

import itertools

import pytest

from registry.versions import order_key, range_holds, relation, same_version, version_pick
from tests.registry.test_version_order import ORDERED
from toolhub_sdk.checks.names import is_version_range

# Expected by hand from https://github.com/npm/node-semver#ranges.
RANGES = [
    ("*", "0.1.0", True),
    ("*", "1.0.0-rc.1", False),
    ("^1.2", "1.2.0", True),
    ("^1.2", "1.10.0", True),
    ("^1.2", "1.1.9", False),
    ("^1.2", "2.0.0", False),
    ("^1.2", "2.0.0-rc.1", False),
    ("^0.2.3", "0.2.9", True),
    ("^0.2.3", "0.3.0", False),
    ("^0.0.3", "0.0.3", True),
    ("^0.0.3", "0.0.4", False),
    ("^0", "0.9.0", True),
    ("^0.0", "0.0.9", True),
    ("^0.0", "0.1.0", False),
    ("~1.2.3", "1.2.9", True),
    ("~1.2.3", "1.3.0", False),
    ("~1.2", "1.2.9", True),
    ("~1", "1.9.0", True),
    ("~1", "2.0.0", False),
    ("1.4.0", "1.4.0", True),
    ("=1.4.0", "1.4.0+b1", True),
    ("1.4.0", "1.4.1", False),
    ("1.x", "1.9.9", True),
    ("1.4.*", "1.4.7", True),
    ("1", "2.0.0", False),
    (">=1.0 <2.0", "1.10.0", True),
    (">=1.0 <2.0", "2.0.0", False),
    (">1", "1.9.0", False),
    (">1", "2.0.0", True),
    (">1.2.3", "1.2.4", True),
    ("<=1", "1.9.0", True),
    ("<=1.2.3", "1.2.4", False),
    ("^1.2.3-beta.2", "1.2.3-beta.4", True),
    ("^1.2.3-beta.2", "1.2.4-beta.2", False),
    (">=2.0.0-rc.2", "2.0.0-rc.10", True),
    (">=2.0.0-rc.2", "2.0.0-rc.1", False),
]


@pytest.mark.parametrize(("span", "version", "holds"), RANGES)
def test_a_range_holds_as_npm_says(span: str, version: str, holds: bool) -> None:
    assert is_version_range(span)
    assert range_holds(span, version) is holds


def test_two_versions_compare_as_their_places_in_the_order() -> None:
    for (i, one), (j, other) in itertools.product(enumerate(ORDERED), repeat=2):
        assert relation(one, other) == ("newer" if i > j else "older" if i < j else "same")
        assert (order_key(one) < order_key(other)) is (i < j)


def test_build_metadata_does_not_count() -> None:
    assert relation("1.0.0+b1", "1.0.0+b2") == "same"
    assert same_version("1.0.0+b2", ["0.9.0", "1.0.0+b1"]) == "1.0.0+b1"
    assert same_version("1.0.0-rc.1", ["1.0.0", "1.0.0-rc.2"]) is None


def test_of_equal_versions_always_the_same_one_is_picked() -> None:
    for order in itertools.permutations(["1.0.0+a", "1.0.0+b", "1.0.0"]):
        assert version_pick("1", order) == "1.0.0+b"
