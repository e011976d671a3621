"""Reads runs."""

import contextlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from core.clock import since_of
from core.errors import NotFound, ToolHubError
from execution.engine.states import FINAL, UNRESOLVED
from execution.models import Run, Status
from registry.models import Tool
from security.models import Persona, User
from security.sharing.reach import about

VIEW = "execution.view_run"


def runs_seen(by: User, permission: str = VIEW) -> QuerySet[Run]:
    """The runs of tools by personas on both of which the person holds the permission."""
    return about(by, Run.objects.all(), permission, tool="tool", persona="persona")


def runs_list(filters: Mapping[str, str], by: User) -> QuerySet[Run]:
    """Runs that the person sees, newest first, narrowed by `filters` as `runs_narrowed` does."""
    rows = runs_seen(by).select_related("persona", "tool_version").order_by("-id")
    return runs_narrowed(rows, filters)


def runs_narrowed(rows: QuerySet[Run], filters: Mapping[str, str]) -> QuerySet[Run]:
    """Return the runs that match every filter.

    `tool`, `persona` (name), `session`, `status` (or a word of STATUS_GROUPS), `since` (hours), and `q` (id,
    tool or persona).
    """
    same = {"tool": "tool", "persona": "persona__name", "session": "session"}
    rows = rows.filter(**{column: filters[name] for name, column in same.items() if filters.get(name)})
    status = filters.get("status", "")
    if status in set(Status):
        rows = rows.filter(status=status)
    elif group := STATUS_GROUPS.get(status):
        rows = rows.filter(status__in=group)
    if since := since_of(filters):
        rows = rows.filter(pk__gte=first_id_at(since))
    if filters.get("q"):
        rows = rows.filter(_search(filters["q"].strip()))
    return rows


# So many names are looked up one by one; more of them are common enough to be met soon among the newest runs.
NAMES_MOST = 50


def _search(text: str) -> Q:
    """By id, else by names, which are looked up first: runs are far more than tools and personas."""
    try:
        return Q(pk=UUID(text))
    except ValueError:
        pass
    tools = _few(Tool.objects.filter(name__icontains=text), "name")
    personas = _few(Persona.objects.filter(name__icontains=text), "pk")
    return (Q(tool__icontains=text) if tools is None else Q(tool__in=tools)) | (
        Q(persona__name__icontains=text) if personas is None else Q(persona__in=personas)
    )


def _few(rows: QuerySet[Any], column: str) -> list[Any] | None:
    """The column's values; None where they are more than NAMES_MOST."""
    values = list(rows.values_list(column, flat=True)[: NAMES_MOST + 1])
    return values if len(values) <= NAMES_MOST else None


def run_of(run_id: UUID, persona_id: int) -> Run:
    """A persona's own run. Raises NotFound for any other."""
    run = Run.objects.select_related("tool_version").filter(pk=run_id, persona_id=persona_id).first()
    if run is None:
        raise NotFound("There is no such run for this caller.")
    return run


def runs_unresolved(by: User) -> QuerySet[Run]:
    """Runs that a person has to resolve, the oldest first."""
    rows = runs_seen(by, "execution.resolve_run").filter(status__in=UNRESOLVED).order_by("pk")
    return rows.select_related("persona", "tool_version")


# Words of the console's filter that stand for several states.
STATUS_GROUPS: dict[str, tuple[Status, ...]] = {
    "open": (
        Status.AWAITING_APPROVAL,
        Status.PENDING,
        Status.RUNNING,
        Status.WAITING_RETRY,
        Status.WAITING_STEPS,
        Status.AWAITING_PERSON,
        Status.OUTCOME_UNKNOWN,
    ),
    "waiting": (
        Status.AWAITING_APPROVAL,
        Status.PENDING,
        Status.WAITING_RETRY,
        Status.WAITING_STEPS,
        Status.AWAITING_PERSON,
    ),
    "unsuccessful": (Status.FAILED, Status.TIMEOUT),
}


def runs_page(filters: Mapping[str, str], by: User) -> QuerySet[Run]:
    """`runs_list` without what a list does not show."""
    return runs_list(filters, by).defer("arguments", "request", "result", "resources")


def first_id_at(at: datetime) -> UUID:
    """The smallest time-ordered id (RFC 9562 §5.7) of a moment: lets the primary key answer for the time."""
    return UUID(int=int(at.timestamp() * 1000) << 80)


def run_detail(run_id: UUID, by: User, permission: str = VIEW) -> Run:
    """A run with everything its page shows, where the person holds the permission. Raises NotFound."""
    return run_whole(run_id, runs_seen(by, permission))


def run_whole(run_id: UUID, among: QuerySet[Run]) -> Run:
    """One of the runs, with everything its page shows. Raises NotFound."""
    rows = among.select_related("persona", "responsible", "token__responsible", "tool_version__tool__package")
    run = rows.prefetch_related("attempts", "events").filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def runs_stoppable(ids: Iterable[str], by: User, most: int = 100) -> list[Run]:
    """Those of the runs that the person may stop and that can still be stopped, newest first.

    What is no run's id is left aside.
    """
    wanted = []
    for text in list(ids)[:most]:
        with contextlib.suppress(ValueError):
            wanted.append(UUID(text))
    stoppable = [status for status in STATUS_GROUPS["open"] if status != Status.OUTCOME_UNKNOWN]
    rows = runs_seen(by, "execution.change_run").select_related("persona")
    rows = rows.defer("arguments", "request", "result", "resources")
    return list(rows.filter(pk__in=wanted, status__in=stoppable, cancel_asked_at=None).order_by("-id"))


def runs_open(by: User) -> dict[str, int]:
    """How many runs that the person sees are without an outcome, by status."""
    rows = runs_seen(by).filter(status__in=STATUS_GROUPS["open"]).order_by()
    return dict(rows.values_list("status").annotate(n=Count("pk")))


def runs_by_tool(since: datetime, by: User, names: Iterable[str]) -> dict[str, int]:
    """How many runs that the person sees each of the tools had since then."""
    rows = runs_seen(by).filter(pk__gte=first_id_at(since), tool__in=list(names)).order_by()
    return dict(rows.values_list("tool").annotate(n=Count("pk")))


def finished_require(run: Run) -> None:
    """Raises ToolHubError (409) for a run without an outcome."""
    if run.status in FINAL:
        return
    unknown = run.status == Status.OUTCOME_UNKNOWN
    why = "Nobody knows yet what it did: a person has to resolve it." if unknown else f"It is {run.status}."
    raise ToolHubError(f"The run has no outcome yet. {why}", code="RUN_UNFINISHED")


def payload_require(run: Run) -> None:
    """Raises ToolHubError (410) for a run whose arguments and result were removed with age."""
    at = run.payload_expired_at
    if at is not None:
        raise ToolHubError(f"The run's payload was removed on {_day(at)}.", code="PAYLOAD_EXPIRED")


def _day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d")
