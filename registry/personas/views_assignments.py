"""Pages: what a persona sees is assigned and taken back."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from core.edits import Edited
from core.errors import InvalidRequest, ToolHubError
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from registry.collections.models import Collection
from registry.edits import ASSIGNMENT
from registry.models import Assignment, Package, Tool
from registry.personas.forms import AssignForm
from registry.personas.selectors import assignable_named, assignables, persona_detail
from registry.personas.views_page import PersonaFormView, persona_url
from registry.services import assignment_create, assignment_delete
from security.models import Persona
from security.people import person_of
from security.sharing.kinds import kind_of


class AssignableOptions(ConsoleView):
    """What the picker of tools and packages proposes for what is typed."""

    permission = "registry.add_assignment"
    template = "components/options.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The options."""
        person = person_of(request)
        options = assignables(
            persona_detail(name, person, self.permission), request.GET.get("target", ""), person
        )
        return self.show({"options": options})


class AssignmentNew(PersonaFormView):
    """Assigns a tool or package."""

    permission = "registry.add_assignment"

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Assigns, or shows what is wrong."""
        persona = persona_detail(name, person_of(request), self.permission)
        form = AssignForm(request.POST, auto_id="assign_%s")
        target = form.attempt(lambda: self._assign(request, persona, form.cleaned_data["target"]))
        if target is None:
            return self.show_persona(persona, form)
        kind = kind_of(target).name
        messages.success(request, f"The {kind} {target.name} is assigned.")
        return redirect(persona_url(name, "assignments"))

    def _assign(self, request: HttpRequest, persona: Persona, text: str) -> Tool | Package | Collection:
        target = assignable_named(text, person_of(request))
        if target is None:
            raise _at_target("There is no tool, package or collection of this name.")
        kind = kind_of(target).name
        try:
            assignment_create(by=person_of(request), persona=persona, **{kind: target})  # type: ignore[arg-type]
        except ToolHubError as error:
            raise _at_target(error.message) from error
        return target


def _at_target(message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": "/target", "message": message}])


class AssignmentDelete(QuestionView):
    """Asks, then takes an assignment back."""

    permission = "registry.delete_assignment"

    def about(self, name: str, row: int) -> Edited[Any] | None:
        """The assignment."""
        return ASSIGNMENT.of(self._row(name, row))

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        assignment = self._row(name, row)
        kind = kind_of(assignment.target).name
        scope = "this tool" if assignment.tool else f"the tools of this {kind}"
        touched = [
            f"The next call of {scope} is answered as if it did not exist, unless something else assigns it.",
            "Runs and audit stay.",
        ]
        title = f"Take {assignment.target} from {name}?"
        return self.ask(Question(title, touched, "Take it back", persona_url(name, "assignments")))

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        assignment = self._row(name, row)
        assignment_delete(by=person_of(request), assignment=assignment)
        messages.success(request, f"{assignment.target} is no longer assigned.")
        return redirect(persona_url(name, "assignments"))

    def _row(self, name: str, row: int) -> Assignment:
        rows = Assignment.objects.select_related("persona", "tool", "package", "collection")
        persona = persona_detail(name, person_of(self.request), self.permission)
        return get_object_or_404(rows, pk=row, persona=persona)
