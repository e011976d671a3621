"""A tool from outside, in the sandbox, is tried again as its contract says."""

import pytest

from tests.effects.conftest import FOLDER, Perform
from toolhub_sdk.cli.package_folder import files_read, manifest_load
from toolhub_sdk.runtimes.registry import runtime_of


def test_the_manifest_of_the_fixture_package_is_that_of_its_modules() -> None:
    """Written anew by `python -m toolhub_sdk manifest tests/packages/fx`."""
    assert (
        manifest_load(FOLDER, files_read(FOLDER))["tools"]
        == runtime_of("python").describe(FOLDER, "fx")["tools"]
    )


@pytest.mark.sandbox
def test_attempts_are_repeated_after_the_waits_of_the_policy(perform: Perform) -> None:
    told = perform("fx_fail", {"times": 2})
    assert (told["success"], told["data"]) == (True, {"attempt": 3})
    assert [one["delay_ms"] for one in told["attempts"]] == [100, 200, None]
    told = perform("fx_fail", {"times": 9})
    assert (told["error"]["code"], told["metadata"]["attempts"]) == ("TIMEOUT", 3)
    assert told["error"]["details"]["reason"] == "MAX_RETRIES_EXCEEDED"
    told = perform("fx_fail", {"times": 9, "recoverable": False})
    assert (told["error"]["code"], told["metadata"]["attempts"]) == ("TIMEOUT", 1)
