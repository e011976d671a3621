"""`perms` of templates on the page of one object: what the person may do there, not in all of the hub."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Model

from security.models import User
from security.sharing.kinds import Kind, kind_of
from security.sharing.levels import APPROVE, EXECUTE, LEVELS, MANAGE, VIEW
from security.sharing.reach import Rights, everything, rights_on, with_parents


@dataclass(frozen=True)
class May:
    """Whether the person may do what a right stands for, and why (not)."""

    level: str
    what: str
    allowed: bool
    why: str


@dataclass(frozen=True)
class Sharing:
    """Whose an object is, and what the person may do with it."""

    kind: str
    name: str
    teams: tuple[str, ...]
    may: tuple[May, ...]


class PermsOn:
    """As Django's `perms`: whether the person holds `perms.registry.change_tool` on each of the objects."""

    def __init__(self, person: User, *things: Model) -> None:
        self._person, self._things = person, things
        self._rights = [rights_on(person, thing) for thing in things]

    def __getitem__(self, app: str) -> "_App":
        return _App(self, app)

    def __iter__(self) -> Iterator[str]:
        raise TypeError("Permissions are looked up by name.")

    def allows(self, permission: str) -> bool:
        """Whether the person holds it on all of them."""
        return all(rights.allows(permission) for rights in self._rights)

    def summary(self) -> Sharing:
        """For the page of one object; no query beyond those for its rights."""
        (thing,), (rights,) = self._things, self._rights
        kind = kind_of(thing)
        teams = tuple(dict.fromkeys(one.team.name for _, one in with_parents(thing) if one.team_id))
        return Sharing(
            kind.name, str(thing), teams, tuple(_may(rights, kind, level) for level in kind.levels)
        )


class _App:
    def __init__(self, perms: PermsOn, app: str) -> None:
        self._perms, self._app = perms, app

    def __getitem__(self, code: str) -> bool:
        return self._perms.allows(f"{self._app}.{code}")


def _may(rights: Rights, kind: Kind, level: str) -> May:
    permission = {
        VIEW: kind.view,
        EXECUTE: "execution.add_run",
        MANAGE: kind.manage,
        APPROVE: "execution.approve_run",
    }[level]
    hub = rights.person.has_perm(permission)
    if hub and everything(rights.person):
        why = "admins may, whoever owns it"
    elif hub and rights.member:
        why = "by your roles, as a member of its team"
    elif hub and not rights.kept:
        why = "by your roles"
    elif rights.given(level):
        why = "you were given the right" if level in rights.levels else "you were given another right on it"
    elif hub:
        why = "your roles say so, but you are not in its team"
    else:
        why = "no role of yours says so"
    return May(level, LEVELS[level], rights.allows(permission), why)
