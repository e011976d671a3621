"""Pages: a persona's tokens are made and revoked."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from core.edits import Edited
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import ShownOnce
from registry.curl import curl_line, example_arguments
from registry.personas.forms import TokenForm
from registry.personas.selectors import persona_detail
from registry.personas.views_page import PersonaFormView, persona_url
from registry.selectors import tools_assigned
from security.edits import TOKEN
from security.models import Persona, Token
from security.people import person_of
from security.services import token_create, token_revoke, token_rotate
from security.tokens_shown import ends_with


def _shown_once(view: ConsoleView, persona: Persona, token: Token, text: str) -> HttpResponse:
    """The page with a token's text, which is never stored, neither here nor by the browser."""
    view.template = "registry/token_created.html"
    words = {"title": "A new token", "what": "the token", "back": persona_url(persona.name, "tokens")}
    curl = _curl(persona, text)
    page = view.show({"persona": persona, "token": token, "text": text, "curl": curl, **words})
    notice = (
        f"You sent this form twice. It made one token, {token.prefix}…, and the first answer showed it."
        " If you did not copy it, revoke the token and make another."
    )
    return ShownOnce.of(page, persona_url(persona.name, f"token-{token.pk}"), notice)


def _token(view: ConsoleView, name: str, row: int) -> Token:
    tokens = persona_detail(name, person_of(view.request), view.permission).tokens
    return get_object_or_404(tokens.select_related("persona", "responsible"), pk=row)


class TokenNew(PersonaFormView):
    """Makes a token and shows it, this once."""

    permission = "security.add_token"

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        persona = persona_detail(name, person_of(request), self.permission)
        form = TokenForm(request.POST, auto_id="token_%s")
        made = form.attempt(lambda: token_create(by=person_of(request), persona=persona, **form.cleaned_data))
        if made is None:
            return self.show_persona(persona, form)
        return _shown_once(self, persona, *made)


def _curl(persona: Persona, text: str) -> str:
    """A line that tries the token on a tool that the persona sees; empty when it sees none."""
    tool = tools_assigned(persona.pk).first()
    if tool is None or tool.active is None:
        return ""
    return curl_line(settings.PUBLIC_URL, tool.name, example_arguments(tool.active.definition), token=text)


class TokenRotate(QuestionView):
    """Asks, then makes a new token in place of one, and shows it, this once."""

    permission = "security.add_token"

    def about(self, name: str, row: int) -> Edited[Any] | None:
        """The token."""
        return TOKEN.of(_token(self, name, row))

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        token = get_object_or_404(persona_detail(name, person_of(request), self.permission).tokens, pk=row)
        touched = [
            f"A new token for {token.name}; you will be responsible for it.",
            "The one before goes on for 24 hours: change the agents meanwhile.",
        ]
        title, back = f"Rotate the token {token.prefix}…?", persona_url(name, "tokens")
        return self.ask(Question(title, touched, "Make the new token", back, calm=True))

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        persona = persona_detail(name, person_of(request), self.permission)
        token = get_object_or_404(persona.tokens.select_related("persona"), pk=row)
        return _shown_once(self, persona, *token_rotate(by=person_of(request), token=token))


class TokenRevoke(QuestionView):
    """Asks, then ends a token."""

    permission = "security.delete_token"

    def about(self, name: str, row: int) -> Edited[Any] | None:
        """The token."""
        return TOKEN.of(_token(self, name, row))

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        token = get_object_or_404(
            persona_detail(name, person_of(request), self.permission).tokens.select_related("responsible"),
            pk=row,
        )
        others = ends_with(person_of(request), [token.pk])
        touched = [
            f"Used for {token.name}; {token.responsible.get_username()} is responsible for it.",
            "The next call with it is refused; this cannot be undone.",
            *([f"What agents made with it ends, too: {others}."] if others else []),
        ]
        title = f"Revoke the token {token.prefix}…?"
        return self.ask(Question(title, touched, "Revoke it", persona_url(name, "tokens")))

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        token = get_object_or_404(persona_detail(name, person_of(request), self.permission).tokens, pk=row)
        token_revoke(by=person_of(request), token=token)
        messages.success(request, f"The token {token.prefix}… is revoked.")
        return redirect(persona_url(name, "tokens"))
