"""Pages: people, their roles, how they come and go."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import ToolHubError
from core.lists import ListView
from core.pages import ConsoleView, Page
from core.questions import Question, QuestionView
from core.submissions.pages import ShownOnce, refused
from security.accounts.belongings import belongings_of
from security.accounts.forms import InviteForm, LeaveForm, RolesForm
from security.accounts.invitations import invitation_mail, invitation_news, invitation_show
from security.accounts.roles import NAMES
from security.accounts.services import (
    ADD,
    CHANGE,
    person_invite,
    person_leave,
    person_return,
    person_roles_set,
)
from security.edits import LEAVING, PERSON
from security.models import User
from security.people import person_of
from security.second_factor import has_second_factor, second_factor_remove
from security.sharing.selectors import given_to_person

VIEW = "security.view_user"


class PeopleList(ListView[User]):
    """Everybody who signs in, by name."""

    permission = VIEW
    template = "security/people_list.html"
    heading, noun, nouns, search = "People", "person", "people", "Name or e-mail"
    above = ("settings", "Settings")
    key, descending, ways = "username", False, ("Back", "More")

    def rows(self, params: Mapping[str, str]) -> QuerySet[User]:
        """Narrowed by `q`."""
        rows = User.objects.prefetch_related("groups").order_by("username")
        if text := params.get("q", "").strip():
            rows = rows.filter(Q(username__icontains=text) | Q(email__icontains=text))
        return rows

    def more(self, page: Page[User]) -> dict[str, Any]:
        """Which of a person's groups are roles, the others are teams; and who has no role."""
        without = {
            person.pk
            for person in page.rows
            if not person.is_superuser and not any(group.name in NAMES for group in person.groups.all())
        }
        return {"roles": NAMES, "without": without}


class PersonInvite(ConsoleView):
    """Invites somebody; the address to send is shown once."""

    permission = ADD
    template = "security/person_invite.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The empty form."""
        return self.show({"form": InviteForm(), "mail": settings.MAIL_FROM})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Invites, or shows what is wrong."""
        form, by = InviteForm(request.POST), person_of(request)
        person = form.attempt(lambda: person_invite(by=by, **form.cleaned_data))
        if person is None:
            return self.show({"form": form, "mail": settings.MAIL_FROM}, status=422)
        if not (settings.MAIL_FROM and person.email):
            return _link_shown(self, by, person)
        invitation_mail(by=by, person=person)
        messages.success(request, f"An invitation goes to {person.email}.")
        return redirect("person", name=person.get_username())


class PersonPage(ConsoleView):
    """One person: roles, and what they answer for."""

    permission = VIEW
    template = "security/person.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        return self._show(_person(name))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Sets the roles."""
        person, by = _person(name), person_of(request)
        form = RolesForm(request.POST, of=PERSON.of(person))

        def act() -> bool:
            person_roles_set(by=by, person=person, roles=form.cleaned_data["roles"])
            return True

        if form.attempt(act) is None:
            return self._show(person, form, status=form.status)
        messages.success(request, f"The roles of {person.get_username()} are set; they hold at once.")
        return redirect("person", name=name)

    def _show(self, person: User, form: RolesForm | None = None, status: int = 200) -> HttpResponse:
        groups = sorted(person.groups.all(), key=lambda group: group.name)
        roles = [group.name for group in groups if group.name in NAMES]
        context = {
            "person": person,
            "form": form or RolesForm(of=PERSON.of(person), initial={"roles": roles}),
            "roles": roles,
            "teams": [group for group in groups if group.name not in NAMES],
            "given": given_to_person(person, person_of(self.request)),
            "belongings": belongings_of(person, person_of(self.request)),
            "second_factor": has_second_factor(person),
            "linked": person.identities.exists(),
            "mailed": invitation_news(person),
            "can_mail": bool(settings.MAIL_FROM and person.email),
        }
        return self.show(context, status=status)


class PersonLink(QuestionView):
    """Asks, then makes an address at which the person chooses a password."""

    permission = ADD

    def about(self, name: str) -> Edited[Any] | None:
        """The person."""
        return PERSON.of(_person(name))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        person = _person(name)
        touched = [
            "Who has the address chooses the password: send it to nobody else.",
            "It is good for 3 days.",
        ]
        title = f"Make an address for {person.get_username()}?"
        return self.ask(Question(title, touched, "Make it", reverse("person", args=[name]), calm=True))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act. The answer is never stored."""
        try:
            return _link_shown(self, person_of(request), _person(name))
        except ToolHubError as error:
            return refused(request, error.message, reverse("person", args=[name]))


class PersonMail(QuestionView):
    """Asks, then mails somebody an address at which they choose a password."""

    permission = ADD

    def about(self, name: str) -> Edited[Any] | None:
        """The person."""
        return PERSON.of(_person(name))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        person, back = _person(name), reverse("person", args=[name])
        title = f"Mail {person.get_username()} an address to choose a password at?"
        if not person.email:
            missing = [
                f"No e-mail address of {person.get_username()} is known. Make an address to hand over."
            ]
            return self.ask(Question(title, missing, "", back, leave="Back"))
        touched = [f"It goes to {person.email}.", "It is good for 3 days, once."]
        return self.ask(Question(title, touched, "Mail it", back, calm=True))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        person = _person(name)
        try:
            invitation_mail(by=person_of(request), person=person)
        except ToolHubError as error:
            words = " ".join([error.message, *error.suggestions])
            return refused(request, words, reverse("person", args=[name]))
        messages.success(request, f"A mail goes to {person.email}.")
        return redirect("person", name=name)


class PersonLeave(ConsoleView):
    """Lists what a person answers for, and ends their access."""

    permission = CHANGE
    template = "security/person_leave.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The form."""
        person = _person(name)
        return self._show(person, LeaveForm(of=LEAVING.of(person)))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        person, by = _person(name), person_of(request)
        form = LeaveForm(request.POST, of=LEAVING.of(person))
        done = form.attempt(
            lambda: person_leave(by=by, person=person, successor=form.cleaned_data["successor"])
        )
        if done is None:
            return self._show(person, form, status=form.status)
        messages.success(request, f"{person.get_username()} can no longer sign in.")
        return redirect("person", name=name)

    def _show(self, person: User, form: LeaveForm, status: int = 200) -> HttpResponse:
        by = person_of(self.request)
        context = {"person": person, "form": form, "belongings": belongings_of(person, by)}
        return self.show(context, status=status)


class PersonFactor(QuestionView):
    """Asks, then takes the second factor of somebody who lost theirs."""

    permission = CHANGE

    def about(self, name: str) -> Edited[Any] | None:
        """The person."""
        return PERSON.of(_person(name))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        person = _person(name)
        touched = [
            "The password alone lets them in until they add another one.",
            "Be sure that it is they who ask.",
        ]
        title = f"Take the second factor of {person.get_username()} away?"
        return self.ask(Question(title, touched, "Take it away", reverse("person", args=[name])))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        try:
            second_factor_remove(by=person_of(request), person=_person(name))
        except ToolHubError as error:
            return refused(request, error.message, reverse("person", args=[name]))
        messages.success(request, f"{name} signs in with the password alone.")
        return redirect("person", name=name)


class PersonReturn(QuestionView):
    """Asks, then lets somebody sign in again."""

    permission = CHANGE

    def about(self, name: str) -> Edited[Any] | None:
        """The person."""
        return PERSON.of(_person(name))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        person = _person(name)
        touched = ["With the password and the roles of before.", "What was stopped stays stopped."]
        title = f"Let {person.get_username()} sign in again?"
        return self.ask(Question(title, touched, "Let them", reverse("person", args=[name]), calm=True))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        person_return(by=person_of(request), person=_person(name))
        messages.success(request, f"{name} can sign in again.")
        return redirect("person", name=name)


def _person(name: str) -> User:
    return get_object_or_404(User.objects.prefetch_related("groups"), username=name)


def _link_shown(view: ConsoleView, by: User, person: User) -> HttpResponse:
    view.template = "security/person_link.html"
    text = invitation_show(by=by, person=person)
    back = reverse("person", args=[person.get_username()])
    words = {"title": f"An address for {person.get_username()}", "what": "the address"}
    notice = (
        "You sent this form twice. It was carried out once, and the address was shown in the first answer."
        " If you did not copy it, make another."
    )
    return ShownOnce.of(view.show({"person": person, "text": text, "back": back, **words}), back, notice)
