"""What the runners of code from outside make of a tool's end. The tools run in the sandbox, for real."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from registry.models import ToolVersion
from tests.sandbox.packages import PYTHON, box_publish, publish, python_manifest, shell_publish

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
Perform = Callable[..., Outcome]


@pytest.fixture
def perform(db: None) -> Perform:
    """Carries a tool of the packages out, as a worker would: `perform("box_echo", {"value": 1})`."""

    def do(tool: str, arguments: Any = None, *, parts: list[Any] | None = None, **members: Any) -> Outcome:
        version = ToolVersion.objects.get(tool__name=tool)
        given: dict[str, Any] = {
            "run_id": uuid.uuid4(),
            "tool": tool,
            "runner": version.runner,
            "version": version,
            "arguments": arguments or {},
            "request": {},
            "attempt": 1,
            "timeout_ms": version.timeout_ms,
            "max_output_bytes": version.max_output_bytes,
            "inline": False,
            **members,
        }
        call = Call(**given)
        if parts is not None:

            def keep(part: Any) -> None:
                parts.append(part)
                if part == "began":
                    call.stop(lost=False)

            call.emit = keep
        return call_run(call)

    return do


@pytest.fixture
def box(db: None) -> None:
    box_publish()


def error_of(outcome: Outcome) -> tuple[Status, str]:
    assert outcome.error is not None, outcome
    assert "hunter2" not in str(outcome.error)
    return outcome.status, outcome.error["code"]


def test_a_python_tool_gives_its_result_and_its_prints_are_no_part_of_it(box: None, perform: Perform) -> None:
    value = {"a": [1, 2.5, None, "ä\n\u2028"], "b": {}}
    done = perform("box_echo", {"value": value})
    assert (done.status, done.data) == (Status.COMPLETED, value)
    assert done.sandbox is not None
    assert (done.sandbox["level"], len(done.sandbox["filter"])) == ("isolated", 64)
    assert done.sandbox["limits"]["memory_bytes"] == 256 << 20
    assert set(done.resources) == {"cpu_ms", "max_memory_bytes", "disk_bytes", "start_ms"}
    assert done.resources["cpu_ms"] > 0


def test_a_python_tool_gets_its_context(box: None, perform: Perform) -> None:
    request = {
        "context": {"session_id": "s", "project": {"p": 1}},
        "context_data": {"x": [1]},
        "hints": {"h": 2},
    }
    assert perform("box_context", request=request, attempt=2).data == {
        "tool": "box_context",
        "version": "1.0.0",
        "session_id": "s",
        "agent_id": "default",
        "project": {"p": 1},
        "context_data": {"x": [1]},
        "hints": {"h": 2},
        "attempt": 2,
    }


def test_a_tool_sees_nothing_of_the_hub(box: None, perform: Perform) -> None:
    seen = perform("box_looks").data
    assert set(seen["environment"]) - {"PWD", "LC_CTYPE"} == {"HOME", "LANG", "PATH", "TMPDIR", "TZ"}
    assert (seen["files"], seen["user"]) == ([], 1000)


def test_no_variable_of_a_contract_becomes_an_option_of_the_sandbox(db: None, perform: Perform) -> None:
    manifest = python_manifest()
    contract = next(t for t in manifest["tools"] if t["name"] == "box_looks")["_meta"]["io.toolhub/contract"]
    contract["environment"] = {
        "A": "x\0--bind\0/\0/host",
        "B=C": "x",
        "PATH": "/package",
        "LD_PRELOAD": "x",
        "OK": "y",
    }
    publish(manifest, {"box.py": PYTHON.encode()})
    seen = perform("box_looks").data["environment"]
    assert set(seen) - {"PWD", "LC_CTYPE"} == {"HOME", "LANG", "PATH", "TMPDIR", "OK"}


def test_parts_come_in_order_and_too_many_are_an_error(box: None, perform: Perform) -> None:
    parts: list[Any] = []
    assert perform("box_parts", {"count": 3}, parts=parts).data == 3
    assert parts == [{"part": 0}, {"part": 1}, {"part": 2}]


def test_a_tool_that_is_told_to_stop_hears_it(box: None, perform: Perform) -> None:
    parts: list[Any] = []
    assert error_of(perform("box_wait", parts=parts)) == (Status.CANCELLED, "CANCELLED")
    assert parts == ["began", "saw the signal"]


def test_a_call_that_was_stopped_before_is_not_carried_out(box: None, perform: Perform) -> None:
    stopped = threading.Event()
    stopped.set()
    assert error_of(perform("box_fail", {"how": "sleep"}, cancelled=stopped))[0] == Status.CANCELLED


def test_a_tools_own_error_is_whole(box: None, perform: Perform) -> None:
    done = perform("box_refuse")
    assert error_of(done) == (Status.FAILED, "BOX_CLOSED")
    assert done.error is not None
    assert {name: done.error[name] for name in ("message", "recoverable", "suggestions", "details")} == {
        "message": "The box is closed.",
        "recoverable": False,
        "suggestions": ["Open it."],
        "details": {"key": 1},
    }


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("mistake", "EXECUTION_FAILED"),
        ("exit", "EXECUTION_FAILED"),
        ("die", "EXECUTION_FAILED"),
        ("nan", "INVALID_OUTPUT"),
        ("memory", "RESOURCE_EXCEEDED"),
        ("grow", "RESOURCE_EXCEEDED"),
        ("disk", "RESOURCE_EXCEEDED"),
        ("large", "RESOURCE_EXCEEDED"),
        ("print", "RESOURCE_EXCEEDED"),
    ],
)
def test_a_python_tool_fails(how: str, code: str, box: None, perform: Perform) -> None:
    assert error_of(perform("box_fail", {"how": how})) == (Status.FAILED, code)


def test_a_function_that_is_not_there(box: None, perform: Perform) -> None:
    done = perform("box_missing")
    assert error_of(done) == (Status.FAILED, "EXECUTION_FAILED")


def test_a_python_tool_runs_out_of_time(box: None, perform: Perform) -> None:
    done = perform("box_fail", {"how": "sleep"}, timeout_ms=500)
    assert error_of(done) == (Status.TIMEOUT, "TIMEOUT")
    assert done.sandbox is not None


def test_a_bounded_tool_repeats_itself_in_a_replay(box: None, perform: Perform) -> None:
    first, run = "2026-01-02T03:04:05.678901+00:00", str(uuid.uuid4())
    replay = {"replay_of": {"run_id": run, "started_at": first}}
    one, two = perform("box_bounded", request=replay), perform("box_bounded", request=replay)
    assert one.data[0] == "2026-01-02T03:04:05.678901Z"
    assert one.encoded == two.encoded
    assert perform("box_bounded").data != one.data


@pytest.mark.parametrize("entry", [("sh", "tool.sh"), "tool.sh", ["./tool.sh"]])
def test_a_command_gets_a_request_and_gives_a_result(entry: Any, perform: Perform) -> None:
    shell_publish(entry)
    done = perform("shell_box", {"x": 1}, request={"context": {"session_id": "s"}, "hints": {"h": 1}})
    assert done.status is Status.COMPLETED, done
    got = done.data["got"]
    assert (got["tool"], got["arguments"]) == ("shell_box", {"x": 1})
    assert (got["context"]["session_id"], got["context"]["hints"]) == ("s", {"h": 1})


def test_a_command_gets_the_defaults_of_what_the_caller_left_out(perform: Perform) -> None:
    inner = {"type": "object", "properties": {"b": {"default": 2}}}
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 1}, "in": inner, "x": {"default": []}, "y": {}},
        "not": {"required": ["a", "y"]},
    }

    def with_defaults(manifest: Any) -> None:
        manifest["tools"][0]["inputSchema"] = schema

    shell_publish(change=with_defaults)
    got = {
        text: perform("shell_box", given).data["got"]["arguments"]
        for text, given in (("none", {}), ("some", {"a": 5, "in": {"c": 3}}), ("apart", {"y": 1}))
    }
    assert got == {
        "none": {"a": 1, "x": []},
        "some": {"a": 5, "in": {"c": 3, "b": 2}, "x": []},
        "apart": {"y": 1},  # with the defaults it would not fit
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"fail": True}, "SHELL_NO"), ({"die": True}, "EXECUTION_FAILED"), ({"talk": True}, "INVALID_OUTPUT")],
)
def test_a_command_fails(arguments: Any, code: str, perform: Perform) -> None:
    shell_publish()
    done = perform("shell_box", arguments)
    assert error_of(done) == (Status.FAILED, code)
    if code == "SHELL_NO":
        assert done.error is not None
        assert (done.error["message"], done.error["recoverable"]) == ("No.", False)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("../sh", "EXECUTION_FAILED"),
        (["/bin/sh", "tool.sh"], "EXECUTION_FAILED"),
        (["no-such-program"], "DEPENDENCY_MISSING"),
    ],
)
def test_a_program_outside_the_package_is_not_run(entry: Any, code: str, perform: Perform) -> None:
    shell_publish(entry)
    done = perform("shell_box")
    assert error_of(done) == (Status.FAILED, code)
    assert done.sandbox is None
