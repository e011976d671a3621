"""Pages: every persona, and a new one."""

from collections.abc import Mapping
from typing import ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.lists import ListView
from core.pages import ConsoleView
from registry.personas.forms import PersonaForm
from registry.personas.selectors import personas_page
from security.models import Persona
from security.people import person_of
from security.services import persona_create


class PersonasList(ListView[Persona]):
    """Every persona, by name."""

    permission = "security.view_persona"
    template = "registry/personas_list.html"
    heading, noun, search = "Personas", "persona", "Name of a persona"
    key, descending, ways = "name", False, ("Back", "More")
    sorts = {"name": "name"}
    linked = ("tokens",)
    choices: ClassVar = {"tokens": ("ending",)}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Persona]:
        """Narrowed by `q`."""
        return personas_page(params, person_of(self.request))


class PersonaNew(ConsoleView):
    """Makes a persona."""

    permission = "security.add_persona"
    template = "registry/persona_new.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The empty form."""
        return self.show({"form": PersonaForm()})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form = PersonaForm(request.POST)
        persona = form.attempt(lambda: persona_create(by=person_of(request), **form.cleaned_data))
        if persona is None:
            return self.show({"form": form}, status=422)
        messages.success(request, f"The persona {persona.name} is made. Assign it a tool next.")
        return redirect("persona", name=persona.name)
