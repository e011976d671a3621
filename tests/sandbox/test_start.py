"""Start and tool have each their own time: a slow start costs the tool nothing, and never is the tool's failure."""

import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from execution.side_effects import SideEffect
from registry.models import ToolVersion
from security.sandbox import nursery, probes, remedies, run
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Launch, Limits
from security.sandbox.levels import Level
from security.sandbox.run import sandbox_run
from security.sandbox.supervisor.channel import GO, GO_HEAD, Channel
from security.sandbox.supervisor.watch import Watch
from security.sandbox.warm import warm_clear, warm_run
from tests.sandbox.packages import publish, tool_of
from tests.sandbox.test_bounds import Quick

pytestmark = pytest.mark.sandbox
# A module that takes its time to be loaded, and a tool that is quick or is not.
MODULE = """
import os, signal, time
from typing import Annotated, Any
from toolhub_sdk import Field, tool

time.sleep({loads_s})
{loads}

@tool(name="slow_do")
def do(sleeps: Annotated[float, Field(description="Seconds.")] = 0.0) -> Any:
    \"\"\"Sleeps.\"\"\"
    time.sleep(sleeps)
    return "done"
"""
BOUND_MS = 500
Perform = Callable[..., Outcome]


@pytest.fixture(params=["isolated", "confined"])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "confined":
        probes.probe.cache_clear()
        for each in (probes, remedies):
            monkeypatch.setattr(each, "bubblewrap", lambda: None)
    yield request.param
    warm_clear()
    probes.probe.cache_clear()


@pytest.fixture
def perform(db: None, level: str) -> Perform:
    """Publishes the module and calls its tool: `perform(loads_s=1.0, sleeps=0)`."""

    def do(loads_s: float = 0.0, loads: str = "", sleeps: float = 0.0, **members: Any) -> Outcome:
        if not ToolVersion.objects.filter(tool__name="slow_do").exists():
            manifest = {
                "name": "slow",
                "version": "1.0.0",
                # Releases are kept by the digest of their manifest.
                "description": f"{loads_s} {loads}",
                "runtime": {"type": "python", "entry": "slow"},
                "tools": [tool_of("slow_do", "do")],
            }
            publish(manifest, {"slow.py": MODULE.format(loads_s=loads_s, loads=loads).encode()})
        version = ToolVersion.objects.get(tool__name="slow_do")
        given: dict[str, Any] = {"timeout_ms": BOUND_MS, "cancelled": threading.Event(), **members}
        call = Call(
            run_id=uuid.uuid4(),
            tool="slow_do",
            runner=version.runner,
            version=version,
            arguments={"sleeps": sleeps},
            request={},
            attempt=1,
            max_output_bytes=1000,
            inline=False,
            **given,
        )
        return call_run(call)

    return do


def told(outcome: Outcome) -> tuple[Status, str, SideEffect]:
    return outcome.status, outcome.error_code, outcome.side_effect


def test_a_start_that_is_slower_than_the_tools_bound_costs_the_tool_nothing(
    perform: Perform, level: str
) -> None:
    for _ in range(2):  # cold, and by a process that waits
        done = perform(loads_s=1.2)
        assert told(done) == (Status.COMPLETED, "", SideEffect.DONE)
        assert done.duration_ms < BOUND_MS
    cold = perform(loads_s=1.2, fresh=True)
    assert cold.resources["start_ms"] >= 1200
    assert cold.duration_ms < BOUND_MS
    assert cold.sandbox is not None
    assert cold.sandbox["level"] == level


def test_the_tools_own_time_is_bounded_from_its_beginning(perform: Perform) -> None:
    late = perform(loads_s=0.6, sleeps=30.0)
    assert told(late) == (Status.TIMEOUT, "TIMEOUT", SideEffect.POSSIBLE)
    # It has half a second to end by itself.
    assert BOUND_MS <= late.duration_ms < BOUND_MS + 3000


def test_a_start_that_takes_too_long_is_no_timeout_and_may_be_tried_again(
    perform: Perform, settings: Any
) -> None:
    settings.START_MAX_S = 1
    begun = time.monotonic()
    failed = perform(loads_s=60.0)
    assert time.monotonic() - begun < 20
    assert told(failed) == (Status.FAILED, "START_FAILED", SideEffect.NONE)
    assert failed.error is not None
    assert failed.error["retryable"]
    assert failed.error["message"] == "The start of slow_do took longer than 1 s."
    assert failed.duration_ms == 0
    assert failed.resources["start_ms"] >= 900


@pytest.mark.parametrize(
    ("loads", "code"),
    [
        # As the kernel ends a process where memory is short.
        ("os.kill(os.getpid(), signal.SIGKILL)", "START_FAILED"),
        ("os._exit(3)", "EXECUTION_FAILED"),
        ("raise RuntimeError('not here')", "EXECUTION_FAILED"),
        ("x = [bytearray(1 << 20).replace(b'\\\\0', b'x') for _ in range(2048)]", "RESOURCE_EXCEEDED"),
    ],
)
def test_what_ends_before_it_begins_had_no_effect(perform: Perform, loads: str, code: str) -> None:
    failed = perform(loads=loads, fresh=True)
    assert told(failed) == (Status.FAILED, code, SideEffect.NONE)
    assert failed.duration_ms == 0


def test_a_cancel_during_the_start_had_no_effect(perform: Perform) -> None:
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    done = perform(loads_s=30.0, cancelled=cancelled, fresh=True)
    assert told(done) == (Status.CANCELLED, "CANCELLED", SideEffect.NONE)


def test_no_supervisor_is_a_start_that_failed(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    perform()

    def gone(descriptors: list[int]) -> int:
        raise remedies.start_failed("No supervisor could be started.")

    monkeypatch.setattr(nursery, "_ask", gone)
    failed = perform(fresh=True)
    assert told(failed) == (Status.FAILED, "START_FAILED", SideEffect.NONE)


def test_a_supervisor_that_is_killed_leaves_the_effect_possible(
    perform: Perform, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = run.Held.finish

    def killed(held: run.Held, *given: Any) -> Finished:
        signal.pidfd_send_signal(held._supervisor._process, signal.SIGKILL)
        return finish(held, *given)

    perform()  # the level is tried once
    monkeypatch.setattr(run.Held, "finish", killed)
    failed = perform(fresh=True)
    assert told(failed) == (Status.FAILED, "EXECUTION_FAILED", SideEffect.POSSIBLE)


# --- the mark ---


def launch(code: str, level: Level, **more: Any) -> Launch:
    limits = {"wall_s": 0.5, "start_s": 20.0, **more}
    return Launch(
        argv=[interpreter(), "-I", "-S", "-c", code],
        level=level,
        stdin=b"x",
        mounts=interpreter_mounts(),
        limits=Limits(**limits),
        prepare="import os, sys, time",
        marks=True,
    )


START = "import os, sys, time\nsys.stdin.read()\ntime.sleep(1.0)\n"
MARKS = f"{START}os.write(1, b'\\n')\n"


@pytest.mark.parametrize("perform_", [sandbox_run, warm_run])
@pytest.mark.parametrize("held", [Level.ISOLATED, Level.CONFINED])
def test_time_runs_from_the_mark_and_the_mark_is_no_output(
    held: Level, perform_: Callable[..., Finished]
) -> None:
    for _ in range(2):
        done = perform_(launch(f"{MARKS}os.write(1, b'\\nout')", held), threading.Event())
        assert (done.how, done.begun, done.stdout) == ("exited", True, b"\nout")
        assert done.duration_ms < 500
        assert done.start_ms >= 1000
    warm_clear()


@pytest.mark.parametrize("held", [Level.ISOLATED, Level.CONFINED])
def test_output_that_is_no_mark_begins_nothing(held: Level) -> None:
    done = sandbox_run(launch(f"{START}os.write(1, b'out\\n')", held), threading.Event())
    assert (done.how, done.begun, done.stdout) == ("exited", False, b"out\n")


@pytest.mark.parametrize("held", [Level.ISOLATED, Level.CONFINED])
def test_a_start_works_for_ten_seconds_of_a_processor_at_most(
    held: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = time.monotonic()
    done = sandbox_run(launch("while True: pass", held, start_s=60.0), threading.Event())
    assert (done.how, done.begun) == ("cpu", False)
    assert time.monotonic() - begun < 60


def test_a_mark_that_waits_when_the_supervisor_is_late_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    (given, gives), (hears, says) = os.pipe(), os.pipe()
    os.write(gives, GO + GO_HEAD.pack(5.0, 0.2, 0, 0))
    look = Watch._look_now

    def slow(watch: Watch, began: float) -> None:
        time.sleep(0.5)
        look(watch, began)

    monkeypatch.setattr(Watch, "_look_now", slow)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(["/bin/sh", "-c", "sleep 0.1; echo; sleep 1"], **pipes) as program:
        ends = [os.dup(each.fileno()) for each in (program.stdin, program.stdout, program.stderr) if each]
        order = SimpleNamespace(limits=Limits().as_dict(), marks=True)
        watch = Watch(cast(Any, order), Quick(program.pid, *ends), Channel(given, says))
        watch.run()
        program.returncode = 0
    for each in (given, gives, hears, says, *ends[1:]):
        os.close(each)
    assert (watch.report["how"], watch.report["begun"]) == ("exited", True)
