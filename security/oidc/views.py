"""Pages: to the provider and back, and the bond between one's account and it.

What sends and verifies is imported when somebody comes: it takes 10 MB of a process.
"""

import logging
from types import ModuleType
from typing import Any

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from allauth.account.models import Login
from allauth.account.views import LoginView
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.module_loading import import_string
from django.views import View

from core.edits import Edited
from core.errors import ToolHubError
from core.outbox.check import mail_check
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from security.edits import PERSON
from security.guessing.guard import address_try
from security.guessing.limits import PROVIDER
from security.models import User
from security.oidc.options import options_now
from security.oidc.people import identity_is_linked, identity_link, identity_unlink, person_arrive
from security.people import person_of

log = logging.getLogger(__name__)


def _flow() -> ModuleType:
    from security.oidc import flow  # noqa: PLC0415 - see above

    return flow


def provider_link(request: HttpRequest, *, to: str = "", person: int = 0, invitation: str = "") -> str:
    """The provider's address for a link on a page, good in this browser; empty when it cannot be reached.

    A link and no form: the policy of the pages lets no form lead elsewhere.
    """
    flow = _flow()
    try:
        return str(flow.flow_begin(request, to=to, person=person, invitation=invitation))
    except flow.ProviderFailed as error:
        log.warning("%s: %s", options_now().label, error)
        return ""


class SignIn(LoginView):  # type: ignore[misc] # allauth has no types
    """By a password, or by a button that leads to the provider."""

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        """Also what the button says, and whether passwords are for everybody."""
        more = {"provider": settings.OIDC, "passwords": settings.PASSWORDS}
        context: dict[str, Any] = super().get_context_data(**given)
        return {**context, **more}


class _Elsewhere(View):
    """For everybody, where a provider is set up. Requests are counted by address, whatever their method."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if settings.OIDC is None:
            raise Http404
        taken = address_try(request, PROVIDER)
        if isinstance(taken, HttpResponse):
            return taken
        answer = super().dispatch(request, *args, **kwargs)
        answer.headers["Cache-Control"] = "private, no-store"
        return answer


class SignInElsewhere(_Elsewhere):
    """Sends somebody to the provider."""

    def get(self, request: HttpRequest) -> HttpResponse:
        to = request.GET.get("next", "")
        safe = url_has_allowed_host_and_scheme(to, {request.get_host()}, require_https=request.is_secure())
        address = provider_link(request, to=to if safe else "")
        if not address:
            messages.error(
                request, f"{options_now().label} cannot be reached at the moment. Try again later."
            )
            return redirect("account_login")
        return redirect(address)


class SignedInElsewhere(_Elsewhere):
    """Takes up who comes back from the provider: signs in, or links."""

    def get(self, request: HttpRequest) -> HttpResponse:
        flow, options = _flow(), options_now()
        try:
            claims, begun = flow.flow_finish(request)
            if begun.person:
                return self._link(request, claims, begun)
            person = person_arrive(claims, options)
        except flow.ProviderFailed as error:
            log.warning("%s: %s", options.label, error)
            messages.error(request, f"The answer of {options.label} was not accepted: {error}.")
            return redirect("account_login")
        except ToolHubError as error:
            messages.error(request, " ".join([error.message, *error.suggestions]))
            return redirect("own" if request.user.is_authenticated else "account_login")
        return self._enter(request, person, begun.next)

    def _link(self, request: HttpRequest, claims: Any, begun: Any) -> HttpResponse:
        """Only whom it was begun for: signed in still, or with an invitation."""
        person = get_object_or_404(User, pk=begun.person)
        if not begun.invitation and request.user.pk != person.pk:
            messages.error(request, "Somebody else is signed in by now.")
            return redirect("own")
        identity_link(claims, options_now(), person=person, invitation=begun.invitation)
        if begun.invitation:
            return self._enter(request, person, "")
        messages.success(request, f"You can sign in with {options_now().label} from now on.")
        return redirect("own")

    def _enter(self, request: HttpRequest, person: User, to: str) -> HttpResponse:
        """By allauth, as with a password: a second factor is asked for, the session is listed."""
        record_authentication(request, person, method="provider")
        answer: HttpResponse = perform_login(request, Login(user=person, redirect_url=to or None))
        return answer


class OwnIdentity(ConsoleView):
    """Links one's account to oneself at the provider; who has a password is asked for it first."""

    template = "account/identity.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """What it means, and the link that leads there."""
        if settings.OIDC is None:
            raise Http404
        if is_reauthentication_required(request, app="toolhub"):
            raise ReauthenticationRequired
        person = person_of(request)
        linked = identity_is_linked(person)
        link = "" if linked else provider_link(request, person=person.pk)
        return self.show({"label": options_now().label, "linked": linked, "link": link})


class OwnIdentityEnd(QuestionView):
    """Asks, then ends that one signs in at the provider."""

    def about(self) -> Edited[Any] | None:
        """The person."""
        return PERSON.of(person_of(self.request))

    def get(self, request: HttpRequest) -> HttpResponse:
        """The question."""
        touched = ["You sign in with your password alone."]
        return self.ask(Question("End the link to the provider?", touched, "End it", reverse("own")))

    def post(self, request: HttpRequest) -> HttpResponse:
        """The act."""
        person = person_of(request)
        return _unlinked(request, person, person, reverse("own"))


class PersonIdentity(QuestionView):
    """Asks, then ends that somebody signs in at the provider."""

    permission = "security.change_user"

    def about(self, name: str) -> Edited[Any] | None:
        """The person."""
        return PERSON.of(get_object_or_404(User, username=name))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        get_object_or_404(User, username=name)
        touched = [
            "They cannot sign in at the provider until they are linked anew, by an address that you make.",
            "Where they are signed in, they stay so.",
        ]
        back = reverse("person", args=[name])
        return self.ask(Question(f"Unlink {name} from the provider?", touched, "Unlink", back))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        person = get_object_or_404(User, username=name)
        return _unlinked(request, person_of(request), person, reverse("person", args=[name]))


def _unlinked(request: HttpRequest, by: User, person: User, back: str) -> HttpResponse:
    try:
        identity_unlink(by=by, person=person)
    except ToolHubError as error:
        return refused(request, error.message, back)
    messages.success(request, f"{person.get_username()} is not linked to the provider any more.")
    return redirect(back)


class SignInSettings(ConsoleView):
    """How people sign in and are invited, as the settings say, and whether the servers for it answer."""

    permission = "security.view_user"
    template = "security/sign_in.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        check = import_string("security.oidc.check.provider_check")
        asked = {"found": check(), "mail": mail_check(), "mail_from": settings.MAIL_FROM}
        return self.show({"options": settings.OIDC, "passwords": settings.PASSWORDS, **asked})
