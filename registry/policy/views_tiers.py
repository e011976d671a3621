"""Pages: tiers."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import ToolHubError
from core.lists import ListView
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from registry.policy.forms import NewTierForm, TierForm
from security.edits import TIER
from security.models import Persona
from security.people import person_of
from security.policy.models import Tier
from security.policy.selectors import tier_detail, tiers_page
from security.policy.tiers import tier_change, tier_create, tier_delete
from security.sharing.reach import about

PERSONAS_SHOWN = 50


class TiersList(ListView[Tier]):
    """Every tier, by name."""

    permission = "policy.view_tier"
    template = "registry/tiers_list.html"
    heading, noun, search = "Tiers", "tier", "Name of a tier"
    key, descending, ways = "name", False, ("Back", "More")

    def rows(self, params: Mapping[str, str]) -> QuerySet[Tier]:
        """Narrowed by `q`."""
        return tiers_page(params)


class TierNew(ConsoleView):
    """Makes a tier."""

    permission = "policy.add_tier"
    template = "registry/policy_new.html"
    words = {
        "title": "New tier",
        "hint": "Personas get what it grants on top of what is theirs.",
        "action": "Make the tier",
        "up": "tiers",
        "place": "Tiers",
    }

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form."""
        return self.show({"form": NewTierForm(), **self.words})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form = NewTierForm(request.POST)

        def make() -> Tier:
            given = dict(form.cleaned_data)
            with transaction.atomic():
                tier = tier_create(by=person_of(request), name=given.pop("name"))
                tier_change(by=person_of(request), tier=tier, **given)
            return tier

        tier = form.attempt(make)
        if tier is None:
            return self.show({"form": form, **self.words}, status=422)
        messages.success(request, f"The tier {tier.name} is made.")
        return redirect("tier", name=tier.name)


class TierPage(ConsoleView):
    """One tier: what it grants, and who is on it."""

    permission = "policy.view_tier"
    template = "registry/tier_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        tier = tier_detail(name)
        granted = {"description": tier.description, "capabilities": tier.capabilities, "flags": tier.flags}
        return self._show(tier, TierForm(of=TIER.of(tier), initial=granted))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Changes it, or shows what is wrong."""
        tier = tier_detail(name)
        form = TierForm(request.POST, of=TIER.of(tier))

        def change() -> bool:
            tier_change(by=person_of(request), tier=tier, **form.cleaned_data)
            return True

        if not form.attempt(change):
            return self._show(tier, form, status=form.status)
        messages.success(request, f"The tier {name} is changed.")
        return redirect("tier", name=name)

    def _show(self, tier: Tier, form: TierForm, *, status: int = 200) -> HttpResponse:
        personas = Persona.objects.filter(standing__tier=tier).order_by("name")
        personas = about(person_of(self.request), personas, self.permission, persona="pk")
        context = {"tier": tier, "form": form, "personas": list(personas[:PERSONAS_SHOWN])}
        return self.show(context, status=status)


class TierDelete(QuestionView):
    """Asks, then deletes a tier."""

    permission = "policy.delete_tier"

    def about(self, name: str) -> Edited[Any] | None:
        """The tier."""
        return TIER.of(tier_detail(name))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        count, back = tier_detail(name).standings.count(), reverse("tier", args=[name])
        if count:
            first = f"{count} persona{'s are' if count > 1 else ' is'} on it: move them to another one first."
            return self.ask(Question(f"The tier {name} is in use", [first], "", back, leave="Back"))
        touched = ["It grants nothing any more. Its audit stays."]
        return self.ask(Question(f"Delete the tier {name}?", touched, "Delete it", back))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        try:
            tier_delete(by=person_of(request), tier=tier_detail(name))
        except ToolHubError as error:
            if error.code != "IN_USE":
                raise
            return refused(request, error.message, reverse("tier", args=[name]))
        messages.success(request, f"The tier {name} is deleted.")
        return redirect("tiers")
