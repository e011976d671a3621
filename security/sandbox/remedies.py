"""What helps where a level cannot be given: from what was refused and what this machine says of itself."""

import os
from pathlib import Path

from core.errors import ToolHubError
from security.sandbox.landlock import landlock_version
from security.sandbox.levels import Level
from security.sandbox.machine import bubblewrap

_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")
_MOST = Path("/proc/sys/user/max_user_namespaces")
_DOCKER, _PODMAN = Path("/.dockerenv"), Path("/run/.containerenv")
SEE = "docs/sandbox.md says how, step by step."


def remedies_of(level: Level, reason: str) -> tuple[str, ...]:
    """What an admin can do, the likeliest first."""
    if level is Level.ISOLATED:
        found = list(_isolated(reason))
    elif level is Level.CONFINED:
        found = [] if landlock_version() else [LANDLOCK]
    else:
        found = []
    if os.geteuid() == 0 and level is not Level.ISOLATED and "Operation not permitted" in reason:
        found.append(_ROOT)
    return (*found, SEE)


def start_failed(message: str) -> ToolHubError:
    """The machine did not start a tool, though it could at another time; nothing of the tool was run."""
    return ToolHubError(
        message,
        code="START_FAILED",
        retryable=True,
        suggestions=["The worker's machine is busy, or ill. Call it again: nothing of the tool was run."],
    )


LANDLOCK = "Use a kernel from 5.13 on with Landlock switched on: `lsm=landlock,…` on its command line."
_ROOT = (
    "Run the worker as a user of its own instead of root; or let it be root with the capabilities SYS_ADMIN, "
    "SETUID and SETGID, so that each run gets a user of its own."
)


def _isolated(reason: str) -> list[str]:
    if bubblewrap() is None:
        return ["Install bubblewrap: `apt-get install bubblewrap`."]
    found = []
    if _says(_APPARMOR, "1"):
        found.append("Ubuntu: allow bwrap user namespaces by an AppArmor profile with `userns,`.")
    if _says(_CLONE, "0"):
        found.append("Allow user namespaces: `sysctl -w kernel.unprivileged_userns_clone=1`.")
    if _says(_MOST, "0"):
        found.append("Allow user namespaces: `sysctl -w user.max_user_namespaces=15000`.")
    if "proc" in reason:
        found.append("Unmask /proc: `procMount: Unmasked` in Kubernetes, `systempaths=unconfined` in Docker.")
    if _in_container():
        found.append(
            "Let the container make namespaces: a seccomp profile with clone, unshare, mount and pivot_root."
        )
    if os.geteuid() == 0:
        found.append(_ROOT)
    return found


def _says(file: Path, value: str) -> bool:
    try:
        return file.read_text(encoding="ascii").strip() == value
    except OSError:
        return False


def _in_container() -> bool:
    return _DOCKER.exists() or _PODMAN.exists() or "KUBERNETES_SERVICE_HOST" in os.environ
