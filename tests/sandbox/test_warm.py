"""Programs that wait: each is used once, none outlives its process, and a dead one costs a call nothing."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from security.sandbox import warm
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Launch, Limits, Mount
from security.sandbox.levels import Level
from security.sandbox.supervisor import tree
from tests.processes import wait_for

pytestmark = pytest.mark.sandbox
# Tells its process, how often it ran, and what it was given; leaves something behind.
CODE = """
import os, sys, time
began = time.monotonic()
given = sys.stdin.read()
print(sorted(os.listdir(".")), given, time.monotonic() - began > 0)
open("left", "w").write(given)
"""


@pytest.fixture(autouse=True)
def cleared() -> Iterator[None]:
    warm.warm_clear()
    yield
    warm.warm_clear()


def launch(stdin: bytes = b"", code: str = CODE, secrets: bytes | None = None, **limits: Any) -> Launch:
    return Launch(
        argv=[interpreter(), "-I", "-S", "-c", code],
        level=Level.ISOLATED,
        stdin=stdin,
        mounts=interpreter_mounts(),
        limits=Limits(**limits),
        secrets=secrets,
    )


def run(launched: Launch) -> Finished:
    return warm.warm_run(launched, threading.Event())


def supervisors() -> list[int]:
    """Processes of ours that watch: what came of the nursery without becoming another program, and was taken."""
    pids = tree.descendants(os.getpid())
    born = [pid for pid in pids if told(pid, "comm") == b"supervisor\n"]
    return [pid for pid in born if (one := tree.entry(pid)) and one.parent not in born]


def waiting(count: int = 1) -> list[int]:
    """The supervisors, once there are so many: one that was just started is not at once to be known."""
    wait_for(lambda: len(supervisors()) == count)
    return supervisors()


def told(pid: int, file: str) -> bytes:
    """What the kernel tells of a process; nothing of one that has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def test_the_next_call_finds_a_program_that_waits_and_nothing_of_the_last() -> None:
    assert run(launch(b"one")).stdout == b"[] one True\n"
    (first,) = waiting()
    assert run(launch(b"two", wall_s=5.0)).stdout == b"[] two True\n"
    # It was used, and only once.
    wait_for(lambda: (now := supervisors()) and first not in now)


def test_a_call_with_other_limits_gets_a_program_with_those() -> None:
    run(launch(b"one"))
    code = "import resource, sys; sys.stdin.read(); print(resource.getrlimit(resource.RLIMIT_NOFILE)[1])"
    assert run(launch(code=code, open_files=64)).stdout == b"64\n"
    assert run(launch(code=code, open_files=32)).stdout == b"32\n"


def test_no_more_wait_than_the_setting_says(settings: Any) -> None:
    settings.SANDBOX_WARM = 2
    for files in (32, 33, 34, 35):
        run(launch(open_files=files))
    waiting(2)
    settings.SANDBOX_WARM = 0
    warm.warm_clear()
    run(launch())
    waiting(0)


def test_the_time_runs_from_the_call_on() -> None:
    code = "import sys, time; sys.stdin.read(); time.sleep(60)"
    run(launch(code=code, wall_s=0.3))
    done = run(launch(code=code, wall_s=0.3))
    assert done.how == "timeout"
    assert 300 <= done.duration_ms < 1500


@pytest.mark.parametrize("victim", ["supervisor", "program"])
def test_one_that_died_while_it_waited_is_replaced(victim: str) -> None:
    run(launch(b"one"))
    (first,) = waiting()
    wait_for(lambda: told(tree.youngest(first), "cmdline").startswith(f"{interpreter()}\0".encode()))
    pid = first if victim == "supervisor" else tree.youngest(first)
    os.kill(pid, 9)
    wait_for(lambda: (one := tree.entry(pid)) is None or one.state == "Z")
    assert run(launch(b"two")).stdout == b"[] two True\n"


def test_what_cannot_wait_without_using_too_much_is_ended() -> None:
    code = "held = [bytearray(1 << 20).replace(b'\\0', b'x') for _ in range(4096)]"
    done = run(launch(code=code, memory_bytes=64 << 20))
    assert done.how == "memory"
    (held,) = warm._waiting.values()
    wait_for(lambda: not held.is_alive)


def test_a_folder_that_was_made_anew_is_another_one(tmp_path: Path) -> None:
    code = "import os, sys; sys.stdin.read(); print(os.listdir('/package'))"
    folder = tmp_path / "package"

    def call() -> bytes:
        mounts = (*interpreter_mounts(), Mount(str(folder), "/package"))
        argv = [interpreter(), "-I", "-S", "-c", code]
        made = Launch(argv=argv, level=Level.ISOLATED, stdin=b"x", mounts=mounts, limits=Limits())
        return run(made).stdout

    folder.mkdir(mode=0o755)
    (folder / "first").touch()
    assert call() == b"['first']\n"
    waiting()
    (folder / "first").unlink()
    folder.rmdir()
    folder.mkdir(mode=0o755)
    (folder / "second").touch()
    assert call() == b"['second']\n"


def test_a_program_that_waits_has_no_secrets_until_its_call() -> None:
    code = "import os, sys; sys.stdin.read(); print(os.read(int(os.environ['TOOLHUB_SECRETS_FD']), 100).decode())"
    assert run(launch(code=code, secrets=b"first")).stdout == b"first\n"
    (waits,) = waiting()
    assert run(launch(code=code, secrets=b"second")).stdout == b"second\n"
    wait_for(lambda: waits not in supervisors())
