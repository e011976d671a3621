"""WebAssembly modules: carried out with fuel, memory and time of their own, without any right."""

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import wasmtime

from core.errors import ToolHubError
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from registry.models import ToolVersion
from security.sandbox import probes, remedies, wasm, wasm_inside
from security.sandbox.wasm import module_build
from tests.sandbox.packages import publish, tool_of

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
_IMPORTS = """
 (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
 (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "path_open"
  (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
 (memory (export "memory") 1)
"""
# The request comes back as the result.
ECHO = """
 (func (export "_start")
  (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 60000))
  (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
  (i32.store (i32.const 4) (i32.load (i32.const 8)))
  (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
"""
LOOP = '(func (export "_start") (loop $more (br $more)))'
GROWS = '(func (export "_start") (loop $more (br_if $more (i32.ne (memory.grow (i32.const 100)) (i32.const -1)))) unreachable)'
TABLES = """
 (table 1 funcref)
 (func (export "_start") (loop $more
  (br_if $more (i32.ne (table.grow (ref.null func) (i32.const 1000000)) (i32.const -1)))) unreachable)
"""
RECURSES = '(func $again (call $again)) (func (export "_start") (call $again))'
# Each memory is within its bound; together they are not.
MEMORIES = f"""
 {" ".join(f"(memory $m{number} 1)" for number in range(16))}
 (func (export "_start") {
    " ".join(
        f"(drop (memory.grow $m{number} (i32.const 500)))"
        f"(memory.fill $m{number} (i32.const 0) (i32.const 1) (i32.const 32000000))"
        for number in range(16)
    )
} (loop $more (br $more)))
"""
# Asks its host to wait for an hour: neither fuel nor an epoch ends that.
SLEEPS = """
 (func (export "_start")
  (i64.store (i32.const 16) (i64.const 0)) (i32.store8 (i32.const 24) (i32.const 0))
  (i32.store (i32.const 32) (i32.const 1)) (i64.store (i32.const 40) (i64.const 3600000000000))
  (drop (call $poll (i32.const 16) (i32.const 200) (i32.const 1) (i32.const 300))))
"""
FAULTS = '(func (export "_start") unreachable)'
EXITS = '(func (export "_start") (call $exit (i32.const 97)))'
# Says the error numbers of what it must not do as digits: a path in folder 3, a socket, and how many variables.
TRIES = """
 (data (i32.const 500) "/etc/passwd")
 (func (export "_start") (local $at i32)
  (drop (call $environ (i32.const 600) (i32.const 604)))
  (i32.store8 (i32.const 101) (i32.add (i32.const 48) (i32.eq (i32.const 0)
   (call $open (i32.const 3) (i32.const 0) (i32.const 500) (i32.const 11) (i32.const 0) (i64.const 2) (i64.const 0)
    (i32.const 0) (i32.const 620)))))
  (i32.store8 (i32.const 102) (i32.add (i32.const 48) (i32.eq (i32.const 0)
   (call $accept (i32.const 3) (i32.const 0) (i32.const 640)))))
  (i32.store8 (i32.const 103) (i32.add (i32.const 48) (i32.load (i32.const 600))))
  (i32.store8 (i32.const 100) (i32.const 49))
  (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 4))
  (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
"""
BODIES = {
    "echo": ECHO,
    "loop": LOOP,
    "grows": GROWS,
    "tables": TABLES,
    "recurses": RECURSES,
    "memories": MEMORIES,
    "sleeps": SLEEPS,
    "faults": FAULTS,
    "exits": EXITS,
    "tries": TRIES,
}
Perform = Callable[..., Outcome]


def module(body: str) -> bytes:
    return bytes(wasmtime.wat2wasm(f"(module {_IMPORTS} {body})"))


@pytest.fixture(params=["isolated", "confined"])
def perform(db: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Perform]:
    """Publishes a module and carries it out as a worker would: `perform("echo", {"a": 1})`."""
    if request.param == "confined":
        probes.probe.cache_clear()
        for each in (probes, remedies):
            monkeypatch.setattr(each, "bubblewrap", lambda: None)

    def do(name: str, arguments: Any = None, *, timeout_ms: int = 20_000, **bounds: Any) -> Outcome:
        tool = f"wasm_{name}"
        if not ToolVersion.objects.filter(tool__name=tool).exists():
            manifest = {
                "name": f"wasm-{name}",
                "version": "1.0.0",
                "runtime": {"type": "wasm", "entry": "tool.wasm"},
                "tools": [tool_of(tool, sideEffects="pure", resourceBounds=bounds)],
            }
            publish(manifest, {"tool.wasm": module(BODIES[name])})
        version = ToolVersion.objects.get(tool__name=tool)
        outcome = call_run(
            Call(
                run_id=uuid.uuid4(),
                tool=tool,
                runner=version.runner,
                version=version,
                arguments=arguments or {},
                request={},
                attempt=1,
                timeout_ms=timeout_ms,
                max_output_bytes=1 << 20,
                inline=False,
            )
        )
        assert outcome.sandbox is not None, outcome
        assert outcome.sandbox["level"] == request.param
        return outcome

    yield do
    probes.probe.cache_clear()


def error_of(outcome: Outcome) -> tuple[Status, str, str]:
    assert outcome.error is not None, outcome
    return outcome.status, outcome.error["code"], outcome.error["details"].get("resource", "")


def test_a_module_gets_a_request_and_gives_a_result(perform: Perform) -> None:
    for number in range(3):
        done = perform("echo", {"x": [number, "ä"]})
        assert done.status is Status.COMPLETED, done
        assert (done.data["arguments"], done.data["tool"]) == ({"x": [number, "ä"]}, "wasm_echo")


def test_fuel_ends_a_loop_at_once(perform: Perform) -> None:
    perform("loop", maxFuel=1_000_000)
    done = perform("loop")
    assert error_of(done) == (Status.FAILED, "RESOURCE_EXCEEDED", "fuel")
    assert done.resources["cpu_ms"] < 1000


def test_time_ends_a_loop_without_fuel(perform: Perform) -> None:
    done = perform("loop", timeout_ms=1500)
    assert error_of(done)[:2] == (Status.TIMEOUT, "TIMEOUT")


def test_tables_are_bounded_too(perform: Perform) -> None:
    done = perform("tables")
    assert error_of(done)[:2] == (Status.FAILED, "EXECUTION_FAILED")
    assert done.resources["max_memory_bytes"] < 128 << 20


def test_memory_does_not_grow_past_its_bound(perform: Perform) -> None:
    done = perform("grows", maxMemoryBytes=32 << 20)
    assert error_of(done)[:2] == (Status.FAILED, "EXECUTION_FAILED"), (
        "it ran into its bound, and then a fault"
    )
    assert done.resources["max_memory_bytes"] < 128 << 20


def test_many_memories_are_one_bound(perform: Perform) -> None:
    done = perform("memories", maxMemoryBytes=32 << 20)
    assert done.error is not None, done
    assert done.error["code"] in {"RESOURCE_EXCEEDED", "EXECUTION_FAILED"}
    assert done.resources["max_memory_bytes"] < 384 << 20


def test_calls_without_end_are_a_fault(perform: Perform) -> None:
    assert error_of(perform("recurses")) == (Status.FAILED, "EXECUTION_FAILED", "")


def test_time_ends_a_wait_in_the_host(perform: Perform) -> None:
    began = time.monotonic()
    assert error_of(perform("sleeps", timeout_ms=1500))[:2] == (Status.TIMEOUT, "TIMEOUT")
    assert time.monotonic() - began < 8


def test_a_module_has_no_right(perform: Perform) -> None:
    assert perform("tries").data == 1000, "no file, no socket, no variable"


@pytest.mark.parametrize("name", ["faults", "exits"])
def test_a_module_that_ends_badly_fails(perform: Perform, name: str) -> None:
    assert error_of(perform(name)) == (Status.FAILED, "EXECUTION_FAILED", "")


def test_a_module_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    content = module(f'{ECHO} (func (export "{uuid.uuid4().hex}"))')
    first = module_build(content, threading.Event())
    monkeypatch.setattr(wasm, "sandbox_run", None)
    assert module_build(content, threading.Event()) == first


def _sized(content: bytes) -> bytes:
    """With its length before it (LEB128, five bytes)."""
    size = len(content)
    return (
        bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21 & 127 | 128, 0])
        + content
    )


def test_blocks_within_blocks_without_end_are_compiled_or_refused() -> None:
    deep = 300_000
    body = b"\0" + b"\2\x40" * deep + b"\x0b" * deep + b"\x0b"
    content = b"\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\x0a" + _sized(b"\1" + _sized(body))
    began = time.monotonic()
    with contextlib.suppress(ToolHubError):
        module_build(content, threading.Event(), 20.0)
    assert time.monotonic() - began < 40


@pytest.mark.parametrize("content", [b"", b"\0asm\1\0\0\0garbage", b"\x7fELF"])
def test_what_is_no_module_is_refused(content: bytes) -> None:
    with pytest.raises(ToolHubError, match="cannot be compiled") as refused:
        module_build(content, threading.Event())
    assert refused.value.code == "PACKAGE_REFUSED"


def test_both_sides_mean_the_same_by_exit_codes() -> None:
    for name in ("FUEL", "MEMORY", "TIME", "FAULT"):
        assert getattr(wasm, name) == getattr(wasm_inside, name)
