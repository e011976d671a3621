"""What people may do: one question, asked by every service and every page."""

from django.db.models import Model

from core.actors import Actor
from core.errors import Denied, NotFound
from security.models import User
from security.sharing.kinds import kind_of
from security.sharing.reach import may, rights_on
from security.sharing.remedies import who_may_share


def actor_of(user: User) -> Actor:
    """The person as the record names them."""
    return Actor("person", str(user.pk), user.get_username())


def require(user: User, permission: str, *things: Model) -> None:
    """Raises Denied unless the person holds the Django permission, `security.change_persona`, on each thing.

    Of a thing that the person may not see it raises NotFound: it looks as if it were not there.
    """
    if not things and not user.has_perm(permission):
        raise Denied(
            f"{user.get_username()} lacks the permission {permission}.",
            suggestions=["Ask an admin for it."],
        )
    for thing in things:
        if not may(user, permission, thing):
            _refuse(user, permission, thing)


def _refuse(user: User, permission: str, thing: Model) -> None:
    kind, rights = kind_of(thing), rights_on(user, thing)
    if rights.kept and not rights.allows(kind.view):
        raise NotFound(f"There is no {kind.name} {thing}.")
    raise Denied(
        f"{user.get_username()} lacks the permission {permission} on {thing}.",
        suggestions=[f"Ask {who_may_share(thing)} for it."],
    )
