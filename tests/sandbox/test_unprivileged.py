"""A worker as it is in production: an ordinary user without any capability, whoever runs these tests."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from security.sandbox import native
from security.sandbox.supervisor.identity import identity_take

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(300)]
SOMEBODY = 54_321
PROGRAMS = (
    "read_the_hub",
    "read_other_work",
    "write_outside",
    "write_the_interpreter",
    "connect_tcp",
    "connect_abstract",
    "trace_another",
    "kill_another",
    "signal_another_by_a_file",
    "limit_another",
    "change_modes",
    "watch_files",
    "datagrams_of_a_pair",
    "read_environments",
    "privileges",
    "namespaces",
    "many_processes",
    "memory_of_many",
    "daemon",
    "nameless_files",
    "page_tables",
    "socket_buffers",
    "connection_buffers",
    "many_mappings",
    "slow_to_look_at",
)
LEVELS = ("isolated", "confined", "isolated forked")
PROBES = """
import json, os, sys
sys.path.insert(0, os.getcwd())
os.environ["DJANGO_SETTINGS_MODULE"] = "toolhub.settings"
import django
django.setup()
from security.sandbox.doctor import diagnose
print(json.dumps({"user": os.geteuid(), **diagnose().as_dict()}))
"""
Ask = Callable[..., str]


@pytest.fixture
def somebody(tmp_path: Path) -> Ask:
    """Runs a Python as that user. With `masked` its /proc is as a container's is."""
    tmp_path.chmod(0o777)
    root = os.geteuid() == 0

    def become(masked: bool) -> None:
        if masked:
            native.unshare(native.CLONE_NEWNS)
            native.mount("none", "/", flags=native.MS_REC | native.MS_SLAVE)
            native.mount("/dev/null", "/proc/interrupts", flags=native.MS_BIND)
        needed = [sys.base_prefix, sys.prefix, str(settings.ROOT), str(tmp_path)]
        identity_take(SOMEBODY, [os.path.realpath(each) for each in needed], [])

    def do(*words: str, masked: bool = False) -> str:
        done = subprocess.run(
            [sys.executable, "-B", *words],
            cwd=settings.ROOT,
            env={"PATH": os.environ["PATH"], "TOOLHUB_DATA": str(tmp_path), "TOOLHUB_DEBUG": "on"},
            preexec_fn=(lambda: become(masked)) if root else None,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (done.stdout[-6000:], done.stderr[-1000:])
        return done.stdout

    return do


def test_programs_are_held_for_a_worker_without_privileges(somebody: Ask) -> None:
    file = "tests/sandbox/test_hostile.py::test_a_hostile_program"
    tries = [f"{file}[{name}-{level}]" for level in LEVELS for name in PROGRAMS]
    honest = [
        f"tests/sandbox/test_bounds.py::test_an_honest_program_does_what_programs_do[{level}]"
        for level in LEVELS[:2]
    ]
    said = somebody("-m", "pytest", "-q", "-m", "hostile", "-p", "no:cacheprovider", *tries, *honest)
    assert f"{len(tries) + 2} passed" in said


@pytest.mark.parametrize("masked", [False, True])
def test_the_doctor_of_such_a_worker(somebody: Ask, masked: bool) -> None:
    """Where /proc is masked, as in a pod, the sandbox is made without it."""
    if masked and os.geteuid() != 0:
        pytest.skip("only root can mask /proc")
    found: dict[str, Any] = json.loads(somebody("-c", PROBES, masked=masked))
    isolated, confined, _ = found["levels"]
    assert found["user"] != 0
    assert (isolated["holds"], isolated["proc"], confined["holds"]) == (True, not masked, True), found
    assert found["facts"]["worker's user"] == "unprivileged, and so are the tools"
    assert {each["name"]: each["holds"] for each in found["abilities"]}["forked calls"] is True
