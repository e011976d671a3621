"""Determinism, purity and bounds: declared, tried at the installation, and held."""

from collections.abc import Callable
from typing import Any

import pytest

from execution.engine.perform import queue_work
from execution.models import Run
from tests.installations import packages
from tests.installations.conftest import fetch, install
from tests.packages.load import package_publish
from toolhub_sdk.package import CONTRACT

__all__ = ["fetch", "install"]
pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
Carry = Callable[..., Any]
HEAD = "import time\nfrom pathlib import Path\nfrom typing import Annotated\nfrom toolhub_sdk import Field, tool\n"
TOOL = '''
@tool(category="data")
def greet(name: Annotated[str, Field(description="Whom to greet.")]) -> str:
    """Greets somebody by name."""
'''
LIAR = f"{HEAD}{TOOL}    return f'{{time.time_ns()}}'\n"
WRITER = f"{HEAD}{TOOL}    Path('note').write_text(name)\n    return f'Hello, {{name}}!'\n"
OUTSIDE = f"{HEAD}{TOOL}    Path('/usr/note').write_text(name)\n    return f'Hello, {{name}}!'\n"


def replay(client: Any, token: str, answer: Any, body: Any = None) -> Any:
    """Asks for a replay, and has it carried out where it is one."""
    run = answer["metadata"]["run_id"]
    post = {
        "content_type": "application/json",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
        "HTTP_PREFER": "respond-async",
    }
    said = client.post(f"/api/v1/runs/{run}/replay", body or {}, **post).json()
    if said["same"] is None:
        queue_work("sandbox")
        mine = Run.objects.get(pk=said["replay_run_id"])
        return {**said, "result_hash": bytes(mine.result_hash or b"").hex()}
    return said


def test_a_liar_is_not_installed(install: Callable[..., Any]) -> None:
    says = {"determinism": "deterministic", "examples": [{"arguments": {"name": "Ada"}}]}
    one = install(code=LIAR, tools=[packages.tool(**says)])
    assert (one.status, one.error["code"]) == ("failed", "SELF_TEST_FAILED")
    assert "another process gave another result" in one.error["message"]


def test_a_pure_tool_that_writes_a_file_is_installed_with_a_warning(install: Callable[..., Any]) -> None:
    one = install(code=WRITER)
    assert one.status == "published"
    assert [each["code"] for each in one.report["warnings"]].count("PURE_TOOL_WRITES") == 1
    assert any("wrote files" in line.text for line in one.lines.all())


def test_a_pure_tool_that_writes_elsewhere_is_refused_by_the_sandbox(install: Callable[..., Any]) -> None:
    one = install(code=OUTSIDE)
    assert (one.status, one.error["code"]) == ("failed", "SELF_TEST_FAILED")


def test_a_tool_that_writes_nothing_has_no_warning(install: Callable[..., Any]) -> None:
    assert "PURE_TOOL_WRITES" not in str(install().report["warnings"])


def test_time_and_chance_of_a_bounded_tool_are_the_runs_own_and_a_replays_again(
    fx_contract: None, carry: Carry, client: Any, token_text: str
) -> None:
    one, two = carry("fx_bounded"), carry("fx_bounded")
    assert one["metadata"]["result_hash"] != two["metadata"]["result_hash"]
    for each in (one, two):
        assert replay(client, token_text, each)["result_hash"] == each["metadata"]["result_hash"]
    # The recorded start is the tool's time.
    assert one["data"][0] == one["metadata"]["started_at"]


def test_what_is_not_deterministic_is_not_called_again(
    fx_contract: None, carry: Carry, client: Any, token_text: str
) -> None:
    rolled = carry("fx_dice")
    said = replay(client, token_text, rolled)
    assert (said["same"], said["recorded"], Run.objects.count()) == (True, True, 1)
    again = replay(client, token_text, rolled, {"again": True})
    assert again["result_hash"] != rolled["metadata"]["result_hash"]


def needing(version: str, **needs: int) -> None:
    """A new release whose tool fx_whole needs so much."""

    def change(manifest: dict[str, Any]) -> None:
        manifest["version"] = version
        tool = next(each for each in manifest["tools"] if each["name"] == "fx_whole")
        tool["_meta"][CONTRACT]["resourceRequirements"] = needs

    package_publish("fx_contract", change)


@pytest.mark.parametrize("needs", [{"memoryBytes": 1 << 46}, {"cpuPercent": 6400}, {"diskBytes": 1 << 50}])
def test_a_tool_that_needs_more_than_the_machine_has_is_not_started(
    fx_contract: None, carry: Carry, parts: Callable[..., Any], needs: dict[str, int]
) -> None:
    needing("1.1.0", **needs)
    ((name, wanted),) = needs.items()
    refused = carry("fx_whole")
    error = refused["error"]
    assert (error["code"], error["recoverable"], error["details"]["resource"]) == (
        "RESOURCE_EXCEEDED",
        False,
        name,
    )
    assert error["details"]["needed"] == wanted > error["details"]["most"]
    assert (parts(refused), refused["metadata"]["duration_ms"]) == ([], 0)
    assert refused["metadata"]["audit_leaf"]


def test_a_tool_that_needs_less_is_started(fx_contract: None, carry: Carry) -> None:
    needing("1.1.0", memoryBytes=1 << 20, diskBytes=1 << 20, cpuPercent=50)
    assert carry("fx_whole")["data"] == "done"


def test_a_result_that_does_not_fit_is_an_error(fx_contract: None, carry: Carry) -> None:
    failed = carry("fx_badout")
    assert (failed["error"]["code"], failed["metadata"]["attempts"]) == ("INVALID_OUTPUT", 1)
    assert failed["error"]["details"]["errors"][0]["pointer"] == "/attempt"


def test_a_tools_own_error_has_what_its_contract_says(fx_contract: None, carry: Carry) -> None:
    error = carry("fx_refuse", {"code": "FX_FULL"})["error"]
    told = {name: error[name] for name in ("type", "severity", "recoverable", "suggestions")}
    assert told == {
        "type": "resource",
        "severity": "high",
        "recoverable": False,
        "suggestions": ["Empty it."],
    }
    unknown = carry("fx_refuse", {"code": "FX_ELSE"})["error"]
    assert (unknown["type"], unknown["severity"], unknown["recoverable"]) == ("execution", "medium", True)


def test_parts_are_told_in_order_while_the_tool_works(
    fx_contract: None, carry: Carry, parts: Callable[..., Any]
) -> None:
    done = carry("fx_stream", {"parts": 3})
    assert done["data"] == 3
    assert [each["partial"] for each in parts(done)] == [{"part": 1}, {"part": 2}, {"part": 3}]
