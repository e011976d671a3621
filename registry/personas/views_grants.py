"""Pages: capabilities are granted to a persona and revoked."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from core.questions import Question, QuestionView
from registry.personas.forms import GrantForm
from registry.personas.selectors import persona_detail
from registry.personas.views_page import PersonaFormView, persona_url
from security.people import person_of
from security.services import grant_create, grant_revoke


class GrantNew(PersonaFormView):
    """Grants a capability."""

    permission = "security.add_grant"

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Grants, or shows what is wrong."""
        persona = persona_detail(name, person_of(request), self.permission)
        form = GrantForm(request.POST, auto_id="grant_%s")
        grant = form.attempt(lambda: grant_create(by=person_of(request), persona=persona, **form.wishes()))
        if grant is None:
            return self.show_persona(persona, form)
        messages.success(request, f"{grant.capability} is granted.")
        return redirect(persona_url(name, "grants"))


class GrantRevoke(QuestionView):
    """Asks, then takes a capability back."""

    permission = "security.delete_grant"

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        grant = get_object_or_404(persona_detail(name, person_of(request), self.permission).grants, pk=row)
        touched = ["The next call that needs it is refused.", f"It was granted for: {grant.reason}"]
        title = f"Revoke {grant.capability} from {name}?"
        return self.ask(Question(title, touched, "Revoke it", persona_url(name, "grants")))

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        grant = get_object_or_404(persona_detail(name, person_of(request), self.permission).grants, pk=row)
        grant_revoke(by=person_of(request), grant=grant)
        messages.success(request, f"{grant.capability} is revoked.")
        return redirect(persona_url(name, "grants"))
