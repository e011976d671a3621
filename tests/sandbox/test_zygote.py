"""A started Python that serves many calls: nothing passes from one to the next, and its death loses nothing."""

import dataclasses
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from security.sandbox import warm
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Launch, Limits
from security.sandbox.levels import Level
from security.sandbox.run import Held
from security.sandbox.supervisor import tree
from tests.processes import wait_for

pytestmark = pytest.mark.sandbox
# Says what it finds, and leaves something of everything behind.
CODE = """
import builtins, json, os, resource, signal, socket, threading, time

def here(folder):
    return sorted(os.listdir(folder))

found = {
    "globals": getattr(builtins, "mark", None) or getattr(json, "mark", None) or globals().get("mark"),
    "modules": "this" in sys.modules, "files": here("."), "tmp": here("/tmp"), "shared": here("/dev/shm"),
    "environment": os.environ.get("MARK"), "threads": threading.active_count(),
    "processes": [name for name in here("/proc") if name.isdigit()],
    "descriptors": [name for name in here("/proc/self/fd") if int(name) > 2][:-1],
    "mask": os.umask(0o022), "folder": os.getcwd(), "handler": signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL,
    "limit": resource.getrlimit(resource.RLIMIT_NOFILE), "path": "/mark" in sys.path, "nice": os.nice(0),
}
try:
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(chr(0) + "mark")
    found["socket"] = True
except OSError:
    found["socket"] = False
print(json.dumps({**found, "given": given}), flush=True)

builtins.mark = json.mark = mark = given
import this as _
for place in ("left", "/tmp/left-too", "/dev/shm/left"):
    open(place, "w").write(given)
os.environ["MARK"] = given
sys.path.append("/mark")
held = open("left")
os.umask(0o077)
os.nice(5)
os.chdir("/usr")
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
door = socket.socket(socket.AF_UNIX)
door.bind(chr(0) + "mark")
door.listen()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
if os.fork() == 0:
    os.setsid()
    for number in range(3):
        os.close(number)
    time.sleep(60)
os._exit(0)
"""
WAITS = "import time; print('began', given, flush=True); time.sleep(60)"
# A program that does not wait for its input is over before a call comes.
READS = "import sys; given = sys.stdin.read()\n"
Call = Callable[..., Finished]


@pytest.fixture(autouse=True)
def cleared() -> Iterator[None]:
    warm.warm_clear()
    yield
    warm.warm_clear()


def call(code: str, stdin: bytes = b"x", **members: Any) -> Finished:
    on_output, cancelled = members.pop("on_output", None), members.pop("cancelled", threading.Event())
    launch = Launch(
        argv=[interpreter(), "-I", "-S", "-c", READS + code],
        level=Level.ISOLATED,
        stdin=stdin,
        mounts=interpreter_mounts(),
        environment={"PATH": "/usr/bin:/bin"},
        prepare="import json, threading",
        limits=Limits(**members),
    )
    return warm.warm_run(launch, cancelled, on_output)


def zygotes() -> list[int]:
    """The processes that serve calls, by their command lines; bubblewrap's own two have it in theirs."""
    return [pid for pid in tree.descendants(os.getpid()) if _is_zygote(pid)]


def _is_zygote(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        own = words[0] == interpreter().encode() and b"zygote" in b"".join(words)
        one = tree.entry(pid)
        return bool(own and one and Path(f"/proc/{one.parent}/cmdline").read_bytes().startswith(b"bwrap"))
    except (FileNotFoundError, ProcessLookupError):  # it is gone
        return False


def zygote() -> int:
    wait_for(lambda: len(zygotes()) == 1)
    (pid,) = zygotes()
    return pid


def test_nothing_passes_from_one_call_to_the_next() -> None:
    found = [json.loads(call(CODE, name).stdout) for name in (b"one", b"two", b"three")]
    assert [each.pop("given") for each in found] == ["one", "two", "three"]
    served = zygote()
    for each in found:
        assert each == {
            **dict.fromkeys(("globals", "environment")),
            **{name: [] for name in ("files", "tmp", "shared", "descriptors")},
            **dict.fromkeys(("modules", "path", "socket"), False),
            "threads": 1,
            "processes": ["1", "2"] if each is not found[0] else each["processes"],
            "mask": 0o022,
            "folder": "/work",
            "handler": True,
            "limit": [256, 256],
            "nice": os.nice(0),
        }
    assert call(CODE, b"four").how == "exited"
    assert zygote() == served, "one process serves them all"


def test_it_holds_a_call_as_a_program_of_its_own_is_held() -> None:
    code = """
import ctypes, json, os
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")
print(json.dumps({**{name: int(status[name], 16) for name in names}, "user": os.getuid(),
    "unshare": ctypes.CDLL(None).unshare(0x10000000), "first": os.access("/proc/1/mem", os.R_OK)}))
"""
    call(code)
    zygote()
    assert json.loads(call(code).stdout) == {
        **dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0),
        "NoNewPrivs": 1,
        "Seccomp": 2,
        "user": 1000,
        "unshare": -1,
        "first": False,
    }


def test_what_a_call_used_is_its_own() -> None:
    code = """
import time
held = bytearray(b"x") * (int(given) << 20)
while time.process_time() < len(held) / (1 << 27): pass
time.sleep(0.1)
"""
    call(code, b"1")
    large, small = call(code, b"64").resources, call(code, b"1").resources
    assert large["max_memory_bytes"] > 64 << 20 > small["max_memory_bytes"] > 0
    assert 450 < large["cpu_ms"] < 2000
    assert small["cpu_ms"] < 400


@pytest.mark.parametrize(
    ("code", "limits", "how"),
    [
        ("held = bytearray(b'x') * (200 << 20)", {"memory_bytes": 64 << 20}, "memory"),
        ("open('file', 'wb').write(b'x' * (9 << 20)); time.sleep(9)", {"disk_bytes": 8 << 20}, "disk"),
        ("time.sleep(60)", {"wall_s": 0.3}, "timeout"),
        ("print('x' * 100_000)", {"output_bytes": 1000}, "output"),
        ("while True: pass", {"cpu_ms": 300}, "cpu"),
    ],
)
def test_its_bounds_hold_and_the_next_call_is_served(code: str, limits: dict[str, Any], how: str) -> None:
    full = f"import time\nif given == 'bad':\n    {code}\nelse: print('well')"
    call(full, b"good", **limits)
    served = zygote()
    assert call(full, b"bad", **limits).how in {how, "exited" if how == "memory" else how}
    assert call(full, b"good", **limits).stdout == b"well\n"
    assert zygote() == served


def test_a_cancel_reaches_it() -> None:
    cancelled = threading.Event()
    call(WAITS, wall_s=0.1)
    zygote()
    done = call(WAITS, b"now", cancelled=cancelled, on_output=lambda _: cancelled.set(), wall_s=30)
    assert (done.how, done.exit_code, done.asked) == ("exited", 143, True)


def test_one_that_dies_while_it_waits_costs_no_call() -> None:
    call("print(given)")
    (held,) = warm._waiting.values()
    os.kill(zygote(), 9)
    wait_for(lambda: not held.is_alive)
    assert call("print(given)").stdout == b"x\n"


@pytest.mark.parametrize("time", range(3))
def test_one_that_dies_in_a_call_ends_that_call_once(time: int) -> None:
    call(WAITS, wall_s=0.1)
    served, began = zygote(), []

    def take(block: bytes) -> None:
        began.append(block)
        os.kill(served, 9)

    done = call(WAITS, b"two", on_output=take, wall_s=0.1)
    assert began == [b"began two\n"], "it was not begun again"
    assert done.exit_code in {None, 137}
    assert done.how in {"exited", "killed"}


def test_a_cancel_that_comes_after_a_call_s_end_is_not_the_next_one_s() -> None:
    """The word waits in the supervisor's pipe until the next call is there to hear it."""
    code = "import signal\nseen = []\nsignal.signal(signal.SIGTERM, lambda *_: seen.append(1))\n"
    code += "print(sys.stdin.read(), len(seen), flush=True)\n"
    launch = Launch(
        argv=[interpreter(), "-I", "-S", "-c", f"import sys\n{code}"],
        level=Level.ISOLATED,
        mounts=interpreter_mounts(),
        environment={"PATH": "/usr/bin:/bin"},
        prepare="import json",
        limits=Limits(),
    )
    held = Held(launch, lasts=True)
    cancelled = threading.Event()
    held.go(dataclasses.replace(launch, stdin=b"one"))
    time.sleep(1.0)  # it has ended by now, and nobody has looked
    cancelled.set()
    first = held.finish(cancelled, None)
    assert (first.how, first.stdout) == ("exited", b"one 0\n")
    time.sleep(0.5)
    assert held.is_alive
    held.go(dataclasses.replace(launch, stdin=b"two"))
    second = held.finish(threading.Event(), None)
    held.close()
    assert (second.how, second.asked, second.stdout) == ("exited", False, b"two 0\n")
