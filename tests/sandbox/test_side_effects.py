"""Each end of a tool in the sandbox says how far its effect can have gone: none, possible, done."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.runners.perform import call_run
from execution.side_effects import SideEffect
from registry.models import ToolVersion
from tests.sandbox.packages import publish, tool_of

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
NONE, POSSIBLE, DONE = SideEffect.NONE, SideEffect.POSSIBLE, SideEffect.DONE
MODULE = '''
import os, signal, time
from typing import Annotated, Any
from toolhub_sdk import Field, ToolError, tool

@tool(name="end_python")
def end(how: Annotated[str, Field(description="In which way.")]) -> Any:
    """Ends in one way or another."""
    if how == "well":
        return "well"
    if how == "refuse":
        raise ToolError("END_NO", "No.")
    if how == "retry":
        raise ToolError("END_NO", "Not yet.", retryable=True)
    if how == "mistake":
        raise RuntimeError("a mistake")
    if how == "nan":
        return float("nan")
    if how == "exit":
        os._exit(4)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "ask":
        return bytearray(2 << 30)
    if how == "grow":
        return [bytearray(1 << 20).replace(b"\\\\0", b"x") for _ in range(2048)] and 1
    if how == "print":
        while True:
            os.write(2, b"x" * 100_000)
    time.sleep(60)
'''
SHELL = """#!/bin/sh
read -r request
case $request in
*well*) echo '"well"' ;;
*refuse*) echo '{"code": "END_NO", "message": "No."}'; exit 3 ;;
*retry*) echo '{"code": "END_NO", "message": "Not yet.", "retryable": true}'; exit 3 ;;
*nonsense*) echo 'no JSON' ;;
*exit*) exit 4 ;;
*killed*) kill -9 $$ ;;
*) sleep 60 ;;
esac
"""
ENDS = [
    ("end_python", "well", "", DONE),
    ("end_python", "refuse", "END_NO", DONE),
    ("end_python", "retry", "END_NO", NONE),
    ("end_python", "mistake", "EXECUTION_FAILED", DONE),
    ("end_python", "nan", "INVALID_OUTPUT", DONE),
    ("end_python", "exit", "EXECUTION_FAILED", DONE),
    ("end_python", "killed", "EXECUTION_FAILED", POSSIBLE),
    ("end_python", "ask", "RESOURCE_EXCEEDED", POSSIBLE),
    ("end_python", "grow", "RESOURCE_EXCEEDED", POSSIBLE),
    ("end_python", "print", "RESOURCE_EXCEEDED", POSSIBLE),
    ("end_python", "sleep", "TIMEOUT", POSSIBLE),
    ("end_shell", "well", "", DONE),
    ("end_shell", "refuse", "END_NO", DONE),
    ("end_shell", "retry", "END_NO", NONE),
    ("end_shell", "nonsense", "INVALID_OUTPUT", DONE),
    ("end_shell", "exit", "EXECUTION_FAILED", DONE),
    ("end_shell", "killed", "EXECUTION_FAILED", POSSIBLE),
    ("end_shell", "sleep", "TIMEOUT", POSSIBLE),
]
Perform = Callable[..., Outcome]


@pytest.fixture
def perform(db: None) -> Perform:
    """Carries a tool out: `perform("end_shell", "well")`."""
    bounds = {"resourceBounds": {"maxMemoryBytes": 128 << 20, "timeoutMs": 1500}}
    for runtime, entry, file, text in (
        ("python", "end", "end.py", MODULE),
        ("command", ["sh", "end.sh"], "end.sh", SHELL),
    ):
        name = "python" if file.endswith(".py") else "shell"
        manifest = {
            "name": f"end-{name}",
            "version": "1.0.0",
            "runtime": {"type": runtime, "entry": entry},
            "tools": [tool_of(f"end_{name}", "end", **bounds)],
        }
        publish(manifest, {file: text.encode()})

    def do(tool: str, how: str, **members: Any) -> Outcome:
        version = ToolVersion.objects.get(tool__name=tool)
        return call_run(
            Call(
                run_id=uuid.uuid4(),
                tool=tool,
                runner=version.runner,
                version=version,
                arguments={"how": how},
                request={},
                attempt=1,
                timeout_ms=version.timeout_ms,
                max_output_bytes=version.max_output_bytes,
                inline=False,
                **members,
            )
        )

    return do


@pytest.mark.parametrize(("tool", "how", "code", "effect"), ENDS)
def test_each_end_of_a_tool(perform: Perform, tool: str, how: str, code: str, effect: SideEffect) -> None:
    ended = perform(tool, how)
    assert (ended.error_code, ended.side_effect) == (code, effect), json.dumps(ended.error)


def test_what_the_machine_has_no_room_for_never_begins(perform: Perform) -> None:
    version = ToolVersion.objects.get(tool__name="end_shell")
    contract = version.definition["_meta"]["io.toolhub/contract"]
    contract["resourceRequirements"] = {"memoryBytes": 1 << 50}
    version.save()
    ended = perform("end_shell", "well")
    assert (ended.error_code, ended.side_effect) == ("RESOURCE_EXCEEDED", NONE)
