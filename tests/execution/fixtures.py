"""What the tests of runs and of workers share: the fixture tools, and runs in any state."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client, override_settings
from django.utils import timezone

from execution.engine.claim import claim_make
from execution.engine.lease import Lease
from execution.engine.reaper import runs_reap
from execution.engine.states import FINAL
from execution.engine.store import current
from execution.engine.store.interface import Store
from execution.engine.store.postgres import PostgresStore
from execution.engine.store.sqlite import SqliteStore
from execution.models import Attempt, Run, Status
from registry.models import Package, ToolVersion
from registry.services import assignment_create
from security.models import Persona, User
from security.tokens import principal_find
from tests.published import catalogue_publish
from toolhub_sdk.package import CONTRACT

FIXTURE_CATALOGUE = "tests.fixture_catalogue"


@pytest.fixture
def fx(admin: User, persona: Persona, settings: Any) -> Package:
    """The fixture tools, published and assigned to the persona."""
    settings.CATALOGUE = FIXTURE_CATALOGUE
    catalogue_publish(FIXTURE_CATALOGUE)
    package = Package.objects.get(name="fixture")
    assignment_create(by=admin, persona=persona, package=package)
    return package


def stores() -> list[Store]:
    """The store of this database, and that of SQLite, which runs on each."""
    return [current.STORE, SqliteStore()]


def is_postgres() -> bool:
    """Whether the store has PostgreSQL's statements."""
    return isinstance(current.STORE, PostgresStore)


def claim_next(queue: str) -> Lease | None:
    """Claims the fairest due run of a queue and does not start it; None when nothing is due."""
    with transaction.atomic():
        choice = current.STORE.choose(queue)
        return claim_make(Run.objects.filter(pk=choice.run_id)) if choice else None


def reap() -> int:
    """Reaps all running runs, as if none had had a beat for the time of a lease."""
    with override_settings(LEASE_S=0):
        return runs_reap()


Declare = Callable[..., ToolVersion]


@pytest.fixture
def declare(fx: Package) -> Declare:
    """Gives a fixture tool another contract: `declare("fx_echo", retry="QUICK")`; `columns` as they follow."""

    def do(tool: str, *, columns: dict[str, Any] | None = None, **contract: Any) -> ToolVersion:
        version = ToolVersion.objects.get(tool__name=tool)
        version.definition["_meta"][CONTRACT] |= contract
        # The reason is part of the key under which processes keep versions.
        version.state_reason = uuid.uuid4().hex
        for name, value in (columns or {}).items():
            setattr(version, name, value)
        version.save()
        return ToolVersion.objects.get(pk=version.pk)

    return do


@pytest.fixture
def keeper(fx: Package, admin: User, persona: Persona) -> Package:
    """The package with settings and secrets, assigned to the persona; nothing is set."""
    package = Package.objects.get(name="keeper")
    assignment_create(by=admin, persona=persona, package=package)
    return package


MakeRun = Callable[..., Run]


@pytest.fixture
def make_run(fx: Package, persona: Persona, token_text: str) -> MakeRun:
    """Writes a run in a given state, as accept and claim would have left it."""
    found = principal_find(token_text)
    assert found

    def make(
        tool: str = "fx_echo", status: Status = Status.PENDING, *, started: bool = False, **columns: Any
    ) -> Run:
        past = timezone.now() - timedelta(seconds=5)
        run = Run(
            **{
                "persona": persona,
                "token_id": found[0].token_id,
                "tool_version": ToolVersion.objects.get(tool__name=tool),
                "tool": tool,
                "status": status,
                "queue": "default",
                "arguments": {"value": 1},
                "arguments_hash": bytes(32),
                "salt": bytes(16),
                "timeout_ms": 1000,
                "max_output_bytes": 1_048_576,
                "created_at": past,
                "due_at": past,
                "completed_at": past if status in FINAL else None,
                **columns,
            }
        )
        run.save(force_insert=True)
        if run.attempt:
            Attempt.objects.create(
                run=run,
                number=run.attempt,
                lease_token=run.lease_token or uuid.uuid4(),
                worker="gone:1",
                claimed_at=past,
                started_at=past if started else None,
            )
        return run

    return make


@pytest.fixture
def leased(make_run: MakeRun) -> Callable[..., Lease]:
    """A running run with its lease, as a worker leaves it that died."""

    def make(tool: str = "fx_echo", *, started: bool = True, attempt: int = 1) -> Lease:
        token = uuid.uuid4()
        run = make_run(tool, Status.RUNNING, started=started, attempt=attempt, lease_token=token)
        return Lease(run, token, attempt)

    return make


@pytest.fixture
def post(client: Client, token_text: str) -> Callable[..., Any]:
    """Posts to what a run offers, as the persona would: `post(run_id, "retry", {…}, HTTP_PREFER="…")`."""

    def do(run_id: object, act: str, body: Any = None, *, token: str = token_text, **headers: str) -> Any:
        return client.post(
            f"/api/v1/runs/{run_id}/{act}",
            body if body is not None else "",
            content_type="application/json",
            HTTP_AUTHORIZATION=f"Bearer {token}",
            **headers,
        )

    return do
