"""Pages: teams, their members, and what they own."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import InvalidRequest, ToolHubError
from core.lists import ListView
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from security.edits import TEAM
from security.models import User
from security.people import person_of
from security.sharing.forms import MemberForm, TeamForm
from security.sharing.selectors import SHOWN, owned_by, teams_page
from security.sharing.teams import (
    CHANGE,
    team_create,
    team_delete,
    team_get,
    team_holds,
    team_join,
    team_part,
)

VIEW = "security.view_user"


class TeamsList(ListView[Group]):
    """Every team, by name."""

    permission = VIEW
    template = "security/teams_list.html"
    heading, noun, search = "Teams", "team", "Name of a team"
    above = ("settings", "Settings")
    key, descending, ways = "name", False, ("Back", "More")

    def rows(self, params: Mapping[str, str]) -> QuerySet[Group]:
        """Narrowed by `q`."""
        return teams_page(params)


class TeamNew(ConsoleView):
    """Makes a team."""

    permission = CHANGE
    template = "security/team_new.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The empty form."""
        return self.show({"form": TeamForm()})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form, by = TeamForm(request.POST), person_of(request)
        team = form.attempt(lambda: team_create(by=by, name=form.cleaned_data["name"]))
        if team is None:
            return self.show({"form": form}, status=422)
        messages.success(request, f"The team {team.name} is made. Add its members next.")
        return redirect("team", row=team.pk)


class TeamPage(ConsoleView):
    """One team, for its members and for who sees people."""

    template = "security/team.html"

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The page."""
        return self._show(team_get(row), MemberForm())

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """Adds a member, or shows what is wrong."""
        team, form, by = team_get(row), MemberForm(request.POST), person_of(request)

        def join() -> User:
            person = User.objects.filter(username=form.cleaned_data["person"].strip()).first()
            if person is None:
                message = "There is nobody of this name."
                raise InvalidRequest(message, errors=[{"pointer": "/person", "message": message}])
            team_join(by=by, team=team, person=person)
            return person

        person = form.attempt(join)
        if person is None:
            return self._show(team, form, status=422)
        messages.success(request, f"{person.get_username()} is a member; that holds at once.")
        return redirect("team", row=row)

    def _show(self, team: Group, form: MemberForm, status: int = 200) -> HttpResponse:
        person = person_of(self.request)
        members = User.objects.filter(groups=team).order_by("username")
        if not person.has_perm(VIEW) and not members.filter(pk=person.pk).exists():
            raise Http404
        context = {"team": team, "form": form, "members": list(members[:SHOWN]), "count": members.count()}
        return self.show({**context, "owned": list(owned_by(team, person))}, status=status)


class TeamPart(QuestionView):
    """Asks, then ends a membership."""

    permission = CHANGE

    def about(self, row: int, person: int) -> Edited[Any] | None:
        """The team."""
        return TEAM.of(team_get(row))

    def get(self, request: HttpRequest, row: int, person: int) -> HttpResponse:
        """The question."""
        team, one = team_get(row), get_object_or_404(User, pk=person)
        touched = [f"What {team.name} owns is no longer there for {one.get_username()}, unless it is shared."]
        title = f"Take {one.get_username()} out of {team.name}?"
        return self.ask(Question(title, touched, "Take out", reverse("team", args=[row])))

    def post(self, request: HttpRequest, row: int, person: int) -> HttpResponse:
        """The act."""
        one = get_object_or_404(User, pk=person)
        team_part(by=person_of(request), team=team_get(row), person=one)
        messages.success(request, f"{one.get_username()} is no longer a member.")
        return redirect("team", row=row)


class TeamDelete(QuestionView):
    """Asks, then takes a team away."""

    permission = CHANGE

    def about(self, row: int) -> Edited[Any] | None:
        """The team."""
        return TEAM.of(team_get(row))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        team, back = team_get(row), reverse("team", args=[row])
        if held := team_holds(team):
            first = [f"It owns {held}: give them to others, or to everybody, first."]
            return self.ask(Question(f"The team {team.name} is in use", first, "", back, leave="Back"))
        touched = ["Rights that it was given are gone with it."]
        return self.ask(Question(f"Delete the team {team.name}?", touched, "Delete it", back))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        team = team_get(row)
        try:
            team_delete(by=person_of(request), team=team)
        except ToolHubError as error:
            words = " ".join([error.message, *error.suggestions])
            return refused(request, words, reverse("team", args=[row]))
        messages.success(request, f"The team {team.name} is deleted.")
        return redirect("teams")
