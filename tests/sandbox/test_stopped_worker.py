"""A worker that is asked to stop lets what it started say goodbye."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.models import Release
from registry.services import assignment_create
from security.models import Persona, User
from security.sandbox.levels import Level
from tests.packages.load import package_publish
from tests.processes import Processes, wait_for
from tests.workers.conftest import hub, standing
from toolhub_sdk.package import CONTRACT

pytestmark = [pytest.mark.sandbox, pytest.mark.broker, pytest.mark.timeout(180)]
__all__ = ["hub", "standing"]
Call = Callable[..., Any]


@pytest.mark.parametrize("level", list(Level))
def test_a_worker_that_is_stopped_shuts_down_what_waits_once(
    hub: Processes, admin: User, persona: Persona, call: Call, level: Level
) -> None:
    """Each process that opened the pool closes it once: those of the calls then, who waits with the worker."""

    def writes(manifest: Any) -> None:
        for tool in manifest["tools"]:
            tool["_meta"][CONTRACT]["filesystem"] = {"read": [], "write": ["pool"]}
            tool["_meta"][CONTRACT]["isolation"] = "none"

    release = package_publish("fx_contract", writes)
    Release.objects.filter(pk=release.pk).update(is_reviewed=True)
    assignment_create(by=admin, persona=persona, package=release.package)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        opened, said = Path(folder, "opened"), Path(folder, "said")
        for file in (opened, said):  # each call is a user of its own
            file.touch()
            file.chmod(0o666)
        worker = hub.worker(
            TOOLHUB_FOLDERS=f"pool={folder}:rw", TESTS_LEVEL=level.value, TOOLHUB_SANDBOX_PROCESS="on"
        )
        for _ in range(2):  # the second is served by one that waited
            answer = call("fx_pool", {}, HTTP_PREFER="wait=60").json()
            assert (answer["data"], answer["metadata"]["sandbox"]) == (1, level.value), answer
        wait_for(lambda: opened.read_text() == "opened\n" * 3)
        assert said.read_text() == "shutdown\n" * 2
        worker.terminate()
        worker.wait(30)
        wait_for(lambda: said.read_text() == "shutdown\n" * 3)
