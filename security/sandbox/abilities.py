"""What this machine can do beside its levels: forked calls, hosts to reach, packages, what runtimes need."""

import functools
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from core.errors import ToolHubError
from security.sandbox.cgroups import CONTROLLERS, delegation
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.landlock import landlock_version
from security.sandbox.launch import Launch, Limits
from security.sandbox.levels import Level
from security.sandbox.probes import probe
from security.sandbox.remedies import LANDLOCK, SEE
from security.sandbox.run import Held

PROGRAMS = "/usr/local/bin:/usr/bin:/bin"
_NODE = "Install Node and npm on the workers' machines; only tools with packages of Node need them."
_DELEGATE = "With systemd: `Delegate=cpu memory pids` and `DelegateSubgroup=hub` in the worker's unit."
_ALLOW_GROUPS = "Unset `TOOLHUB_CGROUP`."
_LOOKS: "list[Callable[[], Ability | None]]" = []
_NAME_GROUP = "Elsewhere: give the worker's user a folder of the tree, and name it in `TOOLHUB_CGROUP`."


@dataclass(frozen=True)
class Ability:
    """One of them: whether it is there, what it is made of or why not, and what would help."""

    name: str
    holds: bool
    said: str
    remedies: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For `doctor --json`."""
        return {**vars(self), "remedies": list(self.remedies)}


def abilities() -> list[Ability]:
    """All of them, each tried."""
    return [
        ability_try("forked calls", _forked),
        ability_try("hosts to reach", _network),
        _wheels(),
        _node(),
        _groups(),
        *(found for look in _LOOKS if (found := look())),
    ]


def ability_register(look: Callable[[], Ability | None]) -> None:
    """Makes known what upper layers need of a machine; called when Django starts."""
    _LOOKS.append(look)


def _wheels() -> Ability:
    if landlock_version():
        return Ability("wheels", True, "uv gets them, held by Landlock to the folders that it makes")
    said = "uv gets them with all rights of the worker: this kernel has no Landlock"
    return Ability("wheels", False, said, (LANDLOCK,))


def _node() -> Ability:
    found = [shutil.which(name, path=PROGRAMS) for name in ("node", "npm")]
    if all(found):
        return Ability("node packages", True, "npm gets them, in a sandbox that reaches the registry alone")
    return Ability("node packages", False, "node or npm is not installed", (_NODE,))


def _groups() -> Ability:
    found = delegation()
    if found.folder is None:
        said = f"{found.why}; what the kernel keeps for a run is counted from outside"
        helps = (_ALLOW_GROUPS,) if settings.CGROUP == "off" else (_DELEGATE, _NAME_GROUP)
        return Ability("control groups", False, said, (*helps, SEE))
    missing = [name for name in CONTROLLERS if name not in found.controllers]
    if missing:
        said = f"each run has one, without {', '.join(missing)}"
        return Ability("control groups", False, said, (_DELEGATE, SEE))
    return Ability("control groups", True, "each run has one, which bounds its memory, processes and cores")


def ability_try(name: str, act: Callable[[], str]) -> Ability:
    """The ability that an act needs: what it returns says what that is made of, its ToolHubError why not."""
    try:
        return Ability(name, True, act())
    except ToolHubError as error:
        probes = error.data.get("probes") or [{"reason": error.data.get("why") or error.message}]
        return Ability(name, False, str(probes[0]["reason"])[:500], tuple(error.suggestions))


@functools.cache
def _forked() -> str:
    """One started Python serves a release's calls."""
    _isolated_run(Held(_launch(prepare="import json"), proc=probe(Level.ISOLATED).proc, lasts=True))
    return "one started Python serves a release's calls, each by a process with namespaces of its own"


@functools.cache
def _network() -> str:
    _isolated_run(Held(_launch(network=("example.org:443",)), proc=probe(Level.ISOLATED).proc))
    return "through the hub's proxy, from a network of the tool's own"


def _isolated_run(held: Held) -> None:
    try:
        held.go(_launch())
        done = held.finish(threading.Event(), None)
    finally:
        held.close()
    if (done.how, done.exit_code) != ("exited", 0):
        raise ToolHubError(
            f"What was tried ended with {done.exit_code} ({done.how}).", code="SANDBOX_UNAVAILABLE"
        )


def _launch(**more: Any) -> Launch:
    found = probe(Level.ISOLATED)
    if not found.holds:
        raise ToolHubError(
            "It needs the level isolated, which is missing.",
            code="SANDBOX_UNAVAILABLE",
            suggestions=list(found.remedies),
        )
    return Launch(
        argv=[interpreter(), "-I", "-S", "-c", "import sys; sys.stdin.read()"],
        level=Level.ISOLATED,
        stdin=b"x",
        mounts=interpreter_mounts(),
        limits=Limits(wall_s=10.0),
        **more,
    )
