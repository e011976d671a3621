"""Pages: restrictions and pauses."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.lists import ListView
from core.pages import ConsoleView, Page
from core.questions import Question, QuestionView
from registry.personas.selectors import persona_detail
from registry.personas.views_page import PersonaFormView, persona_url
from registry.policy.forms import PauseForm, PickingForm, RestrictionForm, StandingForm
from registry.policy.named import tier_named
from security.edits import PERSONA, RESTRICTION
from security.people import person_of
from security.policy.models import Restriction
from security.policy.selectors import pauses_of, restriction_detail, restrictions_page
from security.policy.services import pause_begin, restriction_create, restriction_lift
from security.policy.tiers import standing_change

NAMED = ("persona", "tool", "capability")


class PolicyList(ListView[Restriction]):
    """Restrictions and pauses, newest first."""

    permission = "policy.view_restriction"
    template = "registry/policy_list.html"
    heading, noun, search = "Policy", "rule", "Persona, tool, capability or reason"
    filters, linked = ("q", "kind"), ("persona", "tool")
    choices: ClassVar = {"kind": ("restriction", "pause")}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Restriction]:
        """Narrowed by all of them."""
        return restrictions_page(params, person_of(self.request))

    def more(self, page: Page[Restriction]) -> dict[str, Any]:
        """The kinds to choose from, and the pauses of the whole hub."""
        return {"kinds": [("restriction", "restrictions"), ("pause", "pauses")], "pauses": pauses_of()}


class _PolicyNew(ConsoleView):
    """Makes a rule; `?persona=`, `?tool=` and `?capability=` fill the form in."""

    permission = "policy.add_restriction"
    template = "registry/policy_new.html"
    form: type[PickingForm]
    words: Mapping[str, str]

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form."""
        given = {name: request.GET[name] for name in NAMED if request.GET.get(name)}
        return self.show({"form": self.form(initial=given), **self.words})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form = self.form(request.POST)
        made = form.attempt(lambda: self.make(form.wishes(person_of(request))))
        if made is None:
            return self.show({"form": form, **self.words}, status=422)
        messages.success(request, self.words["made"])
        return redirect("policy")

    def make(self, wishes: dict[str, Any]) -> Restriction:
        """By the service."""
        raise NotImplementedError


class RestrictionNew(_PolicyNew):
    """Denies calls."""

    form = RestrictionForm
    words = {
        "title": "New restriction",
        "hint": "It denies calls that fit all that is named, whatever is granted, from the next one on.",
        "action": "Make the restriction",
        "made": "The restriction holds from now on.",
    }

    def make(self, wishes: dict[str, Any]) -> Restriction:
        """By the service."""
        return restriction_create(by=person_of(self.request), **wishes)


class PauseNew(_PolicyNew):
    """Pauses a persona, a tool or the hub."""

    form = PauseForm
    words = {
        "title": "New pause",
        "hint": "Calls are refused until it ends. Runs that wait go on waiting; what runs is not stopped.",
        "action": "Pause it",
        "made": "It is paused.",
    }

    def make(self, wishes: dict[str, Any]) -> Restriction:
        """By the service."""
        return pause_begin(by=person_of(self.request), **wishes)


class RestrictionLift(QuestionView):
    """Asks, then ends a restriction or a pause."""

    permission = "policy.delete_restriction"

    def about(self, row: int) -> Edited[Any] | None:
        """The restriction."""
        return RESTRICTION.of(restriction_detail(row, person_of(self.request)))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        one = restriction_detail(row, person_of(request))
        what = "End the pause of" if one.is_pause else "Lift the restriction of"
        touched = [
            "Calls are decided without it from the next one on.",
            f"{one.created_by.get_username()} made it for: {one.reason}",
        ]
        action = "End it" if one.is_pause else "Lift it"
        return self.ask(Question(f"{what} {one}?", touched, action, reverse("policy"), calm=one.is_pause))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        one = restriction_detail(row, person_of(request))
        restriction_lift(by=person_of(request), restriction=one)
        messages.success(request, "The pause is over." if one.is_pause else "The restriction is lifted.")
        return redirect("policy")


class StandingChange(PersonaFormView):
    """Changes what holds for a persona as a whole."""

    permission = "policy.change_standing"

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Changes it, or shows what is wrong."""
        persona = persona_detail(name, person_of(request), self.permission)
        form = StandingForm(request.POST, of=PERSONA.of(persona), auto_id="standing_%s")

        def change() -> bool:
            by, given = person_of(request), form.cleaned_data
            tier = tier_named(given["tier"])
            standing_change(by=by, persona=persona, isolation=given["isolation"], tier=tier)
            return True

        if not form.attempt(change):
            return self.show_persona(persona, form)
        messages.success(request, f"The standing of {name} is changed.")
        return redirect(persona_url(name, "standing"))
