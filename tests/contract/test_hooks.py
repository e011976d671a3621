"""Hooks of tools: `validate` before the function, `shutdown` at the end of the process."""

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from execution.runners.python import _START
from registry.contracts import hooks_of
from registry.models import ToolVersion
from security.sandbox import warm
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Launch, Mount
from security.sandbox.levels import Level
from tests.packages.load import HERE, package_files
from toolhub_sdk import ToolContext, ToolError, tool
from toolhub_sdk import call as tool_call
from toolhub_sdk.checks.manifest import manifest_problems

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
Carry = Callable[..., Any]


def test_a_validate_hook_refuses_and_the_tool_is_not_called(
    fx_contract: None, carry: Carry, parts: Callable[..., Any]
) -> None:
    refused = carry("fx_validate", {"low": 3, "high": 1})
    assert (refused["status"], refused["success"], refused["data"]) == (200, False, None)
    error = refused["error"]
    assert (error["code"], error["type"], error["recoverable"]) == ("INVALID_ARGUMENTS", "validation", True)
    assert error["message"] == "low is 3 and may be at most high, 1."
    assert error["details"]["errors"] == [{"pointer": "/arguments/low", "message": error["message"]}]
    assert parts(refused) == []


def test_what_the_hook_lets_pass_is_carried_out_with_the_tools_defaults(
    fx_contract: None, carry: Carry, parts: Callable[..., Any]
) -> None:
    done = carry("fx_validate", {"low": 1})
    assert (done["success"], done["data"], len(parts(done))) == (True, 9, 1)
    assert carry("fx_validate", {"low": 11})["error"]["message"] == "low is 11 and may be at most high, 10."


def test_a_schema_is_held_before_any_hook(fx_contract: None, carry: Carry) -> None:
    assert carry("fx_validate", {"low": "x"})["status"] == 422


def test_a_mistake_in_a_hook_is_the_tools_failure(fx_contract: None, carry: Carry) -> None:
    failed = carry("fx_validate_broken", {"low": 1})
    assert (failed["error"]["code"], "ZeroDivisionError" in failed["error"]["message"]) == (
        "EXECUTION_FAILED",
        True,
    )


def test_hooks_stand_in_the_manifest_and_the_version(fx_contract: None) -> None:
    read = {each.tool.name: hooks_of(each.definition) for each in ToolVersion.objects.select_related("tool")}
    assert (read["fx_validate"], read["fx_stream"]) == ({"validate": "in_order"}, {})


def test_hooks_are_functions_of_python_packages() -> None:
    manifest, _ = package_files("fx_contract")
    assert manifest_problems(manifest) == []
    manifest["runtime"] = {"type": "command", "entry": ["sh", "tool.sh"]}
    found = {each.pointer: each.message for each in manifest_problems(manifest)}
    named = [(index, kind) for index, tool in enumerate(manifest["tools"]) for kind in hooks_of(tool)]
    assert found == {
        f"/tools/{index}/_meta/io.toolhub~1contract/hooks/{kind}": (
            f"A tool of the runtime command has no hook {kind}."
        )
        for index, kind in named
    }


def test_a_hook_asks_only_for_what_the_tool_takes() -> None:
    def fits(text: str) -> None: ...

    with pytest.raises(TypeError, match="has to be a function of the module"):

        @tool(validate=fits)
        def one(text: str) -> str:
            """Has a hook that no module holds."""
            return text

    with pytest.raises(TypeError, match="asks for high, low, which"):

        @tool(validate=_in_order)
        def odd(text: str) -> str:
            """Has no low."""
            return text


def _in_order(low: int, high: int) -> str | None:
    return "Wrong order." if low > high else None


def _wrong(low: int) -> int:
    return low


def test_a_hook_says_a_sentence_or_an_object_of_them_and_nothing_else() -> None:
    @tool(validate=_in_order)
    def span(low: int, high: int) -> int:
        """Counts."""
        return high - low

    @tool(validate=_wrong)
    def odd(low: int) -> int:
        """Counts."""
        return low

    with pytest.raises(ToolError) as refused:
        tool_call(span, {"low": 2, "high": 1}, ToolContext())
    assert refused.value.details["errors"] == [{"pointer": "/arguments", "message": "Wrong order."}]
    assert tool_call(span, {"low": 1, "high": 2}, ToolContext()) == 1
    with pytest.raises(TypeError, match="returns None"):
        tool_call(odd, {"low": 1}, ToolContext())


def test_a_shutdown_hook_is_called_once_after_the_answer(
    fx_contract: None, carry: Carry, caplog: Any
) -> None:
    with caplog.at_level(logging.INFO, logger="execution.runners.sandboxed"):
        assert carry("fx_pool")["data"] == 1
    assert caplog.text.count("shutdown") == 1


def test_a_shutdown_hook_that_does_not_end_is_left_behind(fx_contract: None, carry: Carry) -> None:
    done = carry("fx_pool_slow")
    assert (done["success"], done["data"]) == (True, "done")
    assert done["metadata"]["duration_ms"] < 10_000


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that every user of the machine may write."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def waiting(outside: Path, *, goodbye: bool) -> tuple[warm.Held, Path]:
    """The fixture's module, started and waiting for a call, where it can write a file outside."""
    said = outside / "said"
    folder, sdk = "/toolhub/package", "/toolhub/sdk"
    mounts = (
        *interpreter_mounts(),
        Mount(str(HERE / "fx_contract"), folder),
        Mount(str(Path(settings.ROOT) / "toolhub_sdk"), sdk),
    )
    launch = Launch(
        argv=[interpreter(), "-I", "-S", "-B", "-c", _START, sdk, "fx_contract", folder],
        level=Level.PROCESS,
        mounts=mounts,
        environment={"PATH": "/usr/bin:/bin", "HOME": "/work", "POOL_FILE": str(said)},
        goodbye=goodbye,
        marks=True,
    )
    return warm.Held(launch), said


def test_a_program_that_waited_in_vain_shuts_down_once(outside: Path) -> None:
    held, said = waiting(outside, goodbye=True)
    held.close()
    assert said.read_text() == "shutdown\n"


def test_a_program_that_is_not_to_say_goodbye_is_ended_at_once(outside: Path) -> None:
    held, said = waiting(outside, goodbye=False)
    held.close()
    assert not said.exists()


def test_a_program_that_has_its_call_shuts_down_once(outside: Path) -> None:
    held, said = waiting(outside, goodbye=True)
    try:
        request = b'{"function":"fx_pool","arguments":{},"context":{},"seconds":5}'
        held.go(Launch(argv=["/x"], level=Level.PROCESS, stdin=request))
        done = held.finish(threading.Event(), None)
    finally:
        held.close()
    assert done.stdout == b'{"result":1}\n'
    assert said.read_text() == "shutdown\n"
