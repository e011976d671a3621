"""The cast of the tests: an admin, the published catalogue, a persona with a token."""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.models import Model
from django.test import Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from whitenoise.base import WhiteNoise

from audit.kinds import kind_named
from audit.triggers import triggers_create, triggers_drop
from core.rows import row_make
from execution.engine.heart import HEART
from registry.models import Package, Tool
from registry.services import assignment_create
from security.models import Persona, User
from security.services import persona_create, token_create
from tests.migrated import TEMPLATE
from tests.published import catalogue_publish

Answer = Any

# How quickly a machine makes examples, and tries them, is no matter of a test.
hypothesis_settings.register_profile("toolhub", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("toolhub")


USES_SERVICES = {"django_db", "broker", "services"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what another shape runs: tests that need neither database nor broker, or folders of those
    that do."""
    only = os.environ.get("TOOLHUB_TEST_SERVICES_ONLY") == "1"
    folders = os.environ.get("TOOLHUB_TEST_ELSEWHERE", "").split()
    kept, others = [], []
    for item in items:
        here = (_uses_services(item) or not only) and not (_is_in(item, folders) and _runs_on_services(item))
        (kept if here else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays: the garbage collector need not look at it, nor so often at what tests make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _is_in(item: pytest.Item, folders: list[str]) -> bool:
    return any(item.path.is_relative_to(settings.ROOT / folder) for folder in folders)


def _runs_on_services(item: pytest.Item) -> bool:
    """What runs in the sandbox is tried on one database (tests/run.py)."""
    marks = {mark.name for mark in item.iter_markers()}
    return _uses_services(item) and ("sandbox" not in marks or "broker" in marks)


def _uses_services(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    fixtures = getattr(item, "fixturenames", ())
    return bool(marks & USES_SERVICES) or "db" in fixtures or "transactional_db" in fixtures


# What every test finds: the hub's commands set the mask of a process that is theirs alone.
MASK, FOLDER = os.umask(0o022), Path.cwd()
os.umask(MASK)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fails a test that leaves this process with another mask or folder, before others fail of that."""
    yield
    mask, folder = os.umask(MASK), Path.cwd()
    os.chdir(FOLDER)
    if (mask, folder) != (MASK, FOLDER):
        pytest.fail(f"It left the mask at {mask:03o} and the folder at {folder} (fixture `own_mask`).")


@pytest.fixture
def own_mask() -> Iterator[None]:
    """For tests that call a command which sets the mask of its process."""
    yield
    os.umask(MASK)


@pytest.fixture(scope="session", autouse=True)
def collected_static() -> Iterator[None]:
    """Pages name their assets by the manifest, as in production.

    Each test's client starts the hub's middleware anew; what lies in the folder is looked up once for all.
    """
    call_command("collectstatic", interactive=False, verbosity=0)
    look = WhiteNoise.update_files_dictionary
    found: dict[tuple[str, str], dict[str, Any]] = {}

    def known(self: WhiteNoise, root: str, prefix: str) -> None:
        if (root, prefix) not in found:
            look(self, root, prefix)
            found[root, prefix] = dict(self.files)
        self.files.update(found[root, prefix])

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WhiteNoise, "update_files_dictionary", known)
        yield


# What migrations fill: the same for every test.
KEPT = {"django_migrations", "django_content_type", "auth_permission", "auth_group", "auth_group_permissions"}


def _filled(cursor: Any) -> list[str]:
    """The tables that have rows, but for those that are kept."""
    names = set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT
    parts = (
        f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {connection.ops.quote_name(name)})"
        for name in sorted(names)
    )
    cursor.execute(" UNION ALL ".join(parts))
    return [name for (name,) in cursor.fetchall()]


@pytest.fixture(scope="session", autouse=True)
def flushable_ledger() -> Iterator[None]:
    """Between tests that commit, all is emptied again, the ledger too, which its triggers forbid to everybody.

    Only the table's owner can take the triggers away: the tests are that, an application in production is not.
    For the whole session, because a test's own fixtures may be gone when its database is emptied. Only tables
    with rows are touched: Django's TRUNCATE of all of them waits for the disk once for each.
    """

    def emptied(_case: TransactionTestCase) -> None:
        with connection.schema_editor() as editor:
            triggers_drop(editor)
            with connection.cursor() as cursor:
                for table in _filled(cursor):
                    cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")
                if connection.vendor == "postgresql":  # triggers are not made before what waits is checked
                    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            triggers_create(editor)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TransactionTestCase, "_fixture_teardown", emptied)
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """PostgreSQL's database is made of the one that was migrated for all suites, if there is one."""
    if connection.vendor == "postgresql":
        connection.settings_dict["TEST"]["TEMPLATE"] = os.environ.get(TEMPLATE)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Threads that listen keep a session open; the test database can be dropped only without it."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    """The real hash is slow on purpose; nearly every test makes a person. Signing in is tested with it."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def events_have_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test whose events lack what the sentences of their kinds need."""
    lacking: list[str] = []

    def made(model: type[Model], columns: dict[str, Any]) -> Model:
        kind = kind_named(columns["kind"])
        data = orjson.loads(columns["canonical"])["data"]
        if kind and (names := kind.sentence.needed - {"about"} - data.keys()):
            lacking.append(f"{kind.name} has no {', '.join(sorted(names))}: {sorted(data)}")
        return row_make(model, columns)

    monkeypatch.setattr("audit.ledger.row_make", made)
    yield
    assert not lacking


@pytest.fixture(autouse=True)
def leases_of_uncommitted_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The heart looks by a connection of its own: what a test holds in its transaction is lost to it."""
    marker = request.node.get_closest_marker("django_db")
    commits = marker is not None and marker.kwargs.get("transaction")
    if not commits and "transactional_db" not in request.fixturenames:
        monkeypatch.setattr(HEART, "_look", lambda held: None)


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("admin", password="correct horse battery")


@pytest.fixture
def viewer(db: None) -> User:
    """A person who signs in and has no permission at all."""
    return User.objects.create_user("viewer", password="correct horse battery")


@pytest.fixture
def published(db: None) -> None:
    """The built-in tools."""
    catalogue_publish(settings.CATALOGUE)


@pytest.fixture
def persona(admin: User) -> Persona:
    """A persona without any right."""
    return persona_create(by=admin, name="researcher")


@pytest.fixture
def token_text(admin: User, persona: Persona) -> str:
    return token_create(by=admin, persona=persona, name="tests")[1]


@pytest.fixture
def assign(admin: User, persona: Persona, published: None) -> Callable[[str], None]:
    """Assigns a tool, or a package, by name."""

    def do(name: str) -> None:
        tool = Tool.objects.filter(name=name).first()
        package = None if tool else Package.objects.get(name=name)
        assignment_create(by=admin, persona=persona, tool=tool, package=package)

    return do


@pytest.fixture
def call(client: Client, token_text: str) -> Callable[..., Answer]:
    """Calls a tool over REST as the persona would: `call("echo", {"text": "a"}, HTTP_PREFER="…")`.

    `body=` sends other members or raw text instead of `{"arguments": …}`.
    """

    def do(name: str, arguments: Any = None, *, body: Any = None, **headers: str) -> Answer:
        raw = (
            body
            if isinstance(body, bytes)
            else orjson.dumps(body if body is not None else {"arguments": arguments})
        )
        headers.setdefault("HTTP_AUTHORIZATION", f"Bearer {token_text}")
        return client.generic("POST", f"/api/v1/tools/{name}/execute", raw, content_type="", **headers)

    return do
