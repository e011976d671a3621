"""The cast of the fault tests: real processes, and tools whose traces the world keeps."""

import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import orjson
import pytest

from registry.catalogue import catalogue_sync
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, User
from security.services import persona_create, token_create
from tests.processes import Processes, running


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


def missing(what: str) -> NoReturn:
    """Leaves a test out because the machine lacks something; fails it where everything is demanded."""
    if os.environ.get("TOOLHUB_REQUIRE_SERVICES") == "1":
        pytest.fail(what)
    pytest.skip(what)
