"""Pages: capabilities are granted to a persona and revoked."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from core.edits import Edited
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from registry.personas.forms import GrantEditForm, GrantForm
from registry.personas.selectors import persona_detail
from registry.personas.views_page import PersonaFormView, persona_url
from security.edits import GRANT
from security.models import Grant
from security.people import person_of
from security.services import grant_change, grant_create, grant_revoke


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


class GrantEdit(ConsoleView):
    """Changes a grant, or renews one that has expired."""

    permission = "security.add_grant"
    template = "registry/grant_edit.html"

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The form with the grant's values."""
        grant = self._grant(name, row)
        return self._show(grant, GrantEditForm(grant=grant, initial=GrantEditForm.values_of(grant)))

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """Saves it, or shows what is wrong."""
        grant = self._grant(name, row)
        form = GrantEditForm(request.POST, grant=grant)
        made = form.attempt(lambda: grant_change(by=person_of(request), grant=grant, **form.wishes()))
        if made is None:
            return self._show(grant, form, status=form.status)
        messages.success(request, f"The grant of {grant.capability} is saved.")
        return redirect(persona_url(name, "grants"))

    def _grant(self, name: str, row: int) -> Grant:
        persona = persona_detail(name, person_of(self.request), self.permission)
        return get_object_or_404(persona.grants.select_related("persona", "granted_by"), pk=row)

    def _show(self, grant: Grant, form: GrantEditForm, status: int = 200) -> HttpResponse:
        return self.show({"grant": grant, "form": form}, status=status)


class GrantRevoke(QuestionView):
    """Asks, then takes a capability back."""

    permission = "security.delete_grant"

    def about(self, name: str, row: int) -> Edited[Any] | None:
        """The grant."""
        persona = persona_detail(name, person_of(self.request), self.permission)
        return GRANT.of(get_object_or_404(persona.grants, pk=row))

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
