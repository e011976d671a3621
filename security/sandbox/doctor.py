"""What this machine can hold code with, for people: the command `doctor` and the console's page."""

import os
import platform
import subprocess
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from core.errors import ToolHubError
from security.sandbox.abilities import Ability, abilities
from security.sandbox.cgroups import delegation
from security.sandbox.folders import Folder, folders
from security.sandbox.landlock import landlock_version
from security.sandbox.levels import MINIMA, Level
from security.sandbox.machine import bubblewrap, program_of
from security.sandbox.probes import Probe, level_choose, probes
from security.sandbox.seccomp import filter_hash

MADE_OF = {
    Level.ISOLATED: "bubblewrap: namespaces and a file system of its own, a system call filter, limits",
    Level.CONFINED: "Landlock, a system call filter, limits",
    Level.PROCESS: "limits and a supervisor; no defence against an attack, for reviewed releases only",
}


@dataclass(frozen=True)
class Diagnosis:
    """Every level's probe, the level that each word of a contract gets (None: refused), facts, abilities."""

    probes: list[Probe]
    given: dict[str, str | None]
    facts: dict[str, str]
    abilities: list[Ability]

    @property
    def well(self) -> bool:
        """Whether code of the usual isolation (strict) can be run."""
        return self.given["strict"] is not None

    def as_dict(self) -> dict[str, Any]:
        """For `doctor --json`."""
        levels = [each.as_dict() for each in self.probes]
        more = [each.as_dict() for each in self.abilities]
        return {
            "well": self.well,
            "levels": levels,
            "isolation": self.given,
            "abilities": more,
            "facts": self.facts,
        }


def diagnose() -> Diagnosis:
    """Tries every level, once for each process."""
    found = probes()
    return Diagnosis(found, {word: _given(level) for word, level in MINIMA.items()}, _facts(), abilities())


def _given(minimum: Level) -> str | None:
    try:
        return level_choose(minimum).value
    except ToolHubError:
        return None


def _facts() -> dict[str, str]:
    landlock = landlock_version()
    return {
        "kernel": f"{platform.system()} {platform.release()} ({platform.machine()})",
        "bubblewrap": _version(bubblewrap()),
        "landlock": f"version {landlock} of its interface" if landlock else "not there",
        "filters": _filters(),
        "worker's user": _user(),
        "process level": "on, for reviewed releases" if settings.SANDBOX_PROCESS else "off",
        "folders": _folders(),
        "cgroups": _cgroups(),
    }


def _cgroups() -> str:
    found = delegation()
    if found.folder is None:
        return f"not used ({found.why}); memory and processor time are added up over a run's processes"
    held = ", ".join(found.controllers) or "no controller, only the end of a run"
    return f"each run has a group of its own: {held}"


def _version(program: str | None) -> str:
    if program is None:
        return "not installed"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
    return done.stdout.strip() or "it does not say its version"


def _filters() -> str:
    try:
        named = [f"{level} {filter_hash(program_of(level))[:12]}" for level in Level if program_of(level)]
    except OSError as error:
        return str(error)
    return ", ".join(named)


def _folders() -> str:
    def said(one: Folder) -> str:
        rights = "read and write" if one.writable else "read"
        return f"{one.name} ({rights})" if one.is_there else f"{one.name} ({rights}, not there)"

    return ", ".join(map(said, folders().values())) or "none are named for tools"


def _user() -> str:
    if os.geteuid() != 0:
        return "unprivileged, and so are the tools"
    return (
        "root, and so are the tools" if settings.SANDBOX_AS_ROOT else "root; each run gets a user of its own"
    )
