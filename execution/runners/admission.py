"""Whether this machine has free what a contract says that a run needs; asked before anything is started."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from core.errors import ToolHubError

_NEEDS = {"memoryBytes": "bytes of memory", "diskBytes": "bytes of disk", "cpuPercent": "% of one core"}
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def admission_check(tool: str, declared: Mapping[str, Any]) -> None:
    """Raises ToolHubError RESOURCE_EXCEEDED for a tool that needs more than is free here.

    Of what the machine could have at another time, the error may be retried.
    """
    needs: Mapping[str, int] = declared.get("resourceRequirements", {})
    for name, unit in _NEEDS.items():
        wanted = needs.get(name)
        if not wanted:
            continue
        free, most = _HAS[name]()
        if wanted > free:
            message = f"{tool} needs {wanted} {unit}; this machine has {free} free, of {most}."
            raise ToolHubError(
                message,
                code="RESOURCE_EXCEEDED",
                recoverable=wanted <= most,
                suggestions=["Give a worker's machine more, or have the tool's author ask for less."],
                data={"resource": name, "needed": wanted, "free": free, "most": most},
            )


def _memory() -> tuple[int, int]:
    """Free and most bytes of memory, by the machine and by the control group that this process is in."""
    lines = dict(line.split(":", 1) for line in _MEMINFO.read_text(encoding="ascii").splitlines())
    free, most = (int(lines[name].split()[0]) * 1024 for name in ("MemAvailable", "MemTotal"))
    bound = _number(_CGROUP / "memory.max")
    if bound is not None:
        free, most = min(free, bound - (_number(_CGROUP / "memory.current") or 0)), min(most, bound)
    return max(0, free), most


def _number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _disk() -> tuple[int, int]:
    usage = shutil.disk_usage(settings.DATA)
    return usage.free, usage.total


def _processor() -> tuple[int, int]:
    cores = 100 * len(os.sched_getaffinity(0))
    return cores, cores


_HAS = {"memoryBytes": _memory, "diskBytes": _disk, "cpuPercent": _processor}
