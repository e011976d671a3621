"""The cast of the fault tests: real processes, and tools whose traces the world keeps."""

import os
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import orjson
import pytest

from execution.engine.requests import CallRequest
from execution.engine.submit import Manner, run_submit
from execution.models import Run
from registry.catalogue import catalogue_sync
from registry.models import Package, ToolVersion
from registry.services import assignment_create
from security.models import Persona, User
from security.services import persona_create, token_create
from security.tokens import principal_find
from tests.processes import Processes, running, wait_for
from toolhub_sdk.package import CONTRACT

INSTALL_STEPS = ("fetch", "verify", "inspect", "prepare", "self_test", "publish")
PLACES = (
    *(
        f"{step}.{side}"
        for step in ("accept", "ask", "claim", "start", "finish")
        for side in ("before", "after")
    ),
    *(f"{step}.{side}" for step in ("short", "reap", "retry") for side in ("before", "after")),
    *("ring.before", "effects.before", "outbox.sent"),
    *(f"install.{step}" for step in INSTALL_STEPS),
)


@pytest.fixture
def hub(transactional_db: None) -> Iterator[Processes]:
    """Processes of a hub on this test's database, ended with the test."""
    yield from running(DJANGO_SETTINGS_MODULE="chaos.settings")


@pytest.fixture
def world_token(transactional_db: None, settings: Any) -> str:
    """The token of a persona that may call the tools of `world`."""
    settings.CATALOGUE = "chaos.catalogue"
    admin = User.objects.create_superuser("admin", password="correct horse battery")
    catalogue_sync(settings.CATALOGUE)
    persona: Persona = persona_create(by=admin, name="world")
    assignment_create(by=admin, persona=persona, package=Package.objects.get(name="world"))
    return token_create(by=admin, persona=persona, name="faults")[1]


Execute = Callable[..., dict[str, Any] | None]


@pytest.fixture
def execute(world_token: str) -> Execute:
    """Calls a tool over HTTP; None when the server went away in the midst of it."""

    def do(address: str, tool: str, arguments: Any, **headers: str) -> dict[str, Any] | None:
        sent = {
            "Authorization": f"Bearer {world_token}",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        request = urllib.request.Request(
            f"{address}/api/v1/tools/{tool}/execute", orjson.dumps({"arguments": arguments}), sent
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return dict(orjson.loads(answer.read()))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.code}: {error.read()[:500]!r}") from error
        except OSError:
            return None

    return do


class Deaths:
    """Places where processes with this `env` die: each once, when it is armed."""

    def __init__(self, folder: Path) -> None:
        self._files = {place: folder / place for place in PLACES}
        self.env = {"TOOLHUB_FAILPOINT": " ".join(f"{place}@{file}" for place, file in self._files.items())}

    def arm(self, place: str) -> None:
        self._files[place].touch()

    def await_death(self, place: str) -> None:
        wait_for(lambda: not self._files[place].exists(), 60)


@pytest.fixture
def deaths(tmp_path: Path) -> Deaths:
    folder = tmp_path / "armed"
    folder.mkdir()
    return Deaths(folder)


def submitted(token: str, tool: str, file: Path, **more: float) -> Run:
    """A run that waits for a worker, accepted by this process."""
    found = principal_find(token)
    assert found
    request = CallRequest(arguments={"file": str(file), **more})
    return run_submit(principal=found[0], name=tool, request=request, manner=Manner(0, detached=True))


def declare(tool: str, **contract: object) -> None:
    """Gives a tool another contract, which running processes see, too."""
    version = ToolVersion.objects.get(tool__name=tool)
    version.definition["_meta"][CONTRACT] |= contract
    # The reason is part of the key under which processes keep versions.
    version.state_reason = uuid.uuid4().hex
    version.save()


def missing(what: str) -> NoReturn:
    """Leaves a test out because the machine lacks something; fails it where everything is demanded."""
    if os.environ.get("TOOLHUB_REQUIRE_SERVICES") == "1":
        pytest.fail(what)
    pytest.skip(what)
