"""Pages: feature flags, and the tools that need them."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import ToolHubError
from core.forms import EditForm
from core.lists import ListView
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from registry.policy.forms import FlagForm, FlagStateForm, FlagToolForm
from security.edits import FLAG
from security.people import person_of
from security.policy.models import Flag, Tier
from security.policy.selectors import flag_detail, flagged_tools, flags_page
from security.policy.tiers import flag_create, flag_delete, flag_require, flag_switch, flag_users


class FlagsList(ListView[Flag]):
    """Every feature flag, by name."""

    permission = "policy.view_flag"
    template = "registry/flags_list.html"
    heading, noun, search = "Feature flags", "flag", "Name of a flag"
    key, descending, ways = "name", False, ("Back", "More")

    def rows(self, params: Mapping[str, str]) -> QuerySet[Flag]:
        """Narrowed by `q`."""
        return flags_page(params, person_of(self.request))


class FlagNew(ConsoleView):
    """Makes a feature flag."""

    permission = "policy.add_flag"
    template = "registry/policy_new.html"
    words = {
        "title": "New feature flag",
        "hint": "It changes nothing until a tool needs it.",
        "action": "Make the flag",
        "up": "flags",
        "place": "Feature flags",
    }

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form."""
        return self.show({"form": FlagForm(), **self.words})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form = FlagForm(request.POST)
        flag = form.attempt(lambda: flag_create(by=person_of(request), **form.cleaned_data))
        if flag is None:
            return self.show({"form": form, **self.words}, status=422)
        messages.success(request, f"The flag {flag.name} is made. Name the tools that need it next.")
        return redirect("flag", name=flag.name)


class FlagPage(ConsoleView):
    """One flag: where it stands, which tools need it, which tiers have it."""

    permission = "policy.view_flag"
    template = "registry/flag_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        return self.show_flag(flag_detail(name))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Switches it."""
        flag = flag_detail(name)
        form = FlagStateForm(request.POST, of=FLAG.of(flag))

        def switch() -> bool:
            flag_switch(by=person_of(request), flag=flag, state=form.cleaned_data["state"])
            return True

        if not form.attempt(switch):
            return self.show_flag(flag, form=form, status=form.status)
        messages.success(request, f"The flag {name} is switched.")
        return redirect("flag", name=name)

    def show_flag(
        self,
        flag: Flag,
        *,
        form: FlagStateForm | None = None,
        tool_form: FlagToolForm | None = None,
        status: int = 200,
    ) -> HttpResponse:
        """The page; with a form that came back, status 422."""
        tools = flagged_tools(person_of(self.request)).filter(flag=flag)
        context = {
            "flag": flag,
            "form": form or FlagStateForm(of=FLAG.of(flag), initial={"state": flag.state}),
            "tool_form": tool_form or FlagToolForm(of=FLAG.of(flag)),
            "away": EditForm(of=FLAG.of(flag)),
            "tools": list(tools.values_list("tool", flat=True)),
            "tiers": [tier.name for tier in Tier.objects.all() if flag.name in tier.flags],
        }
        return self.show(context, status=status)


class FlagTools(FlagPage):
    """Makes a tool need the flag, or no longer."""

    permission = "policy.change_flag"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """Back to where the form stands."""
        return redirect("flag", name=name)

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Adds the tool, or takes it away (`away`)."""
        flag = flag_detail(name)
        form = FlagToolForm(request.POST, of=FLAG.of(flag))
        wanted = None if "away" in request.POST else flag

        def require() -> str:
            tool: str = form.wishes(person_of(request))["tool"]
            flag_require(by=person_of(request), tool=tool, flag=wanted)
            return tool

        tool = form.attempt(require)
        if tool is None:
            return self.show_flag(flag, tool_form=form, status=form.status)
        messages.success(
            request, f"{tool} needs the flag {name}." if wanted else f"{tool} needs no flag any more."
        )
        return redirect("flag", name=name)


class FlagDelete(QuestionView):
    """Asks, then deletes a flag."""

    permission = "policy.delete_flag"

    def about(self, name: str) -> Edited[Any] | None:
        """The flag."""
        return FLAG.of(flag_detail(name))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        flag = flag_detail(name)
        tools, others, tiers = flag_users(flag, person_of(request))
        back = reverse("flag", args=[name])
        if tools or others or tiers:
            first = [
                *(f"{tool} needs it." for tool in tools),
                *([f"Further tools need it: {others}."] if others else []),
                *(f"The tier {tier} has it." for tier in tiers),
            ]
            return self.ask(Question(f"The flag {name} is in use", first, "", back, leave="Back"))
        return self.ask(Question(f"Delete the flag {name}?", ["Its audit stays."], "Delete it", back))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        try:
            flag_delete(by=person_of(request), flag=flag_detail(name))
        except ToolHubError as error:
            if error.code != "IN_USE":
                raise
            return refused(request, error.message, reverse("flag", args=[name]))
        messages.success(request, f"The flag {name} is deleted.")
        return redirect("flags")
