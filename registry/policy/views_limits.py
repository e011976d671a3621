"""Pages: limits."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.lists import ListView
from core.pages import ConsoleView, Page
from core.questions import Question, QuestionView
from registry.policy.forms import LimitEditForm, LimitForm
from security.decisions import limit_words
from security.edits import LIMIT
from security.people import person_of
from security.policy.limits import limit_change, limit_create, limit_delete
from security.policy.models import Limit
from security.policy.selectors import limit_detail, limit_fact, limits_page


class LimitsList(ListView[Limit]):
    """Quotas and rate limits, newest first."""

    permission = "policy.view_limit"
    template = "registry/limits_list.html"
    heading, noun, search = "Limits", "limit", "Persona, tier or tool"
    linked = ("persona", "tier", "tool")

    def rows(self, params: Mapping[str, str]) -> QuerySet[Limit]:
        """Narrowed by all of them."""
        return limits_page(params, person_of(self.request))

    def more(self, page: Page[Limit]) -> dict[str, Any]:
        """The rows with their amounts in words."""
        return {"rows": [{"limit": row, "words": limit_words(limit_fact(row))} for row in page.rows]}


class LimitNew(ConsoleView):
    """Makes a limit; `?persona=`, `?tier=` and `?tool=` fill the form in."""

    permission = "policy.add_limit"
    template = "registry/policy_new.html"
    words = {
        "title": "New limit",
        "hint": "Calls beyond it are answered 429 and not counted.",
        "action": "Make the limit",
        "up": "limits",
        "place": "Limits",
    }

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form."""
        given = {name: request.GET[name] for name in ("persona", "tier", "tool") if request.GET.get(name)}
        return self.show({"form": LimitForm(initial=given), **self.words})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form = LimitForm(request.POST)
        row = form.attempt(lambda: limit_create(by=person_of(request), **form.wishes(person_of(request))))
        if row is None:
            return self.show({"form": form, **self.words}, status=422)
        messages.success(request, "The limit holds from the next call on.")
        return redirect("limits")


class LimitEdit(ConsoleView):
    """Changes a limit."""

    permission = "policy.change_limit"
    template = "registry/policy_new.html"

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The form with the limit's values."""
        limit = limit_detail(row, person_of(request))
        values = {name: getattr(limit, name) for name in ("kind", "amount", "window_s")}
        return self._show(limit, LimitEditForm(of=LIMIT.of(limit), initial=values))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """Saves it, or shows what is wrong."""
        limit = limit_detail(row, person_of(request))
        form = LimitEditForm(request.POST, of=LIMIT.of(limit))
        if not form.attempt(lambda: limit_change(by=person_of(request), limit=limit, **form.cleaned_data)):
            return self._show(limit, form, status=form.status)
        messages.success(request, "The limit is saved. It applies from the next call on.")
        return redirect("limits")

    def _show(self, limit: Limit, form: LimitEditForm, *, status: int = 200) -> HttpResponse:
        words = {
            "title": f"Limit of {_counted(limit)}",
            "hint": f"It counts {limit.measure}. To count something else, make another limit. "
            "A window that is open keeps its start and its count.",
            "action": "Save limit",
            "up": "limits",
            "place": "Limits",
        }
        return self.show({"form": form, **words}, status=status)


def _counted(limit: Limit) -> str:
    """What a limit counts, by names."""
    whose = (
        limit.persona.name if limit.persona else f"the tier {limit.tier}" if limit.tier else "all personas"
    )
    return f"{whose} with {limit.tool}" if limit.tool else whose


class LimitDelete(QuestionView):
    """Asks, then takes a limit away."""

    permission = "policy.delete_limit"

    def about(self, row: int) -> Edited[Any] | None:
        """The limit."""
        return LIMIT.of(limit_detail(row, person_of(self.request)))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        fact = limit_fact(limit_detail(row, person_of(request)))
        touched = [f"Calls {fact.of} are no longer counted by it.", "What was counted is forgotten."]
        return self.ask(
            Question(f"Delete the limit of {limit_words(fact)}?", touched, "Delete it", reverse("limits"))
        )

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        limit_delete(by=person_of(request), limit=limit_detail(row, person_of(request)))
        messages.success(request, "The limit is gone.")
        return redirect("limits")
