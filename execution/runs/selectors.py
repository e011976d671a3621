"""Reads runs."""

from collections.abc import Mapping
from uuid import UUID

from django.db.models import Q, QuerySet

from core.errors import NotFound
from execution.models import Run, Status


def runs_list(filters: Mapping[str, str]) -> QuerySet[Run]:
    """Runs, newest first, narrowed by `tool`, `persona` (name), `status` and `q` (start of the id, or tool)."""
    rows = Run.objects.select_related("persona", "tool_version").order_by("-id")
    if filters.get("tool"):
        rows = rows.filter(tool=filters["tool"])
    if filters.get("persona"):
        rows = rows.filter(persona__name=filters["persona"])
    if filters.get("status") in set(Status):
        rows = rows.filter(status=filters["status"])
    if filters.get("q"):
        rows = rows.filter(_search(filters["q"].strip()))
    return rows


def _search(text: str) -> Q:
    try:
        return Q(pk=UUID(text))
    except ValueError:
        return Q(tool__icontains=text) | Q(persona__name__icontains=text)


def run_of(run_id: UUID, persona_id: int) -> Run:
    """A persona's own run. Raises NotFound for any other."""
    run = Run.objects.select_related("tool_version").filter(pk=run_id, persona_id=persona_id).first()
    if run is None:
        raise NotFound("There is no such run for this caller.")
    return run
