"""The page on which people change their password."""

from typing import Any

from allauth.account.views import PasswordChangeView
from django.http import Http404, HttpRequest, HttpResponseBase

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
