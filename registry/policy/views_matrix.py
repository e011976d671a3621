"""Page: personas and the capabilities that they hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet

from core.lists import ListView
from core.pages import Page
from registry.policy.kept import capabilities_kept
from security.decisions import decide
from security.facts import CallFacts
from security.models import Persona
from security.people import person_of
from security.policy.models import Capability
from security.policy.selectors import PolicyBook, capabilities_known
from security.principals import PersonaPrincipal
from security.sharing.reach import about
from security.tokens import principals_supposed

COLUMNS = 10


@dataclass(frozen=True)
class Cell:
    """Whether a persona holds a capability, and why (not)."""

    state: str
    why: str


class Matrix(ListView[Persona]):
    """Personas down, capabilities across; each cell is the decision on a tool that needs it."""

    permission = "policy.view_capability"
    template = "registry/matrix.html"
    heading, noun, search = "Matrix", "persona", "Name of a persona"
    filters = ("q", "capability")
    linked = ("from",)
    key, descending, ways = "name", False, ("Back", "More")

    def rows(self, params: Mapping[str, str]) -> QuerySet[Persona]:
        """Personas, narrowed by `q`."""
        rows = about(person_of(self.request), Persona.objects.order_by("name"), self.permission, persona="pk")
        return rows.filter(name__icontains=params["q"].strip()) if params.get("q") else rows

    def more(self, page: Page[Persona]) -> dict[str, Any]:
        """The columns, narrowed by `capability` and begun at `from`; and the cells of each row."""
        params = self.request.GET
        kept = capabilities_kept(person_of(self.request))
        names = capabilities_known(params.get("capability", ""), params.get("from", ""), kept)[: COLUMNS + 1]
        shown = names[:COLUMNS]
        noted = {row.name: row for row in Capability.objects.filter(name__in=shown)}
        return {
            "columns": [noted.get(name) or Capability(name=name) for name in shown],
            "next_column": names[COLUMNS] if len(names) > COLUMNS else "",
            "lines": matrix_of(page.rows, shown),
        }


def matrix_of(personas: Sequence[Persona], capabilities: Sequence[str]) -> list[tuple[Persona, list[Cell]]]:
    """A line of cells for each persona; few queries for all."""
    book = PolicyBook([persona.pk for persona in personas], [])
    return [
        (persona, [_cell(principal, name, book) for name in capabilities])
        for persona, principal in zip(personas, principals_supposed(personas), strict=True)
    ]


def _cell(principal: PersonaPrincipal, capability: str, book: PolicyBook) -> Cell:
    facts = CallFacts(
        now=datetime.now(UTC),
        persona=principal.persona,
        persona_active=True,
        token_state="none",
        responsible_active=True,
        tool="a tool",
        version="",
        version_state="active",
        assigned_by="by name",
        required=(capability,),
        grants=principal.grants,
        policy=book.of(principal.persona_id, ""),
    )
    checks = {check.name: check for check in decide(facts).checks}
    held, free = checks["capabilities"], checks["restrictions"]
    if held.verdict == "fail":
        return Cell("not held", held.reason)
    if free.verdict == "fail":
        return Cell("restricted", free.reason)
    return Cell("under conditions" if " where " in held.reason else "held", held.reason)
