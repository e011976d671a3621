"""`manage.py up` as a newcomer meets it: the printed call, Ctrl-C, a killed worker, a taken port."""

import json
import os
import queue
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from bench.process_tree import pss_mb
from tests.migrated import migrated_copy

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0

pytestmark = [pytest.mark.setup, pytest.mark.timeout(600)]


class Hub:
    """A hub started by `manage.py up`, its output line by line."""

    def __init__(self, data: Path, port: int, *command: str) -> None:
        clean = {
            k: v for k, v in os.environ.items() if not k.startswith(("TOOLHUB_", "DJANGO_", "PROMETHEUS_"))
        }
        self.port = port
        self.seen: list[str] = []
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            command or (sys.executable, "manage.py", "up", "--port", str(port)),
            cwd=ROOT,
            env={**clean, "TOOLHUB_DATA": str(data)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first line, from here on, in which the pattern is found."""
        deadline = time.monotonic() + PATIENCE_S
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self.lines.get(timeout=left)
            except queue.Empty:
                break
            if line is None:
                break
            self.seen.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"{pattern!r} was not said. Said was:\n" + "\n".join(self.seen))

    def rest(self) -> str:
        """What is still said until the end."""
        while (line := self.lines.get(timeout=PATIENCE_S)) is not None:
            self.seen.append(line)
        return "\n".join(self.seen)

    def members(self) -> list[int]:
        """Every process of this hub, found by the data folder in its environment."""
        return members_of(self.data_mark)

    @property
    def data_mark(self) -> bytes:
        return f"TOOLHUB_DATA={self.data}\0".encode()

    data: Path


def members_of(mark: bytes) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes() and b") Z " not in (process / "stat").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def gone(hub: Hub) -> bool:
    """Whether every process of the hub has ended, looked at until it is so."""
    deadline = time.monotonic() + PATIENCE_S
    while hub.members() and time.monotonic() < deadline:
        select_pause()
    return not hub.members()


def select_pause() -> None:
    """Between two looks at /proc, which has no event to wait for."""
    threading.Event().wait(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def hub(data: Path, port: int, *command: str) -> Iterator[Hub]:
    started = Hub(data, port, *command)
    started.data = data
    try:
        yield started
    finally:
        started.process.send_signal(signal.SIGTERM)
        try:
            started.process.wait(PATIENCE_S)
        finally:
            for pid in started.members():
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder whose database has its tables, where they can be had: to make them takes longer than all else.

    The first test has none.
    """
    migrated_copy(tmp_path / "data" / "toolhub.sqlite3")
    return tmp_path / "data"


def test_the_printed_call_works_and_ctrl_c_leaves_nothing_and_the_second_start_keeps_everything(
    tmp_path: Path,
) -> None:
    data, port = tmp_path / "data", free_port()
    with hub(data, port) as first:
        first.wait_for(rf"ToolHub answers at http://127\.0\.0\.1:{port}$")
        first.wait_for(r"admin with the password \S+")
        curl = first.wait_for(r"^curl .*$").group()
        answer = subprocess.run(shlex.split(curl), capture_output=True, text=True, check=True, timeout=60)
        result = json.loads(answer.stdout)
        assert (result["success"], result["data"]) == (True, {"text": "hello"})
        assert (data.stat().st_mode & 0o777, (data / "demo_token").stat().st_mode & 0o777) == (0o700, 0o600)
        assert len(first.members()) >= 7  # supervisor, and three programs under their guards
        # They share what they have loaded: each by itself they would take more than twice as much.
        assert 50 < sum(pss_mb(first.process.pid).values()) < 300
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as metrics:
            assert b'toolhub_runs_accepted_total{where="inline"} 1.0' in metrics.read()
        with ExitStack() as slow:
            for _ in range(100):
                connection = slow.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
                connection.sendall(
                    b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na"
                )
            for path in ("livez", "readyz", "sign-in/"):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
                    assert answer.status == 200
        first.process.send_signal(signal.SIGINT)
        assert first.process.wait(PATIENCE_S) == 0
        assert gone(first)
        assert "Traceback" not in first.rest()
    with hub(data, port) as second:
        token = re.search(r"thp_[\w-]+", curl)
        assert token
        assert second.wait_for(r"^curl .*$").group() == curl.replace(token.group(), "$TOKEN")
        assert token.group() not in "\n".join(second.seen)
        assert "shown this once" not in "\n".join(second.seen)


def test_a_killed_worker_is_started_again_and_said(data: Path) -> None:
    with hub(data, free_port()) as running:
        running.wait_for(r"^curl ")
        workers = [pid for pid in running.members() if is_main(pid, "worker")]
        assert len(workers) == 1
        os.kill(workers[0], signal.SIGKILL)
        running.wait_for(r"^worker ended by SIGKILL; starting it again in 1 s\.$")
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            again = [pid for pid in running.members() if is_main(pid, "worker")]
            if again and again != workers:
                break
            select_pause()
        assert len(again) == 1
        assert again != workers


def test_a_killed_guard_takes_its_program_with_it_and_both_are_started_again(data: Path) -> None:
    with hub(data, free_port()) as running:
        running.wait_for(r"^curl ")
        [steward] = [pid for pid in running.members() if is_main(pid, "steward")]
        os.kill(parent_of(steward), signal.SIGKILL)
        running.wait_for(r"^steward ended by SIGKILL; starting it again in 1 s\.$")
        assert steward not in running.members()
        deadline = time.monotonic() + PATIENCE_S
        while not any(is_main(pid, "steward") for pid in running.members()) and time.monotonic() < deadline:
            select_pause()
        assert any(is_main(pid, "steward") for pid in running.members())


def test_a_hub_that_is_killed_while_it_prepares_leaves_nothing(tmp_path: Path) -> None:
    with hub(tmp_path / "data", free_port()) as running:
        deadline = time.monotonic() + PATIENCE_S
        while not any(called(pid) == "prepare" for pid in running.members()):
            assert time.monotonic() < deadline
            select_pause()
        running.process.kill()
        running.process.wait(PATIENCE_S)
        assert gone(running)


def test_what_is_loaded_before_the_fork_starts_no_thread_and_opens_nothing(tmp_path: Path) -> None:
    code = """
import os, django
before = set(os.listdir("/proc/self/fd"))
django.setup()
from django.db import connections
from toolhub.processes.loading import load
load()
opened = [one for one in connections.all(initialized_only=True) if one.connection is not None]
print(len(os.listdir("/proc/self/task")), sorted(set(os.listdir("/proc/self/fd")) - before), opened)
"""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLHUB_", "PROMETHEUS_"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**clean, "DJANGO_SETTINGS_MODULE": "toolhub.settings", "TOOLHUB_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    assert done.stdout == "1 [] []\n"


def is_main(pid: int, name: str) -> bool:
    """Whether the process is the one that a guard started, not one of its own."""
    try:
        return (called(pid), called(parent_of(pid))) == (name, "guard")
    except OSError:
        return False


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def called(pid: int) -> str:
    """What the kernel calls a process; nothing where it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def test_a_killed_supervisor_takes_everything_with_it(data: Path) -> None:
    with hub(data, free_port()) as running:
        running.wait_for(r"^curl ")
        running.process.kill()
        running.process.wait(PATIENCE_S)
        assert gone(running)


def test_ctrl_c_through_make_leaves_nothing(data: Path) -> None:
    """A terminal sends SIGINT to the whole foreground group: make, its shell and the hub."""
    port = free_port()
    with hub(data, port, "make", "run", f"PORT={port}", f"TOOLHUB_DATA={data}") as running:
        running.wait_for(r"^curl ")
        os.killpg(running.process.pid, signal.SIGINT)
        running.process.wait(PATIENCE_S)
        assert gone(running)
        assert "Traceback" not in running.rest()


def test_a_taken_port_is_a_sentence_that_names_who_has_it(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with hub(tmp_path / "data", port) as refused:
            assert refused.process.wait(PATIENCE_S) == 1
            said = refused.rest()
    assert re.search(
        rf"Port {port} is taken by \S+ \(process {os.getpid()}\)\. Stop that, or choose another", said
    )
    assert f"make run PORT={port + 1}" in said
    assert "Traceback" not in said


def test_a_data_folder_serves_one_hub_at_a_time(data: Path) -> None:
    with hub(data, free_port()) as first:
        first.wait_for(r"^curl ")
        with hub(data, free_port()) as second:
            assert second.process.wait(PATIENCE_S) == 1
            assert f"is in use by another ToolHub (process {first.process.pid})" in second.rest()
            # Looked at here: whoever leaves a hub ends all processes of its data folder.
            assert first.process.poll() is None


def test_a_bad_setting_is_a_sentence(tmp_path: Path) -> None:
    command = ("env", "TOOLHUB_WORKERS=many", sys.executable, "manage.py", "up", "--port", str(free_port()))
    with hub(tmp_path / "data", 0, *command) as refused:
        assert refused.process.wait(PATIENCE_S) == 1
        said = refused.rest()
    assert "TOOLHUB_WORKERS" in said
    assert "Traceback" not in said
