"""Tools of several runtimes: the hub's own interpreter, and a program of Node."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from registry.models import Package, Release, ToolVersion
from tests.sandbox.packages import command_manifest, publish

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
Perform = Callable[..., Outcome]


@pytest.fixture
def perform(db: None) -> Perform:
    """Carries a tool out, as a worker would."""

    def do(tool: str, arguments: dict[str, Any]) -> Outcome:
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
                timeout_ms=version.timeout_ms,
                max_output_bytes=version.max_output_bytes,
                inline=False,
            )
        )

    return do


def error_of(outcome: Outcome) -> Any:
    assert outcome.error is not None, outcome
    return outcome.error


def test_the_hubs_interpreter_runs_code_in_the_sandbox(published: None, perform: Perform) -> None:
    release = Release.objects.get(package__name="run-python")
    assert (release.runner, Package.objects.get(name="run-python").active_id) == ("python", release.pk)
    for _ in range(2):
        done = perform("run_python", {"code": "print(1)"})
        assert (done.status, done.data) == (Status.COMPLETED, "1")
        assert done.sandbox is not None
        assert done.sandbox["level"] == "isolated"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("open('/etc/shadow').read()", "Error: "),
        ("import socket; socket.create_connection(('127.0.0.1', 5432), 2)", "Error: "),
        ("import os; os.listdir('/var/lib')", "Error: "),
        ("raise ValueError('mine')", "ValueError: mine"),
        ("print('before'); 1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError: invalid syntax"),
        ("import sys; sys.exit(3)", "exit code 3"),
    ],
)
def test_code_that_fails_says_why(published: None, perform: Perform, code: str, reason: str) -> None:
    error = error_of(perform("run_python", {"code": code}))
    assert (error["code"], reason in error["message"]) == ("CODE_FAILED", True), error
    assert error["recoverable"] is True
    if "before" in code:
        assert error["details"]["output"] == "before\n"


def test_files_of_code_are_offered_and_nothing_is_kept(published: None, perform: Perform) -> None:
    code = "import os; os.mkdir('artefacts'); open('artefacts/plot.txt', 'w').write('x'); print(os.listdir())"
    for _ in range(2):
        done = perform("run_python", {"code": code})
        assert (done.data, list(done.files)) == ("['artefacts']", [("plot.txt", b"x")])


def test_a_program_of_node_is_a_tool(perform: Perform) -> None:
    code = """
    let text = "";
    process.stdin.on("data", (part) => { text += part; });
    process.stdin.on("end", () => {
      const request = JSON.parse(text);
      console.log(JSON.stringify({ sum: request.arguments.numbers.reduce((a, b) => a + b, 0), v: process.version }));
    });
    """
    manifest = command_manifest(["node", "tool.js"])
    # Node's engine reserves address space for what it compiles.
    manifest["tools"][0]["_meta"]["io.toolhub/contract"]["resourceBounds"] = {"maxMemoryBytes": 512 << 20}
    publish(manifest, {"tool.js": code.encode()})
    done = perform("shell_box", {"numbers": [1, 2, 3]})
    assert done.status is Status.COMPLETED, (done, json.dumps(done.error))
    assert (done.data["sum"], done.data["v"][0]) == (6, "v")
