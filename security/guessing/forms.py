"""allauth's forms that take a password or a code, with a guard around them."""

from typing import Any

from allauth.account.forms import ChangePasswordForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator

from security.guessing.guard import code_try, code_use, password_try


class GuardedPasswordForm(ChangePasswordForm):  # type: ignore[misc] # allauth has no types
    """The form for another password: the one of now is asked for."""

    def clean_oldpassword(self) -> str:
        taken = password_try(context.request, self.user.get_username(), self.user)
        password: str = super().clean_oldpassword()
        taken.right()
        return password


class _Guarded:
    """A code is counted before it is looked at, and taken once."""

    user: Any
    authenticator: Any

    def clean_code(self) -> str:
        taken = code_try(context.request, self.user)
        code: str = super().clean_code()  # type: ignore[misc]
        is_totp = self.authenticator.type == Authenticator.Type.TOTP
        digits = "".join(filter(str.isdigit, code))
        if is_totp and not code_use(self.user, digits):
            raise get_adapter().validation_error("incorrect_code")
        taken.right()
        return code


class GuardedCodeForm(_Guarded, AuthenticateForm):  # type: ignore[misc]
    """The second step of a sign-in."""


class GuardedCodeAgainForm(_Guarded, ReauthenticateForm):  # type: ignore[misc]
    """The code before a change of one's account."""
