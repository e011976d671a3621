"""Node packages of a release: `npm ci` from a lock with hashes, in the sandbox. Nothing of theirs is run."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from threading import Event

from django.conf import settings

from core.errors import InvalidRequest, ToolHubError
from core.json.canonical import canonical
from core.program_bounds import Bounds
from core.programs import Ended, program_run
from registry.scratch import folder_bytes
from security.sandbox import gate_place
from security.sandbox.launch import MIB, WORK, Finished, Launch, Limits, Mount
from security.sandbox.levels import Level
from security.sandbox.probes import level_choose, probe
from security.sandbox.run import sandbox_run
from toolhub_sdk.checks.node import LOCK, PACKAGE, UnfitLock, node_lock_named, node_packages
from toolhub_sdk.normal_form import url_split

PATH = "/usr/local/bin:/usr/bin:/bin"
BYTES_MAX = 1024 * MIB
BUILD_S = 600.0
MODULES = "node_modules"
_BUILD = "/build"
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
_LIMITS = Limits(wall_s=BUILD_S, memory_bytes=1024 * MIB, disk_bytes=64 * MIB, artefacts=0)


def is_node(lock: str) -> bool:
    """Whether the lock of a release is one of Node packages; others begin with no brace."""
    return lock.startswith("{")


def node_lock_make(path: str, contents: Mapping[str, bytes]) -> str:
    """The text of a release's lock, empty where it names no package. Raises REQUIREMENTS_REFUSED."""
    try:
        read = node_lock_named(path, contents)
    except UnfitLock as error:
        at = [{"pointer": "/runtime/requires", "message": f"{error}."}]
        raise InvalidRequest(f"{error}.", code="REQUIREMENTS_REFUSED", errors=at) from error
    return canonical(read).decode() if node_packages(read) else ""


def node_names(lock: str) -> list[str]:
    """`name@version` of each package of a lock."""
    return node_packages(json.loads(lock))


def node_fill(new: Path, lock: str, cancelled: Event) -> list[str]:
    """Puts the packages of a lock into `new`, as `node_modules`; what npm said.

    Raises ToolHubError DEPENDENCY_MISSING, RESOURCE_EXCEEDED, SANDBOX_UNAVAILABLE, CANCELLED.
    """
    npm, registry = _npm(), _registry(cancelled)
    level = level_choose(Level.ISOLATED)
    _files_write(new, lock)
    launch = Launch(
        argv=[npm, "ci"],
        level=level,
        mounts=[Mount(str(new), _BUILD, writable=True, most_bytes=BYTES_MAX)],
        environment=_environment(registry),
        cwd=_BUILD,
        limits=_LIMITS,
        network=[_place(registry)],
        network_bytes=BYTES_MAX,
    )
    done = sandbox_run(launch, cancelled, proc=probe(level).proc)
    _take_over(new)
    _judge(done)
    for each in new.iterdir():
        if each.name != MODULES:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    _links_refuse(new)
    return _said(done)


def node_link(release_folder: Path, environment: Path) -> None:
    """Lets the programs of an unpacked release find its packages, where Node looks for them."""
    link = release_folder / MODULES
    if not link.is_symlink():
        try:
            link.symlink_to(f"../../{environment.parent.name}/{environment.name}/{MODULES}")
        except FileExistsError:
            return


def _npm() -> str:
    found = shutil.which("npm", path=PATH)
    if found is None:
        raise ToolHubError(
            "This machine has no program 'npm'.",
            code="DEPENDENCY_MISSING",
            suggestions=["Install Node and npm on the workers' machines."],
        )
    return found


def _registry(cancelled: Event) -> str:
    """The address that packages come from: the setting's, else what npm of this machine is set to."""
    if settings.NPM_REGISTRY:
        return str(settings.NPM_REGISTRY)
    lines: list[str] = []
    ended = program_run(
        [_npm(), "config", "get", "registry"],
        seconds=30,
        cancelled=cancelled,
        on_line=lines.append,
        bounds=Bounds(memory_bytes=512 * MIB, cpu_s=20, tasks=64),
        passed=("HOME", "npm_config_registry"),
    )
    if ended is not Ended.WELL or not lines:
        raise ToolHubError("npm does not say where packages come from.", code="DEPENDENCY_MISSING")
    return lines[-1].strip()


def _place(registry: str) -> str:
    """`host:port` of an address. Raises ToolHubError."""
    parts = url_split(registry)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ToolHubError(
            "The address of the registry of Node packages is none of http or https.",
            code="DEPENDENCY_MISSING",
            suggestions=["An admin sets TOOLHUB_NPM_REGISTRY."],
        )
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _files_write(new: Path, lock: str) -> None:
    """What npm reads: the lock, and a package.json that asks for what the lock holds and nothing else."""
    read = json.loads(lock)
    package = {"name": "release", "version": "1.0.0", **read["packages"][""]}
    made = {LOCK: {"name": package["name"], "version": package["version"], **read}, PACKAGE: package}
    for name, content in made.items():
        (new / name).write_text(json.dumps(content), encoding="utf-8")


def _environment(registry: str) -> dict[str, str]:
    options = {
        "registry": registry,
        "cache": f"{_BUILD}/.npm",
        "userconfig": f"{WORK}/none",
        "globalconfig": f"{WORK}/none-global",
        "ignore_scripts": "true",
        "omit": "dev",
        "bin_links": "false",
        "audit": "false",
        "fund": "false",
        "update_notifier": "false",
        "logs_max": "0",
        "proxy": gate_place.ADDRESS,
        "https_proxy": gate_place.ADDRESS,
    }
    if os.path.exists(_CERTIFICATES):
        options["cafile"] = _CERTIFICATES
    named = {f"npm_config_{name}": value for name, value in options.items()}
    return {"PATH": PATH, "HOME": WORK, "TMPDIR": WORK, "LANG": "C.UTF-8", **named}


def _take_over(new: Path) -> None:
    """Where each run has a user of its own, what it wrote becomes the worker's: that user comes again."""
    if os.geteuid() != 0:
        return
    for path, folders, files in os.walk(new):
        for name in (".", *folders, *files):
            os.lchown(os.path.join(path, name), 0, 0)


def _judge(done: Finished) -> None:
    if done.how == "exited" and done.exit_code == 0:
        return
    if done.how == "cancelled":
        raise ToolHubError("The installation was cancelled.", code="CANCELLED")
    if done.how in {"folder", "disk", "memory"}:
        raise ToolHubError(
            f"The Node packages take more {'memory' if done.how == 'memory' else 'room'} than they may.",
            code="RESOURCE_EXCEEDED",
            suggestions=["Ask for fewer or smaller packages."],
        )
    why = "took too long" if done.how == "timeout" else "failed"
    raise ToolHubError(
        f"Getting the Node packages {why}.", code="DEPENDENCY_MISSING", data={"said": _said(done)}
    )


def _said(done: Finished) -> list[str]:
    lines = (done.stdout + b"\n" + done.log).decode(errors="replace").splitlines()
    refused = [
        f"{each.host}:{each.port} was refused: {each.why}" for each in done.reached if not each.allowed
    ]
    return [line for line in lines if line.strip()][-20:] + refused


def _links_refuse(new: Path) -> None:
    """A link would lead out of what the lock's hashes hold. npm makes none here."""
    for path, folders, files in os.walk(new):
        if any(os.path.islink(os.path.join(path, name)) for name in (*folders, *files)):
            raise ToolHubError("A Node package brings a link.", code="PACKAGE_REFUSED")
    if folder_bytes(new, BYTES_MAX) > BYTES_MAX:
        raise ToolHubError("The Node packages take more room than they may.", code="RESOURCE_EXCEEDED")
