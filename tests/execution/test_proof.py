"""A caller that is known costs one statement, and that writes nothing where a right is gone."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection

from audit.models import Event
from execution.engine import submit
from execution.engine.features import LIFE
from execution.engine.perform import run_carry_out
from execution.engine.store import current, statements
from execution.engine.store.statements import _rows
from execution.models import Run
from execution.runners.perform import call_run
from registry.models import Package
from security.models import Token
from tests.execution.fixtures import Declare, is_postgres

Call = Callable[..., Any]
pytestmark = pytest.mark.django_db(transaction=True)
TOLD = ("run.accepted", "run.outcome")
# What ends a right, past every service, and what the caller hears then.
ENDS = {
    "a token that is revoked": ("UPDATE security_token SET revoked_at = now()", 401),
    "a token that is over": ("UPDATE security_token SET expires_at = now() - interval '1 second'", 401),
    "a persona that is switched off": ("UPDATE security_persona SET is_active = false", 403),
    "a person who has left": ("UPDATE security_user SET is_active = false", 403),
    "a tool that is assigned no more": ("DELETE FROM registry_assignment", 404),
}


@pytest.fixture(autouse=True)
def _served() -> Iterator[None]:
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    current.STORE._callers.clear()
    yield
    current.STORE._callers.clear()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The prepared statements that were carried out."""
    found: list[str] = []

    def observed(on: Any, statement: str, values: Any, **more: Any) -> Any:
        found.append(statement)
        return _rows(on, statement, values, **more)

    monkeypatch.setattr(statements, "_rows", observed)
    return found


def change(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def known(call: Call, *names: str) -> None:
    """Makes the caller known, and lets the tools' rights be kept."""
    for name in (names or ("fx_echo",)) * 2:
        assert call(name, {"value": "a"}).status_code == 200
    assert len(current.STORE._callers) == 1


def kept() -> tuple[int, int]:
    return Run.objects.count(), Event.objects.filter(kind__in=TOLD).count()


def test_a_known_caller_costs_one_statement(call: Call, fx: Package, made: list[str]) -> None:
    # The first use of a token is written down; then its rights are read.
    for expected in (2, 3, 1, 1):
        made.clear()
        assert call("fx_echo", {"value": "a"}).status_code == 200
        assert len(made) == expected, made
    assert kept() == (4, 8)
    first, *others = Run.objects.order_by("id").values("persona", "token", "status", "is_brief", "result")
    assert others == [first] * 3


@pytest.mark.parametrize(("statement", "status"), ENDS.values(), ids=ENDS)
def test_a_right_that_ends_while_the_tool_works_leaves_no_run(
    call: Call, fx: Package, monkeypatch: pytest.MonkeyPatch, statement: str, status: int
) -> None:
    known(call)
    before = kept()
    worked: list[Any] = []

    def late(asked: Any) -> Any:
        change(statement)
        worked.append(asked.arguments)
        return call_run(asked)

    monkeypatch.setattr(LIFE, "call_run", late)
    assert call("fx_echo", {"value": "b"}).status_code == status
    assert worked == [{"value": "b"}]
    assert kept() == before


def test_what_an_agent_made_ends_with_its_maker_while_the_tool_works(
    call: Call, fx: Package, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Token.objects.get()
    maker = Token.objects.create(
        persona=own.persona, responsible=own.responsible, name="maker", prefix="thp_maker", digest=b"maker",
        expires_at=own.expires_at,
    )  # fmt: skip
    Token.objects.filter(pk=own.pk).update(made_with=maker)
    known(call)
    made.clear()
    assert call("fx_echo", {"value": "a"}).status_code == 200
    assert len(made) == 1
    before = kept()

    def late(asked: Any) -> Any:
        change(f"UPDATE security_token SET revoked_at = now() WHERE id = {maker.pk}")
        return call_run(asked)

    monkeypatch.setattr(LIFE, "call_run", late)
    assert call("fx_echo", {"value": "b"}).status_code == 401
    assert kept() == before


@pytest.mark.parametrize(("statement", "status"), ENDS.values(), ids=ENDS)
def test_a_right_that_has_ended_begins_no_run(
    call: Call, declare: Declare, statement: str, status: int
) -> None:
    declare("fx_wrap", columns={"is_pure": False}, sideEffects="impure")
    known(call, "fx_echo", "fx_wrap")
    before = kept()
    change(statement)
    for name in ("fx_wrap", "fx_echo"):
        assert call(name, {"value": "b"}).status_code == status
    assert kept() == before


def test_an_impure_tool_is_begun_by_the_statement_that_asks(
    call: Call, declare: Declare, made: list[str]
) -> None:
    declare("fx_wrap", columns={"is_pure": False}, sideEffects="impure")
    known(call, "fx_wrap")
    made.clear()
    assert call("fx_wrap", {"value": "a"}).status_code == 200
    begin, finish = made[0], made[-1]
    assert begin.startswith("WITH proof AS")
    assert finish.lstrip().startswith("WITH moved AS")
    assert Run.objects.filter(status="completed", is_brief=False).count() == 3


def test_what_is_wrong_with_a_call_is_recorded_once(call: Call, fx: Package) -> None:
    known(call)
    assert call("fx_echo", {"wrong": "a"}).status_code == 422
    assert call("fx_echo", body=b"{").status_code == 400
    assert Event.objects.filter(kind="run.refused").count() == 1


def test_what_has_begun_is_not_submitted_again_when_its_end_fails(
    call: Call, fx: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The known caller's way is left for the other where it cannot accept, and only then."""
    file = tmp_path / "world"
    body = {"arguments": {"file": str(file)}, "limits": {"timeoutMs": 1000}}
    assert call("fx_count", body=body).status_code == 200
    assert call("fx_count", body=body).status_code == 200
    before = len(file.read_text().splitlines())

    def fails(lease: Any, **more: Any) -> bool:
        run_carry_out(lease, **more)
        raise IntegrityError("what follows could not be written")

    monkeypatch.setattr(submit, "run_carry_out", fails)
    with contextlib.suppress(IntegrityError):
        call("fx_count", body=body)
    assert len(file.read_text().splitlines()) == before + 1
    assert Run.objects.count() == before + 1
