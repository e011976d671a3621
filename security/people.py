"""The signed-in person behind a request."""

from django.http import HttpRequest

from security.models import User


def person_of(request: HttpRequest) -> User:
    """The person; pages ask only after sign-in. Raises TypeError for anybody else."""
    if not isinstance(request.user, User):
        raise TypeError("Nobody is signed in.")
    return request.user
