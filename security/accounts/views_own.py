"""Pages: what belongs to the person who looks: invitation, own tokens, own sessions."""

from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse_lazy

from audit.ledger import Entry, record
from core.edits import Edited
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.views_errors import too_many
from security.accounts.notices import notice_owe
from security.accounts.roles import NAMES, ROLES
from security.accounts.sessions import device_words, session_end, sessions_end, sessions_of
from security.edits import TOKEN
from security.event_kinds import PERSON_PASSWORD_CHOSEN
from security.guessing.guard import address_try, address_wait
from security.guessing.limits import INVITATION
from security.models import Token, User
from security.oidc.people import identity_is_linked
from security.oidc.views import provider_link
from security.people import person_of
from security.permissions import actor_of
from security.second_factor import has_second_factor
from security.services import token_revoke
from security.sharing.selectors import given_to_person
from security.signin import password_counts
from security.tokens import token_valid
from security.tokens_shown import ends_with


class Invitation(PasswordResetConfirmView):
    """Whoever has the address chooses the person's password, once."""

    template_name = "account/invitation.html"
    success_url = reverse_lazy("account_login")
    reset_url_token = "choose"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer as Django does; wrong addresses are counted, whatever the method."""
        if wait := address_wait(request, INVITATION):
            return too_many(request, wait)
        answer = super().dispatch(request, *args, **kwargs)
        if answer.status_code == 200 and not self.validlink:
            address_try(request, INVITATION)
        return answer

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        """Also a link to the provider, with which the person signs in from then on instead."""
        context = super().get_context_data(**given)
        if context["validlink"] and settings.OIDC:
            token = self.request.session[INTERNAL_RESET_SESSION_TOKEN]
            person: User = self.user
            context["provider"] = settings.OIDC
            context["link"] = provider_link(self.request, person=person.pk, invitation=token)
            context["passwords"] = password_counts(person)
        return {"passwords": True, **context}

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Keeps the password; on record, without it."""
        person = form.user
        if not password_counts(person):
            raise Http404("Passwords are switched off.")
        with transaction.atomic():
            response = super().form_valid(form)
            record(
                Entry(
                    PERSON_PASSWORD_CHOSEN,
                    actor_of(person),
                    "person",
                    str(person.pk),
                    {"person": person.get_username()},
                )
            )
            notice_owe(person, "a password was chosen at an address that was made for you.")
        messages.success(self.request, "The password is kept. Sign in with it.")
        return response


class OwnPage(ConsoleView):
    """The person's own roles, tokens and sessions."""

    template = "account/own.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        person = person_of(request)
        groups = list(person.groups.order_by("name"))
        mine = {group.name for group in groups}
        return self.show(
            {
                "roles": [role for role in ROLES if role.name in mine],
                "teams": [group for group in groups if group.name not in NAMES],
                "given": given_to_person(person, person),
                "tokens": token_valid().filter(responsible=person).select_related("persona"),
                "sessions": sessions_of(person, request),
                "second_factor": has_second_factor(person),
                "password": person.has_usable_password() and password_counts(person),
                "provider": settings.OIDC,
                "linked": identity_is_linked(person),
            }
        )


class OwnTokenRevoke(QuestionView):
    """Asks, then revokes a token that the person answers for."""

    def about(self, row: int) -> Edited[Any] | None:
        """The token."""
        return TOKEN.of(_token(self.request, row))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        token = _token(request, row)
        others = ends_with(person_of(request), [token.pk])
        touched = [
            f"The next call with it is refused. It is used for {token.name} of {token.persona.name}.",
            *([f"What agents made with it ends, too: {others}."] if others else []),
        ]
        return self.ask(Question(f"Revoke {token.prefix}…?", touched, "Revoke it", str(reverse_lazy("own"))))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        token = _token(request, row)
        token_revoke(by=person_of(request), token=token)
        messages.success(request, f"{token.prefix}… is revoked.")
        return redirect("own")


class OwnSessionEnd(QuestionView):
    """Asks, then ends another session of the person."""

    def about(self, row: int) -> Edited[Any] | None:
        """A session is never edited."""
        return None

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        session = get_object_or_404(UserSession, pk=row, user=person_of(request))
        touched = [f"Who uses it has to sign in again: {device_words(session.user_agent)}, {session.ip}."]
        return self.ask(Question("End this session?", touched, "End it", str(reverse_lazy("own"))))

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        person = person_of(request)
        session_end(by=person, row=get_object_or_404(UserSession, pk=row, user=person))
        messages.success(request, "The session is ended.")
        return redirect("own")


class OwnSessionsEnd(QuestionView):
    """Asks, then ends all other sessions of the person."""

    def about(self) -> Edited[Any] | None:
        """Sessions are never edited."""
        return None

    def get(self, request: HttpRequest) -> HttpResponse:
        """The question."""
        touched = ["Everywhere but here you have to sign in again.", "Tokens are not touched."]
        return self.ask(Question("End all other sessions?", touched, "End them", str(reverse_lazy("own"))))

    def post(self, request: HttpRequest) -> HttpResponse:
        """The act."""
        person = person_of(request)
        sessions_end(person, by=person, why="all others", keep=request)
        messages.success(request, "You are signed in here alone.")
        return redirect("own")


def _token(request: HttpRequest, row: int) -> Token:
    return get_object_or_404(token_valid().select_related("persona"), pk=row, responsible=person_of(request))
