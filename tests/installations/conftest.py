"""Installs packages in the test's own process, by the same functions that workers call."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.runners.perform import call_run
from registry.installations.approval import installation_approve
from registry.installations.models import Installation
from registry.installations.services import installation_get, installation_start
from registry.installations.source_form import Source
from registry.installations.worker import installations_work
from registry.models import ToolVersion
from security.models import User
from tests.installations import packages

Install = Callable[..., Installation]


@pytest.fixture
def fetch(transactional_db: None, admin: User) -> Install:
    """Brings a zip as far as its review, or its failure. Rows are committed: the job's heart has to see them."""

    def act(content: bytes | None = None, **more: Any) -> Installation:
        zipped = packages.zipped(**more) if content is None else content
        one = installation_start(by=admin, source=Source("upload", "greetings.zip"), content=zipped)
        installations_work()
        return installation_get(str(one.pk))

    return act


@pytest.fixture
def install(admin: User, fetch: Install) -> Install:
    """Brings a zip in and publishes it, or fails."""

    def act(content: bytes | None = None, choices: dict[str, Any] | None = None, **more: Any) -> Installation:
        one = fetch(content, **more)
        if one.status != "awaiting_review":
            return one
        installation_approve(by=admin, installation=one, digest=one.digest, **(choices or {}))
        installations_work()
        return installation_get(str(one.pk))

    return act


def called(tool: str, **arguments: Any) -> Outcome:
    """What became of a call of an installed tool, carried out as a worker does."""
    version = ToolVersion.objects.get(tool__name=tool)
    return call_run(
        Call(
            run_id=uuid.uuid4(),
            tool=tool,
            runner=version.runner,
            version=version,
            arguments=arguments,
            request={},
            attempt=1,
            timeout_ms=20_000,
            max_output_bytes=1 << 16,
            inline=False,
        )
    )
