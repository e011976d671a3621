"""Tools in containers and virtual machines: what the engine is asked for, and what is said where there is none.

The engine is a local stand-in (engine.py): these tests hold the request, not an engine's isolation.
"""

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from registry.models import ToolVersion
from security.sandbox import engine as engines
from tests.sandbox.engine import FakeEngine, engine_running
from tests.sandbox.packages import publish, tool_of
from toolhub_sdk.checks.manifest import manifest_problems

pytestmark = pytest.mark.django_db
IMAGE = f"ghcr.io/acme/tool@sha256:{'a' * 64}"
Perform = Callable[..., Outcome]


@pytest.fixture
def engine(tmp_path: Path, settings: Any) -> Iterator[FakeEngine]:
    with engine_running(tmp_path / "engine.sock") as made:
        settings.CONTAINER_SOCKET = made.place
        made.images.add(IMAGE)
        yield made


def manifest(runtime: str, **contract: Any) -> dict[str, Any]:
    return {
        "manifestVersion": "1",
        "name": "boxed",
        "version": "1.0.0",
        "description": "Runs in a box.",
        "runtime": {"type": runtime, "image": IMAGE, "entry": ["tool", "--json"]},
        "tools": [tool_of("boxed", sideEffects="impure", **contract)],
    }


@pytest.fixture
def perform(db: None) -> Perform:
    """Publishes a tool that is an image, and carries it out."""

    def do(
        runtime: str = "container", *, cancelled: threading.Event | None = None, **contract: Any
    ) -> Outcome:
        timeout_ms = contract.pop("timeout_ms", 10_000)
        publish(manifest(runtime, **contract), {})
        version = ToolVersion.objects.get(tool__name="boxed")
        return call_run(
            Call(
                run_id=uuid.uuid4(),
                tool="boxed",
                runner=version.runner,
                version=version,
                arguments={"x": 1},
                request={},
                attempt=1,
                timeout_ms=timeout_ms,
                max_output_bytes=10_000,
                inline=False,
                cancelled=cancelled or threading.Event(),
            )
        )

    return do


def error_of(outcome: Outcome) -> tuple[Status, str]:
    assert outcome.error is not None, outcome
    return outcome.status, outcome.error["code"]


def test_an_image_is_run_by_its_digest_without_network_and_rights(
    engine: FakeEngine, perform: Perform
) -> None:
    done = perform(resourceBounds={"maxMemoryBytes": 64 << 20}, environment={"TZ": "UTC"})
    assert done.status is Status.COMPLETED, done
    assert (done.data["arguments"], done.data["tool"]) == ({"x": 1}, "boxed")
    create = next(body for method, path, body in engine.asked if path.endswith("/containers/create"))
    host = create.pop("HostConfig")
    assert create.pop("Labels").keys() == {"toolhub.run"}
    assert "TZ=UTC" in create.pop("Env")
    assert create == {
        "Image": IMAGE,
        "Cmd": ["tool", "--json"],
        "User": "65534:65534",
        "WorkingDir": "/work",
        "NetworkDisabled": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
    }
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"]) == ("none", True, ["ALL"])
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (64 << 20, 64 << 20, 64)
    assert host["Tmpfs"] == {"/work": f"rw,nosuid,nodev,size={64 << 20},mode=1777"}
    assert {"Name": "nofile", "Soft": 256, "Hard": 256} in host["Ulimits"]
    assert not {"Binds", "Mounts", "Privileged", "Devices", "Runtime"} & set(host)
    assert engine.paths() == [
        "GET /_ping",
        "POST /containers/create",
        "POST /containers/c0/attach",
        "POST /containers/c0/start",
        "POST /containers/c0/wait",
        "GET /containers/c0/json",
        "DELETE /containers/c0",
    ]
    assert done.sandbox is not None
    assert (done.sandbox["level"], done.sandbox["image"]) == ("container", IMAGE)


def test_a_tools_own_error_and_its_end(engine: FakeEngine, perform: Perform) -> None:
    own = {"code": "BOX_CLOSED", "message": "No."}
    engine.program = lambda given: (json.dumps(own).encode(), b"said", 3)
    assert error_of(perform()) == (Status.FAILED, "BOX_CLOSED")
    assert engine.containers == {}


@pytest.mark.parametrize(
    ("program", "oom", "code"),
    [
        (lambda given: (b"no JSON", b"", 0), False, "INVALID_OUTPUT"),
        (lambda given: (b"", b"", 137), True, "RESOURCE_EXCEEDED"),
        (lambda given: (b"x" * 3_000_000, b"", 0), False, "RESOURCE_EXCEEDED"),
        (lambda given: (b"", b"died", 1), False, "EXECUTION_FAILED"),
    ],
)
def test_an_end_that_is_no_result(
    engine: FakeEngine, perform: Perform, program: Any, oom: bool, code: str
) -> None:
    engine.program, engine.oom = program, oom
    assert error_of(perform()) == (Status.FAILED, code)
    assert engine.containers == {}, "it is removed whatever happened"


def test_time_and_cancel_remove_it(engine: FakeEngine, perform: Perform) -> None:
    engine.hangs = True
    assert error_of(perform(timeout_ms=300)) == (Status.TIMEOUT, "TIMEOUT")
    assert engine.containers == {}


def test_a_cancel_removes_it(engine: FakeEngine, perform: Perform) -> None:
    engine.hangs = True
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    assert error_of(perform(cancelled=cancelled)) == (Status.CANCELLED, "CANCELLED")
    assert engine.containers == {}


def answer(body: bytes, status: str = "200 X") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/create", answer(b"[]", "201 X")),
        ("/create", answer(b"{}", "201 X")),
        ("/create", answer(b'{"Id": 1}', "201 X")),
        ("/create", answer(b'{"Id": "../c0/json?x="}', "201 X")),
        ("/create", answer(b'{"Id": "a\\r\\nHost: x"}', "201 X")),
        ("/create", answer(b"[" * 100_000, "201 X")),
        ("/create", b""),
        ("/create", b"no HTTP\r\n\r\n"),
        ("/attach", b""),
        ("/attach", b"HTTP/1.1\r\n\r\n"),
        ("/attach", b"HTTP/1.1 500 No\r\n\r\n"),
        ("/attach", b"x" * 20_000),
        ("/start", answer(b'{"message": ["no"]}', "500 X")),
        ("/wait", answer(b'{"StatusCode": "0"}')),
        ("/json", answer(b'{"State": "done"}')),
        ("/json", b""),
    ],
)
def test_an_engine_that_says_anything_fails_the_run_and_no_more(
    engine: FakeEngine, perform: Perform, path: str, said: bytes
) -> None:
    engine.says[path] = said
    status, code = error_of(perform())
    assert status is Status.FAILED
    assert code in {"SANDBOX_UNAVAILABLE", "EXECUTION_FAILED"}
    assert engine.containers == {}, "it is removed whatever happened"


@pytest.mark.parametrize("path", ["/_ping", "/create", "/attach"])
def test_an_engine_that_trickles_is_given_up(
    engine: FakeEngine, perform: Perform, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(engines, "STEP_S", 0.5)
    monkeypatch.setattr(engines.Engine.ask, "__kwdefaults__", {"seconds": 0.5, "expected": ()})
    engine.says[path], engine.slowness = b"HTTP/1.1 200 X\r\n" + b"X: y\r\n" * 50, 0.1
    began = time.monotonic()
    assert error_of(perform()) == (Status.FAILED, "SANDBOX_UNAVAILABLE")
    assert time.monotonic() - began < 3


def test_a_flood_of_the_log_ends_it(
    engine: FakeEngine, perform: Perform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "LOG_MOST", 1 << 20)
    engine.program = lambda given: (b"", b"x" * (2 << 20), 0)
    assert error_of(perform()) == (Status.FAILED, "RESOURCE_EXCEEDED")
    assert engine.containers == {}


def test_an_image_that_is_not_there_is_told(engine: FakeEngine, perform: Perform) -> None:
    engine.images.clear()
    done = perform()
    assert error_of(done) == (Status.FAILED, "DEPENDENCY_MISSING")
    assert done.error is not None
    assert f"docker pull {IMAGE}" in done.error["suggestions"][0]


def test_a_virtual_machine_is_made_by_what_the_engine_has(engine: FakeEngine, perform: Perform) -> None:
    engine.runtimes |= {"runsc": {}, "kata": {}}
    done = perform("vm")
    assert done.status is Status.COMPLETED, done
    create = next(body for method, path, body in engine.asked if path.endswith("/containers/create"))
    assert create["HostConfig"]["Runtime"] == "kata"
    assert done.sandbox is not None
    assert (done.sandbox["level"], done.sandbox["machine"]) == ("vm", "kata")


def test_without_a_machine_maker_a_vm_is_refused(engine: FakeEngine, perform: Perform) -> None:
    done = perform("vm")
    assert error_of(done) == (Status.FAILED, "SANDBOX_UNAVAILABLE")
    assert done.error is not None
    (probe,) = done.error["details"]["probes"]
    assert (probe["level"], "neither Kata nor gVisor; kvm is" in probe["reason"]) == ("vm", True)
    assert any("gVisor" in remedy for remedy in done.error["suggestions"])
    assert engine.containers == {}


@pytest.mark.parametrize("runtime", ["container", "vm"])
def test_without_an_engine_it_is_refused_with_what_helps(
    runtime: str, perform: Perform, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CONTAINER_SOCKET = ""
    monkeypatch.setattr(engines, "PLACES", ("/nowhere/docker.sock",))
    done = perform(runtime)
    assert error_of(done) == (Status.FAILED, "SANDBOX_UNAVAILABLE")
    assert done.error is not None
    assert "docker.sock" in done.error["details"]["probes"][0]["reason"]
    assert "/" not in done.error["details"]["probes"][0]["reason"]
    assert "Install Docker or Podman" in done.error["suggestions"][0]


def test_an_engine_that_does_not_answer_is_none(perform: Perform, settings: Any, tmp_path: Path) -> None:
    settings.CONTAINER_SOCKET = str(tmp_path / "gone.sock")
    assert error_of(perform()) == (Status.FAILED, "SANDBOX_UNAVAILABLE")


def test_what_a_container_is_not_given_is_refused(engine: FakeEngine, perform: Perform) -> None:
    done = perform(network={"allow": ["api.example.org:443"]}, filesystem={"read": ["reports"]})
    assert error_of(done) == (Status.FAILED, "SANDBOX_UNAVAILABLE")
    assert done.error is not None
    assert "gets no hosts to reach and no folders" in done.error["message"]
    assert engine.asked == []


@pytest.mark.parametrize(
    "image", ["acme/tool:latest", "acme/tool", f"acme/tool@sha256:{'a' * 63}", "--privileged"]
)
def test_an_image_without_a_digest_is_no_manifest(image: str) -> None:
    made = manifest("container")
    assert not [problem for problem in manifest_problems(made) if "/runtime" in problem.pointer]
    made["runtime"]["image"] = image
    assert [problem.pointer for problem in manifest_problems(made)] == ["/runtime/image"]
