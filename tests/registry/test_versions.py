"""Which version a number means, by semver 2.0.0 §11."""

from typing import Any

import pytest

from core.actors import SYSTEM
from core.errors import InvalidRequest
from registry.models import Release, ToolVersion
from registry.releases.publish import release_publish
from registry.versions import version_pick

HAVE = [
    "1.0.0",
    "1.4.0",
    "1.4.9",
    "1.4.10",
    "1.10.0",
    "1.11.0-rc.1",
    "2.0.0-beta",
    "10.0.0",
    "1.4.11+build.5",
]
PICKS = [
    ("1", "1.10.0"),
    ("1.4", "1.4.11+build.5"),
    ("1.0", "1.0.0"),
    ("1.10", "1.10.0"),
    ("1.4.9", "1.4.9"),
    ("1.4.0", "1.4.0"),
    ("10", "10.0.0"),
    ("1.11.0-rc.1", "1.11.0-rc.1"),
    ("2.0.0-beta", "2.0.0-beta"),
    ("2", None),
    ("2.0", None),
    ("1.11", None),
    ("1.11.0", None),
    ("1.1", None),
    ("0", None),
    ("3", None),
    ("1.4.1", None),
    ("1.4.11", None),
]


@pytest.mark.parametrize(("spec", "picked"), PICKS)
def test_a_number_means_the_highest_version_of_its_line(spec: str, picked: str | None) -> None:
    assert version_pick(spec, HAVE) == picked
    assert version_pick(spec, reversed(HAVE)) == picked


@pytest.mark.parametrize(
    "spec", ["", "v1", "1.x", "^1.2", "*", "latest", "1.2.3.4", "1.", ".1", "1 ", "-1", "1" * 65]
)
def test_what_is_no_number_of_a_version_is_refused(spec: str) -> None:
    with pytest.raises(InvalidRequest):
        version_pick(spec, HAVE)


def test_nothing_is_picked_where_nothing_is() -> None:
    assert version_pick("1", []) is None


def test_a_line_means_its_highest_version_that_was_not_withdrawn(call: Any, assign: Any) -> None:
    assign("toolhub-data")
    manifest = {**Release.objects.get(package__name="toolhub-data").manifest, "version": "1.1.0"}
    release_publish(by=SYSTEM, manifest=manifest, files={}, activate=False)
    ToolVersion.objects.filter(version="1.1.0").update(state="yanked")
    assert call("echo@1", {"text": "a"}).json()["metadata"]["version"] == "1.0.0"
    assert call("echo@1.1.0", {"text": "a"}).json()["error"]["code"] == "VERSION_YANKED"
