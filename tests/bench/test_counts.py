"""The bench fails when rows do not equal calls, and tells nothing of the machine."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bench.database import kept, sqlite_number
from bench.process_tree import OTHERS, cpu_s, pss_mb
from bench.server import last_words


def ledger(file: Path, *outcomes: int) -> Path:
    """A database with a run, an attempt and an accepted event for each number, and so many outcomes.

    Each second run is brief: it has its attempt in its own row.
    """
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE execution_run (id, status, is_brief)")
        connection.execute("CREATE TABLE execution_attempt (run_id)")
        connection.execute("CREATE TABLE audit_event (kind, run_id)")
        for run, count in enumerate(outcomes):
            brief = run % 2
            connection.execute("INSERT INTO execution_run VALUES (?, 'completed', ?)", [run, brief])
            if not brief:
                connection.execute("INSERT INTO execution_attempt VALUES (?)", [run])
            events = ["run.accepted", *["run.outcome"] * count]
            connection.executemany("INSERT INTO audit_event VALUES (?, ?)", [(kind, run) for kind in events])
    return file


def test_equal_counts_are_no_fault(tmp_path: Path) -> None:
    assert kept(sqlite_number(ledger(tmp_path / "l", 1, 1, 1))).faults(3) == []


def test_a_call_without_a_row_is_a_fault_in_every_count(tmp_path: Path) -> None:
    faults = kept(sqlite_number(ledger(tmp_path / "l", 1, 1))).faults(3)
    assert len(faults) == 5
    assert "3 calls were answered 200, but there are 2 attempts." in faults


def test_two_outcomes_of_one_run_do_not_make_up_for_a_missing_one(tmp_path: Path) -> None:
    assert kept(sqlite_number(ledger(tmp_path / "l", 2, 0, 1))).faults(3) == [
        "3 calls were answered 200, but there are 1 runs with exactly one outcome in the ledger."
    ]


def test_last_words_name_no_place_of_the_machine(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f'File "{tmp_path}/settings.py", line 1\nno such file: {Path.home() / "x" / "key"}\n')
    assert last_words(log) == '  File "settings.py", line 1\n  no such file: key'


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="PSS is told by Linux only")
def test_memory_of_this_process_lies_between_its_private_part_and_its_resident_size() -> None:
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    assert 10 < pss_mb(os.getpid())[OTHERS] <= resident * 1.2


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc is Linux's")
def test_processor_time_of_a_tree_is_what_the_system_counts() -> None:
    """Of a process, of a child that has ended and of one that is there: each works for so long."""
    code = """
import os, sys, time
def work():
    while time.process_time() < 0.2:
        pass
if os.fork() == 0:
    work()
    os._exit(0)
os.wait()
if os.fork() == 0:
    work()
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)
work()
print("ready", flush=True)
os.wait()
"""
    command = [sys.executable, "-I", "-S", "-c", code]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    with process.stdin, process.stdout:
        assert [process.stdout.readline(), process.stdout.readline()] == [b"ready\n"] * 2
        told = cpu_s(process.pid)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    # /proc tells four numbers of each in whole ticks.
    assert 0.6 - 0.08 <= told <= used.ru_utime + used.ru_stime + 0.02
    assert status == 0
