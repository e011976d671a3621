"""Pages: a persona's tokens are made and revoked."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from core.questions import Question, QuestionView
from registry.curl import curl_line, example_arguments
from registry.personas.forms import TokenForm
from registry.personas.selectors import persona_detail
from registry.personas.views_page import PersonaFormView, persona_url
from registry.selectors import tools_assigned
from security.models import Persona
from security.people import person_of
from security.services import token_create, token_revoke


class TokenNew(PersonaFormView):
    """Makes a token and shows it, this once."""

    permission = "security.add_token"

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Makes it, or shows what is wrong. The answer is never stored, neither here nor by the browser."""
        persona = persona_detail(name)
        form = TokenForm(request.POST, auto_id="token_%s")
        made = form.attempt(lambda: token_create(by=person_of(request), persona=persona, **form.cleaned_data))
        if made is None:
            return self.show_persona(persona, form)
        token, text = made
        self.template = "registry/token_created.html"
        words = {"title": "A new token", "what": "the token", "back": persona_url(name, "tokens")}
        curl = _curl(persona, text)
        return self.show({"persona": persona, "token": token, "text": text, "curl": curl, **words})


def _curl(persona: Persona, text: str) -> str:
    """A line that tries the token on a tool that the persona sees; empty when it sees none."""
    tool = tools_assigned(persona.pk).first()
    if tool is None or tool.active is None:
        return ""
    return curl_line(settings.PUBLIC_URL, tool.name, example_arguments(tool.active.definition), token=text)


class TokenRevoke(QuestionView):
    """Asks, then ends a token."""

    permission = "security.delete_token"

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        token = get_object_or_404(persona_detail(name).tokens.select_related("responsible"), pk=row)
        touched = [
            f"Used for {token.name}; {token.responsible.get_username()} is responsible for it.",
            "The next call with it is refused; this cannot be undone.",
        ]
        title = f"Revoke the token {token.prefix}…?"
        return self.ask(Question(title, touched, "Revoke it", persona_url(name, "tokens")))

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        token = get_object_or_404(persona_detail(name).tokens, pk=row)
        token_revoke(by=person_of(request), token=token)
        messages.success(request, f"The token {token.prefix}… is revoked.")
        return redirect(persona_url(name, "tokens"))
