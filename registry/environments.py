"""A release's own environment: locked wheels with hashes, in a folder named by the lock.

Requirements are names by PEP 508 and nothing else (toolhub_sdk/checks/requirements.py); only wheels are
taken, so that nothing of a package runs while it is installed. Node packages (node_environments.py) have
their folders here, too.
"""

import hashlib
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Event

import uv
from django.conf import settings

from core.errors import InvalidRequest, ToolHubError
from core.program_bounds import MIB, Bounds
from core.programs import OVER, Ended, lacks_room, program_run
from registry.node_environments import is_node, node_fill, node_names
from registry.scratch import folder_bytes, scratch
from registry.store import folder_make
from security.sandbox.fence import fenced
from toolhub_sdk.checks.requirements import RequirementsError, is_locked
from toolhub_sdk.checks.requirements import requirements_read as sdk_read

ENVIRONMENTS = "environments"
BYTES_MAX = 1024 * 1024 * 1024
LOCK_S = 120.0
BUILD_S = 600.0
# uv has a thread for each processor, and some more.
_BOUNDS = Bounds(memory_bytes=1024 * MIB, cpu_s=300, tasks=512)
_ONLY = ("--no-config", "--color", "never", "--no-progress", "--only-binary", ":all:")
# A path of this machine among addresses.
_PATH = re.compile(r"(?:^|[\s,=:]|file://)(/[^/\s,:][^\s,:]*)")
_PASSED = ("UV_", "SSL_CERT_", "HTTPS_PROXY", "https_proxy")
Say = Callable[[str], None]


def requirements_read(text: str) -> list[str]:
    """The requirements of a file, each on one line in normal form, with its hashes.

    Raises ToolHubError REQUIREMENTS_REFUSED for options, addresses, paths and anything that is no PEP 508
    name.
    """
    try:
        return sdk_read(text)
    except RequirementsError as error:
        raise InvalidRequest(
            str(error),
            code="REQUIREMENTS_REFUSED",
            data={"line": error.line},
            errors=[{"pointer": "/runtime/requires", "message": str(error)}],
        ) from error


def lock_make(requirements: list[str], *, say: Say, cancelled: Event) -> str:
    """The text of a lock for the requirements: their own when they are locked, else what uv resolves now.

    Raises ToolHubError DEPENDENCY_MISSING when they cannot be resolved, CANCELLED.
    """
    if is_locked(requirements):
        return "\n".join(sorted(requirements)) + "\n"
    lines: list[str] = []
    command = ("pip", "compile", "-", "--generate-hashes", "--no-header", "--no-annotate", "--quiet")
    # Markers are judged for the Python that will run the tools.
    python = ("--python", sys.executable)
    _uv(
        (*command, *python, "--no-emit-index-url", "--no-emit-find-links", *_ONLY),
        given="\n".join(requirements) + "\n",
        seconds=LOCK_S,
        say=lines.append,
        complain=say,
        cancelled=cancelled,
    )
    return "\n".join(sorted(requirements_read("\n".join(lines)))) + "\n"


def environment_name(lock: str) -> str:
    """Names the environment of a lock on machines like this one: 64 hex digits; empty for an empty lock."""
    if not lock.strip():
        return ""
    language = "node" if is_node(lock) else sys.implementation.cache_tag
    return hashlib.sha256(f"{language} {sysconfig.get_platform()}\n{lock}".encode()).hexdigest()


def dependencies_of(lock: str) -> list[str]:
    """The packages of a lock, each by name and version."""
    return node_names(lock) if is_node(lock) else [line.split(" ", 1)[0] for line in lock.splitlines()]


def environment_place(lock: str) -> Path:
    """Where this machine has the environment of a lock, or will have it."""
    place: Path = settings.DATA / ENVIRONMENTS / environment_name(lock)
    return place


def environment_build(lock: str, *, say: Say, cancelled: Event) -> Path:
    """Makes the environment of a lock, unless it is there.

    Raises ToolHubError DEPENDENCY_MISSING, RESOURCE_EXCEEDED, CANCELLED, and for Node packages
    SANDBOX_UNAVAILABLE.
    """
    folder = environment_place(lock)
    if folder.is_dir():
        return folder

    def fill(new: Path) -> None:
        if is_node(lock):
            for line in node_fill(new, lock, cancelled):
                say(line)
        else:
            wheels(new)
        say(f"The environment has {folder_bytes(new, BYTES_MAX):,} bytes.")

    def wheels(new: Path) -> None:
        command = ("pip", "install", "--target", str(new), "--require-hashes", "--no-deps", "-r", "-")
        made = ("--python", sys.executable, "--link-mode", "copy", *_ONLY)
        _uv(
            (*command, *made),
            given=lock,
            seconds=BUILD_S,
            say=say,
            complain=say,
            cancelled=cancelled,
            made=new,
        )
        for extra in ("bin", ".lock"):
            shutil.rmtree(new / extra, ignore_errors=True)
        if folder_bytes(new, BYTES_MAX) > BYTES_MAX:
            raise _too_large()

    return folder_make(folder, fill)


def _named(environment: Mapping[str, str]) -> list[str]:
    """The files and folders that an admin's variables for uv name: certificates, packages on this machine."""
    values = [value for name, value in environment.items() if name.startswith(_PASSED)]
    return [os.path.realpath(path) for value in values for path in _PATH.findall(value)]


def _too_large() -> ToolHubError:
    return ToolHubError(
        f"The dependencies take more than {BYTES_MAX} bytes.",
        code="RESOURCE_EXCEEDED",
        suggestions=["Ask for fewer or smaller packages."],
    )


def _uv(
    arguments: tuple[str, ...],
    *,
    given: str,
    seconds: float,
    say: Say,
    complain: Say,
    cancelled: Event,
    made: Path | None = None,
) -> None:
    """Runs uv without a cache that would grow: what it fetches, and `made`, stay within BYTES_MAX each.

    It runs nothing of a package, but reads what an index sends. So it may write in these two folders alone,
    and read nothing of the hub.
    """
    told: list[str] = []

    def keep(line: str) -> None:
        told.append(line)
        complain(line)

    with scratch(settings.DATA / ENVIRONMENTS, "uv") as temporary:
        folders = [temporary, *([made] if made else [])]
        ended = program_run(
            fenced(
                [uv.find_uv_bin(), "--no-cache", *arguments],
                read=[sys.prefix, sys.base_prefix, *_named(os.environ)],
                write=map(str, folders),
            ),
            given=given.encode(),
            seconds=seconds,
            on_line=say,
            on_error=keep,
            cancelled=cancelled,
            environment={"TMPDIR": str(temporary)},
            passed=_PASSED,
            bounds=_BOUNDS,
            is_large=lambda: any(folder_bytes(one, BYTES_MAX) > BYTES_MAX for one in folders),
        )
    if ended is Ended.CANCELLED:
        raise ToolHubError("The installation was cancelled.", code="CANCELLED")
    if ended is Ended.LARGE:
        raise _too_large()
    if ended in OVER:
        raise ToolHubError(
            f"uv used {OVER[ended]} for the dependencies than the hub gives it.",
            code="RESOURCE_EXCEEDED",
            suggestions=["Ask for fewer or smaller packages."],
            data={"resource": ended.value, "bounds": asdict(_BOUNDS)},
        )
    if ended is not Ended.WELL and lacks_room(told):
        raise ToolHubError("The hub's disk has no room left.", code="RESOURCE_EXCEEDED")
    if ended is not Ended.WELL:
        why = "took too long" if ended is Ended.LATE else "failed"
        raise ToolHubError(
            f"Getting the dependencies {why}.", code="DEPENDENCY_MISSING", data={"said": told[-20:]}
        )
