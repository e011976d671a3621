"""`manage.py bench_sandbox`: starts a Python in a sandbox again and again; medians in ms as JSON."""

import json
import os
import subprocess
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from statistics import median
from typing import Any

import wasmtime
from django.core.management.base import BaseCommand

from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Launch, Mount
from security.sandbox.levels import Level
from security.sandbox.machine import bubblewrap
from security.sandbox.probes import probe
from security.sandbox.run import sandbox_run
from security.sandbox.supervisor import tree
from security.sandbox.warm import warm_clear, warm_run
from security.sandbox.wasm import LOAD, MODULE, module_build, wasm_argv, wasm_mounts

ECHO = """(module
 (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
 (memory (export "memory") 1)
 (func (export "_start")
  (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 60000))
  (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
  (i32.store (i32.const 4) (i32.load (i32.const 8)))
  (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"""
PROGRAM = [interpreter(), "-I", "-S", "-c", "import sys; sys.stdin.read()"]
# What a worker does between two calls of a tool; the next program gets ready meanwhile.
BETWEEN_S = 0.3


class Command(BaseCommand):
    help = "Times of starts in a sandbox, and of what they are compared with."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=20)

    def handle(self, *args: Any, **options: Any) -> None:
        arms = _arms()
        times: dict[str, list[float]] = {name: [] for name in arms}
        for _ in range(options["rounds"] + 1):  # the first of each only fills caches
            for name, arm in arms.items():
                if name in {"warm", "wasm"}:
                    time.sleep(BETWEEN_S)
                began = time.perf_counter()
                arm()
                times[name].append((time.perf_counter() - began) * 1000)
        found = {name: round(median(each[1:]), 1) for name, each in times.items()}
        self.stdout.write(json.dumps({"times": found, "idle_mb": _idle_mb()}))
        warm_clear()


def _arms() -> dict[str, Callable[[], object]]:
    """Each starts the same program once; only levels that hold here."""
    arms: dict[str, Callable[[], object]] = {
        "python": lambda: subprocess.run(PROGRAM, stdin=subprocess.DEVNULL, check=True)
    }
    if probe(Level.ISOLATED).holds:
        plain = [
            bubblewrap() or "bwrap",
            "--unshare-all",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
        ]
        arms["bwrap"] = lambda: subprocess.run([*plain, "--", *PROGRAM], stdin=subprocess.DEVNULL, check=True)
        arms["isolated"] = lambda: _held(Level.ISOLATED)
        arms["warm"] = lambda: warm_run(_launch(Level.ISOLATED), threading.Event())
        module = _module()
        arms["wasm"] = lambda: warm_run(module, threading.Event())
    if probe(Level.CONFINED).holds:
        arms["confined"] = lambda: _held(Level.CONFINED)
    return arms


def _idle_mb() -> dict[str, float]:
    """What waits now, by its share of memory: nursery and supervisors, and what is in the sandbox."""
    time.sleep(BETWEEN_S)
    found = {"nursery and supervisor": 0.0, "bubblewrap, zygote and the next call": 0.0}
    ours, inside = found
    for pid in tree.descendants(os.getpid()):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            name = ours if "supervisor" in file.read() else inside
        found[name] += tree.share_of(pid) / 1e6
    return {name: round(size, 1) for name, size in found.items()}


def _held(level: Level) -> object:
    return sandbox_run(_launch(level), threading.Event())


def _module() -> Launch:
    """A cached WebAssembly module that gives back what it reads."""
    compiled = module_build(bytes(wasmtime.wat2wasm(ECHO)), threading.Event())
    bounds = {"fuel": 1_000_000, "memory": 16 << 20, "seconds": 10.0}
    return Launch(
        argv=wasm_argv("serve", MODULE),
        level=Level.ISOLATED,
        stdin=json.dumps(bounds).encode() + b'\n{"x": 1}',
        mounts=(*wasm_mounts(), Mount(str(compiled), MODULE)),
        prepare=LOAD,
        marks=True,
    )


def _launch(level: Level) -> Launch:
    return Launch(argv=PROGRAM, level=level, mounts=interpreter_mounts(), prepare="import json")
