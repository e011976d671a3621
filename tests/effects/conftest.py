"""The fixture package, published, and calls of its tools carried out here."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db.models.functions import Now
from django.test import Client

from execution.engine.perform import queue_work
from execution.engine.states import SETTLED
from execution.engine.wait import retries_due
from execution.models import Run
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, User
from tests.sandbox.packages import publish
from toolhub_sdk.cli.package_folder import files_read, manifest_load

FOLDER = Path(__file__).parents[1] / "packages" / "fx"
Perform = Callable[..., Any]
Ask = Callable[..., Any]


@pytest.fixture
def fx_published(transactional_db: None, admin: User, persona: Persona) -> Package:
    """The package `fx`, published without its self-test, and assigned to the persona."""
    contents = files_read(FOLDER)
    package = publish(manifest_load(FOLDER, contents), contents).package
    assignment_create(by=admin, persona=persona, package=package)
    return package


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    """A request of the persona: `ask("GET", "runs/…")`; the answer's JSON."""

    def do(method: str, path: str, body: Any = None) -> Any:
        address = f"/api/v1/{path}"
        headers = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
        sent = b"" if body is None else orjson.dumps(body)
        answer = client.generic(method, address, sent, content_type="application/json", **headers)
        assert answer.status_code < 500, answer.content
        return answer.json() if answer.content else None

    return do


def work_all() -> None:
    """Carries out all that is due or waits to be retried, in the sandbox, as workers would."""
    while Run.objects.exclude(status__in=SETTLED).exists():
        Run.objects.exclude(status__in=SETTLED).update(due_at=Now() - timedelta(seconds=1))
        retries_due()
        queue_work("sandbox")
        queue_work("default")


@pytest.fixture
def perform(fx_published: Package, call: Callable[..., Any], ask: Ask) -> Perform:
    """Calls a tool and carries it out to its end; the run as the persona reads it."""

    def do(tool: str, arguments: Any, **more: Any) -> Any:
        answer = call(tool, body={"arguments": arguments, **more}, HTTP_PREFER="respond-async")
        assert answer.status_code == 202, answer.content
        work_all()
        return ask("GET", f"runs/{answer.json()['metadata']['run_id']}")

    return do
