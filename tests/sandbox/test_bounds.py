"""What a sandbox bounds, counts and passes on, and that honest programs work in it."""

import json
import os
import subprocess
import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import WORK, Launch, Limits, Mount
from security.sandbox.levels import Level
from security.sandbox.run import sandbox_run
from security.sandbox.supervisor.channel import GO, GO_HEAD, Channel
from security.sandbox.supervisor.start import Tool
from security.sandbox.supervisor.usage import Usage
from security.sandbox.supervisor.watch import Watch
from tests.sandbox.conftest import Run, processes_with

pytestmark = pytest.mark.hostile
EVERY = pytest.mark.parametrize("level", list(Level))
HONEST = """
import asyncio, concurrent.futures, json, os, sqlite3, ssl, subprocess, sys, tempfile, threading
async def echo():
    child = await asyncio.create_subprocess_exec("/bin/echo", "hi", stdout=-1)
    return (await child.communicate())[0].decode().strip()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    threads = sum(pool.map(abs, range(-4, 0)))
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x")
database = sqlite3.connect("test.db")
database.execute("CREATE TABLE one (two)")
database.commit()
shell = subprocess.run(["/bin/sh", "-c", "echo $((1 + 1))"], capture_output=True, text=True, check=True).stdout
os.symlink("test.db", "link")
os.rename("link", "other")
print(json.dumps({"echo": asyncio.run(echo()), "threads": threads, "shell": shell, "read": sys.stdin.read(),
                  "files": sorted(os.listdir(".")), "version": ssl.OPENSSL_VERSION_NUMBER > 0}))
"""


@EVERY
def test_an_honest_program_does_what_programs_do(level: Level, run: Run) -> None:
    done = run(level, HONEST, stdin=b"given")
    assert (done.how, done.exit_code) == ("exited", 0), done.log
    assert json.loads(done.stdout) == {
        "echo": "hi",
        "threads": 10,
        "shell": "2\n",
        "read": "given",
        "files": ["other", "test.db"],
        "version": True,
    }
    assert (done.level, bool(done.filter_hash)) == (level, level is not Level.PROCESS)


@EVERY
def test_a_large_input_and_output_pass_through(level: Level, run: Run) -> None:
    given = bytes(range(256)) * 8192
    code = "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data[::-1])"
    assert run(level, code, stdin=given, output_bytes=len(given)).stdout == given[::-1]


@EVERY
def test_the_environment_is_what_was_given_and_nothing_else(level: Level, run: Run) -> None:
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = json.loads(run(level, code, environment={"TZ": "UTC", "HOME": WORK}).stdout)
    home = seen.pop("HOME")
    assert home.startswith("/")
    # bubblewrap names the folder that it starts in; the C locale's coercion is Python's own.
    assert set(seen) - {"PWD", "LC_CTYPE"} == {"TZ"}


@EVERY
def test_secrets_come_on_a_descriptor(level: Level, run: Run) -> None:
    code = "import os; print(os.read(int(os.environ['TOOLHUB_SECRETS_FD']), 100).decode())"
    assert run(level, code, secret=b"hush").stdout == b"hush\n"


@EVERY
def test_a_program_that_was_cancelled_can_say_goodbye(level: Level, run: Run) -> None:
    code = """
import os, signal, sys, time
def goodbye(number, frame):
    os.write(1, b"goodbye\\n")  # print() may be at work when the signal comes
    sys.exit(7)
signal.signal(signal.SIGTERM, goodbye)
print("began", flush=True)
while True:
    time.sleep(0.01)  # a signal that comes just before a sleep begins is seen at its end
"""
    cancelled = threading.Event()
    came = bytearray()

    def take(block: bytes) -> None:
        came.extend(block)
        if b"began" in came:
            cancelled.set()

    done = run(level, code, cancelled=cancelled, on_output=take)
    assert bytes(came) == b"began\ngoodbye\n", done
    assert (done.how, done.exit_code, done.asked) == ("exited", 7, True)


class Quick(Tool):
    """A program of this process's own, which is not held."""

    def processes(self) -> list[int]:
        return [self.pid]

    def reaped_s(self) -> float:
        return 0.0

    def peak_bytes(self) -> int:
        return 0

    def end(self) -> int | None:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_program_that_ended_in_time_has_its_outcome_also_where_it_is_looked_at_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look at its bounds can take so long, on a busy machine, that the time is over with it."""
    look = Usage.look

    def slow(usage: Usage) -> str | None:
        time.sleep(0.4)
        return look(usage)

    monkeypatch.setattr(Usage, "look", slow)
    (given, gives), (hears, says) = os.pipe(), os.pipe()
    os.write(gives, GO + GO_HEAD.pack(0.3, 30.0, 0, 0))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(["/bin/sleep", "0.1"], **pipes) as program:
        ends = [os.dup(each.fileno()) for each in (program.stdin, program.stdout, program.stderr) if each]
        order = SimpleNamespace(limits=Limits().as_dict(), marks=False)
        watch = Watch(cast(Any, order), Quick(program.pid, *ends), Channel(given, says))
        watch.run()
        program.returncode = 0
    for each in (given, gives, hears, says, *ends[1:]):
        os.close(each)
    assert {name: watch.report[name] for name in ("how", "exit_code", "asked")} == {
        "how": "exited",
        "exit_code": 0,
        "asked": False,
    }


@EVERY
def test_a_program_that_forked_twice_and_left_its_session_is_cancelled(level: Level, run: Run) -> None:
    mark = f"mark-{level}-{time.monotonic_ns()}"
    code = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; print('began', flush=True); time.sleep(60)", MARK])
    os._exit(0)
time.sleep(60)
"""
    cancelled, asked = threading.Event(), []

    def take(block: bytes) -> None:
        assert processes_with(mark)
        asked.append(time.monotonic())
        cancelled.set()

    done = run(level, code.replace("MARK", repr(mark)), cancelled=cancelled, on_output=take)
    assert done.how == "cancelled"
    assert not processes_with(mark)
    assert time.monotonic() - asked[0] < 2.0


@EVERY
def test_what_it_used_is_counted(level: Level, run: Run) -> None:
    code = """
import time
held = bytearray(64 << 20)
held[::4096] = b"x" * len(held[::4096])
open("file", "wb").write(b"x" * (8 << 20))
while time.process_time() < 0.5:
    pass
"""
    resources = run(level, code).resources
    # What Python takes to start is on top.
    assert 500 <= resources["cpu_ms"] < 1000
    assert 64 << 20 <= resources["max_memory_bytes"] < 80 << 20
    assert 8 << 20 <= resources["disk_bytes"] < 9 << 20


def test_a_word_with_a_nul_is_no_launch() -> None:
    for bad in ({"environment": {"A": "\0--bind"}}, {"cwd": "/\0"}, {"mounts": (Mount("/usr", "/\0"),)}):
        with pytest.raises(ValueError, match="NUL"):
            Launch(argv=["/bin/true"], level=Level.ISOLATED, **bad)  # type: ignore[arg-type]


@EVERY
def test_the_end_of_the_log_is_kept(level: Level, run: Run) -> None:
    code = "import sys\nfor number in range(100_000): print('line', number, file=sys.stderr)"
    done = run(level, code, log_bytes=1000)
    assert len(done.log) == 1000
    assert done.log.endswith(b"line 99999\n")


@EVERY
def test_a_program_that_is_not_there_ends_as_a_shell_says_it(level: Level, run: Run) -> None:
    done = run(level, ["/usr/bin/no-such-program"])
    assert (done.how, done.exit_code) == ("exited", 127)


def test_what_takes_the_output_may_fail_and_the_program_ends(run: Run) -> None:
    def take(block: bytes) -> None:
        raise RuntimeError("full")

    mark = f"mark-{time.monotonic_ns()}"
    with pytest.raises(RuntimeError, match="full"):
        run(Level.ISOLATED, "import time; print('x', flush=True); time.sleep(60)", mark, on_output=take)
    assert not processes_with(mark)


def test_a_python_of_the_hub_is_held_before_its_code_runs() -> None:
    """Its way in is another one than that of other programs, without a shell."""
    code = """
import json, os, resource, sys
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
limits = [resource.getrlimit(each)[1] for each in (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE)]
print(json.dumps([limits, status["Seccomp"], sorted(os.listdir("/proc/self/fd"))[:-1], sys.stdin.read(), os.getpid()]))
"""
    launch = Launch(
        argv=[interpreter(), "-I", "-S", "-c", code],
        level=Level.ISOLATED,
        stdin=b"given",
        mounts=interpreter_mounts(),
        limits=Limits(processes=17, open_files=33),
        prepare="import json",
    )
    done = sandbox_run(launch, threading.Event())
    assert json.loads(done.stdout) == [[17, 33], "2", ["0", "1", "2"], "given", 2], done.log
