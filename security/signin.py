"""Sign-in rules for allauth."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up by themselves: admins make accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
