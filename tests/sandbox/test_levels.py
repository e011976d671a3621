"""Which level is chosen, and what is said where none will do."""

from collections.abc import Iterator
from typing import Any

import pytest

from core.errors import ToolHubError
from security.sandbox import probes, remedies
from security.sandbox.levels import Level, minimum_of
from security.sandbox.probes import level_choose, probe

pytestmark = pytest.mark.sandbox


@pytest.fixture(autouse=True)
def unremembered() -> Iterator[None]:
    """What a test pretends is not remembered by the next."""
    probe.cache_clear()
    yield
    probe.cache_clear()


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (probes, remedies):
        monkeypatch.setattr(module, "bubblewrap", lambda: None)


@pytest.fixture
def with_nothing(without_bubblewrap: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither bubblewrap nor Landlock: the probe finds out by itself that a file outside is read."""
    monkeypatch.setattr(
        "security.sandbox.probes.PROMISED", {**probes.PROMISED, Level.CONFINED: {"reads": True}}
    )


@pytest.mark.parametrize(
    ("words", "least"),
    [
        ((None,), Level.CONFINED),
        (("none",), Level.PROCESS),
        (("basic", None), Level.PROCESS),
        (("strict", "none"), Level.CONFINED),
        (("basic", "paranoid"), Level.ISOLATED),
        (("paranoid", "strict"), Level.ISOLATED),
    ],
)
def test_the_stricter_of_the_words_counts(words: tuple[str | None, ...], least: Level) -> None:
    assert minimum_of(*words) is least


@pytest.mark.parametrize("level", list(Level))
def test_every_level_holds_here(level: Level) -> None:
    found = probe(level)
    assert found.holds, found
    assert found.took_ms > 0


@pytest.mark.parametrize("least", list(Level))
def test_the_strongest_is_used(least: Level) -> None:
    assert level_choose(least) is Level.ISOLATED


def test_without_bubblewrap_code_is_confined_and_what_wants_more_is_refused(without_bubblewrap: None) -> None:
    assert level_choose(Level.CONFINED) is Level.CONFINED
    assert level_choose(Level.PROCESS) is Level.CONFINED
    with pytest.raises(ToolHubError) as refused:
        level_choose(Level.ISOLATED, reviewed=True)
    error = refused.value
    assert error.code == "SANDBOX_UNAVAILABLE"
    assert "apt-get install bubblewrap" in " ".join(error.suggestions)
    assert [each["level"] for each in error.data["probes"]] == ["isolated"]
    assert "bubblewrap is not installed" in error.data["probes"][0]["reason"]


@pytest.mark.parametrize(
    ("reviewed", "switched", "given"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_the_weakest_level_is_for_reviewed_releases_behind_a_switch(
    with_nothing: None, settings: Any, reviewed: bool, switched: bool, given: bool
) -> None:
    settings.SANDBOX_PROCESS = switched
    if given:
        assert level_choose(Level.PROCESS, reviewed=reviewed) is Level.PROCESS
        return
    with pytest.raises(ToolHubError) as refused:
        level_choose(Level.PROCESS, reviewed=reviewed)
    assert refused.value.code == "SANDBOX_UNAVAILABLE"
    assert "TOOLHUB_SANDBOX_PROCESS" in " ".join(refused.value.suggestions)


def test_a_level_that_does_not_hold_what_it_promises_is_not_used(with_nothing: None, settings: Any) -> None:
    settings.SANDBOX_PROCESS = True
    with pytest.raises(ToolHubError) as refused:
        level_choose(Level.CONFINED, reviewed=True)
    assert "/" not in refused.value.data["probes"][1]["reason"]
