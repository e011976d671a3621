"""What runs and schedules need of a package, for those who change or remove it."""

from execution.engine.selectors import STATUS_GROUPS
from execution.models import Run, Schedule, Status
from registry.models import Package
from registry.releases.affected import SHOWN, Need

_OPEN = [*STATUS_GROUPS["waiting"], Status.RUNNING]


def open_runs(package: Package) -> Need:
    """Runs of its tools that have no outcome yet."""
    rows = Run.objects.filter(status__in=_OPEN, tool_version__release__package=package)
    return Need("open runs", tuple(str(pk) for pk in rows.values_list("pk", flat=True)[:SHOWN]), blocks=True)


def schedules(package: Package) -> Need:
    """Schedules, switched on, that call its tools."""
    tools = list(package.tools.values_list("name", flat=True))
    rows = Schedule.objects.filter(enabled=True, tool__in=tools).order_by("name")
    return Need("schedules", tuple(rows.values_list("name", flat=True)[:SHOWN]), blocks=True)
