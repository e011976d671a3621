"""Pages: a persona's signing secret is made, and shown once."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from core.edits import Edited
from core.questions import Question, QuestionView
from core.submissions.pages import ShownOnce
from registry.personas.selectors import persona_detail
from registry.personas.views_page import persona_url
from security.edits import SIGNING
from security.people import person_of
from security.signing import has_signing_secret, signing_secret_create


class SigningSecretNew(QuestionView):
    """Asks, then makes a signing secret and shows it, this once."""

    permission = "security.add_signingsecret"

    def about(self, name: str) -> Edited[Any] | None:
        """The signing secret that it replaces."""
        return SIGNING.of(persona_detail(name, person_of(self.request), self.permission))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        persona = persona_detail(name, person_of(request), self.permission)
        touched = [f"What the hub sends on behalf of {name} is signed with it."]
        if has_signing_secret(persona.pk):
            touched.append("The one before signs beside it for 24 hours: change the receivers meanwhile.")
        back = persona_url(name, "signing")
        return self.ask(
            Question("Make a signing secret?", touched, "Make the signing secret", back, calm=True)
        )

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Makes it. The answer is never stored, neither here nor by the browser."""
        persona = persona_detail(name, person_of(request), self.permission)
        text = signing_secret_create(by=person_of(request), persona=persona)
        self.template = "registry/signing_created.html"
        words = {"title": "A new signing secret", "what": "the signing secret"}
        back = persona_url(name, "signing")
        page = self.show({"persona": persona, "text": text, "back": back, **words})
        notice = (
            "You sent this form twice. It made one signing secret, which was shown in the first answer."
            " If you did not copy it, make another."
        )
        return ShownOnce.of(page, back, notice)
