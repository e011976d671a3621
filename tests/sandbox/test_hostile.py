"""Every hostile program at every level has its verdict, and docs/sandbox.md says the same."""

import contextlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from security.sandbox.levels import Level
from tests.sandbox import programs
from tests.sandbox.conftest import PROGRAMS, Run, World
from tests.sandbox.verdicts import (
    ENDED,
    ESCAPES,
    HELD,
    LEVELS,
    OWN_USER,
    PAGE,
    VERDICTS,
    page_with_table,
    table,
)

pytestmark = pytest.mark.hostile
BOUNDS: dict[str, Any] = {
    "wall_s": 60.0,
    "memory_bytes": 192 << 20,
    "disk_bytes": 32 << 20,
    "files": 2_000,
    "output_bytes": 1 << 20,
}
# What a zygote forks is held as a program of its own is.
_TRIES = [(name, level) for level in (*LEVELS, "isolated forked") for name in VERDICTS]
_QUICK: dict[str, dict[str, Any]] = {
    "processor": {"cpu_ms": 300},
    "processors": {"cpu_ms": 300},
    "sleep_on": {"wall_s": 0.5},
    "slow_to_look_at": {"wall_s": 1.0},
    "deaf": {"wall_s": 0.5},
    "stop_itself": {"wall_s": 0.5},
}
START = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"


@contextmanager
def listening(world: World, abstract: str) -> Iterator[None]:
    """Sockets of the machine that answer whoever reaches them, by a path and by an abstract name."""
    where = str(world.root / "unix.sock")
    with contextlib.ExitStack() as stack:
        for kind, more in ((socket.SOCK_STREAM, ""), (socket.SOCK_DGRAM, ".gram")):
            path, name = (stack.enter_context(socket.socket(socket.AF_UNIX, kind)) for _ in range(2))
            path.bind(where + more)
            os.chmod(where + more, 0o777)
            name.bind("\0" + abstract + more)
            if kind == socket.SOCK_STREAM:
                path.listen(4)
                name.listen(4)
            else:
                world.grams = [path, name]
        yield
        world.hear()


@pytest.mark.parametrize(("name", "level"), _TRIES)
def test_a_hostile_program(name: str, level: str, run: Run, world: World) -> None:
    abstract = f"toolhub-{world.mark}"
    level, _, forked = level.partition(" ")
    bounds = {**BOUNDS, **_QUICK.get(name, {}), "forked": bool(forked)}
    with listening(world, abstract):
        done = run(Level(level), START, f"{PROGRAMS}/programs.py", name, world.as_json(abstract), **bounds)
    outside = world.seen()
    said = done.stdout.decode(errors="replace")
    ended = ENDED if done.how != "exited" else HELD
    verdict = ESCAPES if "escaped" in said or outside else ended
    expected = VERDICTS[name][LEVELS.index(level)]
    if expected == OWN_USER:
        expected = HELD if os.geteuid() == 0 else ESCAPES
    assert verdict == expected, (done.how, done.exit_code, said[-300:], done.log[-300:], outside)
    if verdict == HELD:
        assert said == "held\n", "the program came to its end"


def test_every_program_has_a_verdict() -> None:
    made = {
        name
        for name, value in vars(programs).items()
        if callable(value)
        and getattr(value, "__module__", "").endswith("programs")
        and "world" in _names(value)
    }
    assert made == set(VERDICTS)


def _names(function: Any) -> tuple[str, ...]:
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code else ()


def test_the_page_shows_this_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page_with_table(page) == page, "run python -m tests.sandbox.verdicts"
    assert table() in page
