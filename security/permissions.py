"""What people may do: one question, asked by every service and every page."""

from core.actors import Actor
from core.errors import Denied
from security.models import User


def actor_of(user: User) -> Actor:
    """The person as the record names them."""
    return Actor("person", str(user.pk), user.get_username())


def require(user: User, permission: str) -> None:
    """Raises Denied unless the person holds the Django permission, `security.change_persona`."""
    if not user.has_perm(permission):
        raise Denied(
            f"{user.get_username()} lacks the permission {permission}.",
            suggestions=["Ask an admin for it."],
        )
