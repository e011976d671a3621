"""A guard asks its program once, whoever else signals it, and kills it when the supervisor asks again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Needs half a second for its last words.
POLITE = """
import signal, sys, time
def end(*_):
    time.sleep(0.5)
    print("goodbye", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
time.sleep(60)
"""
SUPERVISOR = """
import os, select, signal, sys
from toolhub.processes.child import Child
from toolhub.processes.plan import Plan, Program
program = Program("polite", [sys.executable, "-m", "polite"])
child = Child(program, Plan([program], "127.0.0.1", 1, ""))
child.start()
said = []
def hear():
    select.select([child.output], [], [], 60)
    said.extend(child.read())
while "ready" not in said:
    hear()
for way in sys.argv[1:]:
    os.kill(child.pid, signal.SIGTERM) if way == "signalled" else child.ask_to_stop()
while child.is_running():
    hear()
print(*said, *child.read(rest=True), child.ended())
"""


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        (["asked"], "ready goodbye 0"),
        (["signalled"], "ready goodbye 0"),
        # As systemd does by default (KillMode=control-group): supervisor, guard and program are signalled.
        (["signalled", "asked"], "ready goodbye 0"),
        (["signalled", "signalled", "asked", "signalled"], "ready goodbye 0"),
        (["asked", "asked"], f"ready {128 + signal.SIGKILL}"),
    ],
)
def test_a_program_is_killed_only_when_the_supervisor_asks_twice(
    tmp_path: Path, ways: list[str], said: str
) -> None:
    (tmp_path / "polite.py").write_text(POLITE)
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISOR, *ways],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == said
