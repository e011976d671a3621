"""One persona's page, to which the pages that change it come back."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.forms import ConsoleForm
from core.pages import ConsoleView, page_read
from registry.personas.forms import AssignForm, GrantForm, TokenForm
from registry.personas.selectors import argument_pointers, book_for, decisions_of, persona_detail
from registry.policy.forms import StandingForm
from registry.policy.kept import grants_told, tools_kept
from registry.policy.limits_view import limits_view
from registry.selectors import tools_assigned
from security.edits import PERSONA
from security.facts import Standing
from security.models import Grant, Persona
from security.people import person_of
from security.policy.selectors import standing_of
from security.sharing.perms import PermsOn
from security.sharing.reach import about, within
from security.tokens_shown import tokens_shown

ROWS_SHOWN = 50


def persona_url(name: str, section: str = "") -> str:
    """The address of a persona's page, or of a section of it."""
    return reverse("persona", args=[name]) + (f"#{section}" if section else "")


@dataclass(frozen=True)
class PersonaForms:
    """The forms of a persona's page, empty ones unless one came back."""

    assign: AssignForm
    grant: GrantForm
    token: TokenForm
    standing: StandingForm | None

    @classmethod
    def with_one(
        cls, persona: Persona, standing: Standing | None, came_back: ConsoleForm | None = None
    ) -> "PersonaForms":
        """All of them, that of the standing where it is given; `came_back` takes the place of its kind."""

        def pick(kind: type[Any], prefix: str) -> Any:
            return came_back if isinstance(came_back, kind) else kind(auto_id=f"{prefix}_%s")

        made = pick(AssignForm, "assign"), pick(GrantForm, "grant"), pick(TokenForm, "token")
        if isinstance(came_back, StandingForm):
            return cls(*made, came_back)
        if standing is None:
            return cls(*made, None)
        # It reads the tiers.
        form = StandingForm(of=PERSONA.of(persona), auto_id="standing_%s", initial=asdict(standing))
        return cls(*made, form)


class PersonaPage(ConsoleView):
    """One persona. The pages that change it come back here when something is wrong."""

    permission = "security.view_persona"
    template = "registry/persona_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        return self.show_persona(persona_detail(name, person_of(request), self.permission))

    def show_persona(self, persona: Persona, came_back: ConsoleForm | None = None) -> HttpResponse:
        """The page; with a form that came back, status 422."""
        # Read once: the decisions below are made from the same rows.
        prefetch_related_objects([persona], Prefetch("grants", Grant.objects.select_related("granted_by")))
        person = person_of(self.request)
        assignments = persona.assignments.select_related("tool", "package", "collection", "assigned_by")
        assignments = about(person, assignments.order_by("-id"), "registry.view_tool", tool="tool__name")
        assignments = about(person, assignments, "registry.view_package", package="package__name")
        assignments = about(person, assignments, "registry.view_collection", collection="collection__name")
        standing, perms = standing_of(persona), PermsOn(person, persona)
        tools = within(person, tools_assigned(persona.pk), "registry.view_tool")
        shown = list(assignments[:ROWS_SHOWN])
        page = page_read(tools, self.request.GET, key="name", descending=False)
        book = book_for(persona, page.rows)
        kept = tools_kept(person, persona, book.tools)
        return self.show(
            {
                "persona": persona,
                "perms": perms,
                "sharing": perms.summary(),
                "assignments": shown,
                "assignment_count": len(shown) if len(shown) < ROWS_SHOWN else assignments.count(),
                "grants": grants_told(persona, kept)[:ROWS_SHOWN],
                "tokens": tokens_shown(person, persona, ROWS_SHOWN),
                "page": page,
                "decisions": decisions_of(persona, page.rows, book),
                "standing": standing,
                "restrictions": [
                    row
                    for row in book.restriction_rows
                    if row.persona and not row.is_pause and row.tool not in kept
                ],
                "limits": limits_view(persona, book, kept),
                "pauses": [row for row in book.restriction_rows if row.is_pause and not row.tool],
                "pointers": argument_pointers(page.rows),
                "forms": PersonaForms.with_one(
                    persona, standing if perms.allows("policy.change_standing") else None, came_back
                ),
            },
            status=came_back.status if came_back else 200,
        )


class PersonaFormView(PersonaPage):
    """Takes one of the forms that stand on the persona's page."""

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """Back to where the form stands."""
        return redirect("persona", name=name)
