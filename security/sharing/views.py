"""Page: whose an object is, and who was given which right on it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from core.edits import Edited
from core.forms import ConsoleForm
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from security.edits import sharing_edited
from security.models import User
from security.people import person_of
from security.sharing.forms import OwnerForm, ShareForm, holder_named
from security.sharing.kinds import kind_of
from security.sharing.levels import LEVELS
from security.sharing.perms import PermsOn
from security.sharing.reach import everything
from security.sharing.remedies import who_may_share
from security.sharing.selectors import given_on, thing_seen
from security.sharing.services import may_share, right_give, right_take, share_check, team_set
from security.sharing.teams import teams


class SharingPage(ConsoleView):
    """One object: its team, the rights given on it, and what the person may do."""

    template = "security/sharing.html"

    def get(self, request: HttpRequest, kind: str, name: str) -> HttpResponse:
        """The page, for whoever sees the object."""
        return self.show_thing(thing_seen(kind, name, person_of(request)))

    def post(self, request: HttpRequest, kind: str, name: str) -> HttpResponse:
        """Gives a right, or shows what is wrong."""
        by = person_of(request)
        thing = thing_seen(kind, name, by)
        form = ShareForm(request.POST, levels=kind_of(thing).levels)

        def give() -> str:
            to, level = holder_named(form.cleaned_data["to"]), form.cleaned_data["level"]
            right_give(by=by, thing=thing, to=to, level=level)
            return f"{to} has the right to {level} {name}."

        said = form.attempt(give)
        if said is None:
            return self.show_thing(thing, share=form)
        messages.success(request, said)
        return redirect("sharing", kind=kind, name=name)

    def show_thing(self, thing: Model, **came_back: ConsoleForm) -> HttpResponse:
        """The page; with a form that came back, the form's status."""
        person = person_of(self.request)
        team = thing.team  # type: ignore[attr-defined]
        forms: dict[str, Any] = {
            "share": ShareForm(auto_id="share_%s", levels=kind_of(thing).levels),
            "owner": None,
        }
        if everything(person):
            given = {"team": team.name if team else ""}
            forms["owner"] = OwnerForm(of=sharing_edited(thing), auto_id="owner_%s", initial=given)
        return self.show(
            {
                "thing": thing,
                "sharing": PermsOn(person, thing).summary(),
                "given": given_on(thing),
                "shares": may_share(person, thing),
                "who": who_may_share(thing),
                **forms,
                **came_back,
            },
            status=next((form.status for form in came_back.values()), 200),
        )


class SharingTeam(SharingPage):
    """Gives an object to a team, or to everybody."""

    def get(self, request: HttpRequest, kind: str, name: str) -> HttpResponse:
        """Back to where the form stands."""
        return redirect("sharing", kind=kind, name=name)

    def post(self, request: HttpRequest, kind: str, name: str) -> HttpResponse:
        """The act, or what is wrong."""
        by = person_of(request)
        thing = thing_seen(kind, name, by)
        form = OwnerForm(request.POST, of=sharing_edited(thing))

        def give() -> str:
            team = teams().filter(name=form.cleaned_data["team"]).first()
            team_set(by=by, thing=thing, team=team)
            return f"{name} belongs to {team or 'everybody'}."

        said = form.attempt(give)
        if said is None:
            return self.show_thing(thing, owner=form)
        messages.success(request, said)
        return redirect("sharing", kind=kind, name=name)


class SharingTake(QuestionView):
    """Asks, then takes a right back."""

    def about(self, kind: str, name: str, **_: Any) -> Edited[Any] | None:
        """The rights on the object."""
        return sharing_edited(thing_seen(kind, name, person_of(self.request)))

    def get(self, request: HttpRequest, kind: str, name: str, **what: Any) -> HttpResponse:
        """The question."""
        thing, to, level = self._what(kind, name, **what)
        share_check(person_of(request), thing, level)
        touched = [f"That is to {LEVELS[level]}. A role or a team may still let them."]
        title = f"Take the right to {level} {name} from {to}?"
        return self.ask(Question(title, touched, "Take it back", reverse("sharing", args=[kind, name])))

    def post(self, request: HttpRequest, kind: str, name: str, **what: Any) -> HttpResponse:
        """The act."""
        thing, to, level = self._what(kind, name, **what)
        right_take(by=person_of(request), thing=thing, to=to, level=level)
        messages.success(request, f"{to} no longer has the right to {level} {name}.")
        return redirect("sharing", kind=kind, name=name)

    def _what(
        self, kind: str, name: str, *, level: str, holder: str, pk: int
    ) -> tuple[Model, User | Group, str]:
        if level not in LEVELS or holder not in {"person", "team"}:
            raise Http404
        thing = thing_seen(kind, name, person_of(self.request))
        if holder == "person":
            return thing, get_object_or_404(User, pk=pk), level
        return thing, get_object_or_404(Group, pk=pk), level
