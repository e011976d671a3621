"""Page: a persona is switched on or off."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.edits import Edited
from core.questions import Question, QuestionView, switch_wanted
from registry.personas.selectors import persona_detail
from registry.personas.views_page import persona_url
from registry.selectors import tools_assigned
from security.edits import PERSONA
from security.people import person_of
from security.services import persona_switch
from security.tokens_shown import ends_with


class PersonaSwitch(QuestionView):
    """Asks, then switches a persona on or off."""

    permission = "security.change_persona"

    def about(self, name: str) -> Edited[Any] | None:
        """The persona."""
        return PERSONA.of(persona_detail(name, person_of(self.request), self.permission))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question, with what it touches."""
        persona = persona_detail(name, person_of(request), self.permission)
        tokens = [token.pk for token in persona.tokens.all() if token.state == "valid"]
        valid, others = len(tokens), ends_with(person_of(request), tokens)
        tools = tools_assigned(persona.pk).count()
        effect = "refused from the next call on" if persona.is_active else "answered again"
        touched = [
            f"Calls with its {valid} valid token{'' if valid == 1 else 's'} are {effect}.",
            *([f"So are calls with what its agents made: {others}."] if others else []),
            f"It sees {tools} tool{'' if tools == 1 else 's'}; assignments, grants and tokens stay.",
        ]
        on = not persona.is_active
        return self.ask(Question.switch(name, on=on, touched=touched, back=persona_url(name)))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act: what the question asked, even when somebody else was faster."""
        on = switch_wanted(request)
        persona_switch(
            by=person_of(request), persona=persona_detail(name, person_of(request), self.permission), on=on
        )
        messages.success(request, f"{name} is switched {'on' if on else 'off'}.")
        return redirect("persona", name=name)
