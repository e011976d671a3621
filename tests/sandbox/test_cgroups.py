"""Control groups: where a part of the tree is the hub's, the kernel itself holds a run's processes together.

The tests make their own part beneath this process's group; what cannot be made here, or lacks a controller, is
skipped with the reason.
"""

import contextlib
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from security.sandbox import cgroups
from security.sandbox.doctor import diagnose
from security.sandbox.launch import Finished
from security.sandbox.levels import Level
from security.sandbox.warm import warm_clear, warm_run
from tests.processes import wait_for
from tests.sandbox.conftest import Run, processes_with, watch_kill
from tests.sandbox.test_leftovers import forked

pytestmark = pytest.mark.hostile
EVERY = pytest.mark.parametrize("level", list(Level))


@pytest.fixture
def part(settings: Any) -> Iterator[Path]:
    """A folder of groups that is the hub's."""
    own = cgroups.own_group()
    if own is None:
        pytest.skip("this kernel has no control groups of version 2, or none is mounted")
    folder = own / f"toolhub-tests-{secrets.token_hex(4)}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no group can be made here: {error.strerror}")
    # Where the tests may: what is there is handed down to the part.
    for name in cgroups.CONTROLLERS:
        with contextlib.suppress(OSError):
            (own / "cgroup.subtree_control").write_text(f"+{name}")
    settings.CGROUP = str(folder)
    cgroups.delegation.cache_clear()
    yield folder
    warm_clear()
    cgroups.delegation.cache_clear()
    wait_for(lambda: not groups(folder))
    folder.rmdir()


def groups(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if each.is_dir()]


def held(done: Finished, name: str) -> None:
    if name not in done.cgroup:
        pytest.skip(f"the controller {name} is not to be had here")


@EVERY
def test_a_run_has_a_group_of_its_own_and_it_goes_with_it(level: Level, run: Run, part: Path) -> None:
    seen: list[list[str]] = []
    cancelled = threading.Event()

    def look(block: bytes) -> None:
        seen.append(groups(part))
        cancelled.set()

    code = "import time; print('here', flush=True); time.sleep(60)"
    done = run(level, code, on_output=look, cancelled=cancelled)
    assert done.asked, done
    assert "kill" in done.cgroup
    assert len(seen[0]) == 1
    assert groups(part) == []


def test_a_call_of_a_zygote_has_one_too(part: Path) -> None:
    for _ in range(3):
        done = warm_run(forked("true"), threading.Event())
        assert "kill" in done.cgroup
    # The one that waits has its group already.
    wait_for(lambda: len(groups(part)) == 1)
    warm_clear()
    assert groups(part) == []


@EVERY
def test_what_left_its_session_goes_also_with_a_killed_supervisor(level: Level, run: Run, part: Path) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    code = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", sys.argv[1]])
    os._exit(0)
os.wait()
print("began", flush=True)
time.sleep(60)
"""

    done = run(level, code, mark, on_output=lambda _: watch_kill(mark))
    assert done.how == "killed", done
    wait_for(lambda: not processes_with(mark))
    assert groups(part) == []


@EVERY
def test_processes_that_grow_at_once_are_ended_by_the_kernel(level: Level, run: Run, part: Path) -> None:
    """Each stays within what one process may have, and all together they are faster than any look."""
    code = """
import mmap, os
for _ in range(8):
    if os.fork() == 0:
        held = mmap.mmap(-1, 96 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000)
        os._exit(0)
for _ in range(8):
    os.wait()
"""
    done = run(level, code, memory_bytes=64 << 20, disk_bytes=1 << 20)
    held(done, "memory")
    assert done.how == "memory"
    assert done.resources["cgroup_bytes"] < 320 << 20


@EVERY
def test_processes_are_counted_over_all_users(level: Level, run: Run, part: Path) -> None:
    code = """
import os, time
count = 0
try:
    while count < 100:
        if os.fork() == 0:
            time.sleep(20)
        count += 1
except OSError:
    print(count)
"""
    done = run(level, code, processes=20)
    held(done, "pids")
    assert 10 <= int(done.stdout) <= 20


def test_cores_are_bounded(settings: Any, run: Run, part: Path) -> None:
    settings.SANDBOX_CPUS = 1
    code = """
import os
for _ in range(3):
    os.fork()
while True:
    pass
"""
    done = run(Level.ISOLATED, code, wall_s=2.0)
    held(done, "cpu")
    assert done.resources["cpu_ms"] < 1.5 * done.duration_ms


def test_the_doctor_says_what_is_held(part: Path, settings: Any) -> None:
    assert diagnose().facts["cgroups"].startswith("each run has a group of its own: ")
    settings.CGROUP = "off"
    cgroups.delegation.cache_clear()
    assert diagnose().facts["cgroups"].startswith("not used (TOOLHUB_CGROUP is off)")
