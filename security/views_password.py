"""The page on which people change their password."""

from typing import Any

from allauth.account.views import PasswordChangeView
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from audit.ledger import Entry, record
from security.accounts.notices import notice_owe
from security.event_kinds import PERSON_PASSWORD_CHANGED
from security.people import person_of
from security.permissions import actor_of
from security.signin import password_counts


class PasswordChange(PasswordChangeView):  # type: ignore[misc] # allauth has no types
    """As allauth has it, for people who have a password here."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Who signs in elsewhere has none to change. Raises Http404."""
        user = request.user
        if user.is_authenticated and not (user.has_usable_password() and password_counts(user)):
            raise Http404("This person signs in without a password of the hub.")
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer

    def form_valid(self, form: Any) -> HttpResponse:
        """Keeps the password; on record without it, and told to the person."""
        person = person_of(self.request)
        with transaction.atomic():
            answer: HttpResponse = super().form_valid(form)
            said = {"person": person.get_username()}
            record(Entry(PERSON_PASSWORD_CHANGED, actor_of(person), "person", str(person.pk), said))
            notice_owe(person, "your password was changed.")
        return answer
