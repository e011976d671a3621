"""A call over MCP of a caller that this process knows: one statement, and nothing written where a right is gone."""

from typing import Any

import orjson
import pytest

from audit.models import Event
from execution.engine.features import LIFE
from execution.engine.store import current
from execution.models import Run
from execution.runners.perform import call_run
from registry.models import Package
from tests.execution.mcp.conftest import Ask
from tests.execution.test_proof import ENDS, _served, change, kept, made

__all__ = ["_served", "made"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["handshake", "modern"])
def echo(request: pytest.FixtureRequest, ask: Ask, ask_modern: Ask, fx: Package) -> Any:
    """Calls fx_echo over MCP in both eras: `echo("a", _meta=…)`."""
    do = ask_modern if request.param == "modern" else ask
    return lambda value="a", **more: do("tools/call", name="fx_echo", arguments={"value": value}, **more)


def outcome(answer: Any) -> tuple[int, str]:
    """The status, and the code of the hub's error; empty for a result."""
    body = answer.json()
    if "result" not in body:
        error = body["error"]
        return answer.status_code, error.get("data", error)["code"]
    result = body["result"]
    return answer.status_code, orjson.loads(result["content"][0]["text"])["code"] if result.get(
        "isError"
    ) else ""


OUTCOMES = {401: (401, "UNAUTHENTICATED"), 403: (200, "PERMISSION_DENIED"), 404: (400, "TOOL_NOT_FOUND")}


def test_a_known_caller_costs_one_statement(echo: Any, made: list[str]) -> None:
    for expected in (2, 3, 1, 1):
        made.clear()
        assert outcome(echo()) == (200, "")
        assert len(made) == expected, made
    assert kept() == (4, 8)


@pytest.mark.parametrize(("statement", "status"), ENDS.values(), ids=ENDS)
def test_a_right_that_ends_while_the_tool_works_leaves_no_run(
    echo: Any, monkeypatch: pytest.MonkeyPatch, statement: str, status: int
) -> None:
    echo(), echo()
    before = kept()

    def late(asked: Any) -> Any:
        change(statement)
        return call_run(asked)

    monkeypatch.setattr(LIFE, "call_run", late)
    assert outcome(echo("b")) == OUTCOMES[status]
    assert kept() == before


@pytest.mark.parametrize(("statement", "status"), ENDS.values(), ids=ENDS)
def test_a_right_that_has_ended_begins_no_run(echo: Any, statement: str, status: int) -> None:
    echo(), echo()
    before = kept()
    change(statement)
    assert outcome(echo("b")) == OUTCOMES[status]
    assert kept() == before


def test_a_call_with_a_key_is_carried_out_once(echo: Any) -> None:
    echo(), echo()
    keyed = {"_meta": {"io.toolhub/call": {"idempotency_key": "k1"}}}
    first, second = echo("b", **keyed).json(), echo("b", **keyed).json()
    assert first["result"] == second["result"]
    header = {"headers": {"Idempotency-Key": "k2"}}
    assert echo("b", **header).json()["result"] == echo("b", **header).json()["result"]
    assert Run.objects.count() == 4


def test_what_is_wrong_with_a_call_is_recorded_once(echo: Any) -> None:
    echo(), echo()
    assert outcome(echo("b", _meta={"io.toolhub/call": {"context": 7}})) == (200, "INVALID_REQUEST")
    assert Event.objects.filter(kind="run.refused").count() == 0
    assert outcome(echo("b", _meta={"io.toolhub/call": {"version": "9"}})) == (200, "VERSION_NOT_FOUND")
    assert Event.objects.filter(kind="run.refused").count() == 1


def test_a_large_body_is_not_parsed_for_nobody(echo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr("execution.entry.mcp.api._parsed", lambda body: parsed.append(len(body)))
    nobody = {"headers": {"Authorization": "Bearer thp_" + "a" * 43}}
    assert echo("b" * 20_000, **nobody).status_code == 401
    assert not parsed
    assert echo("b", **nobody).status_code == 401
    assert len(parsed) == 1


def test_a_large_call_of_a_known_caller_is_carried_out(echo: Any) -> None:
    echo(), echo()
    assert outcome(echo("b" * 20_000)) == (200, "")
    assert current.STORE._callers
