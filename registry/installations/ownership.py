"""Who sees an installation before it is published: the person who started it and the team they chose.

Nobody else reads its log, its error, its archive or its source, which may be a private repository. A package
that could not be read names no owner. Once published, the package's owner decides. A new package belongs to
the chosen team from the start. Without a team, everyone with the right to install sees an installation as
soon as its package is known, because they review it (docs/adr/0038-unpublished-installations.md).
"""

from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet

from core.errors import InvalidRequest
from registry.installations.four_eyes import INSTALL, responsible
from registry.installations.models import Installation, Status
from security.acting import By
from security.models import User
from security.sharing.reach import about, everything, kept_by, known, own_of
from security.sharing.teams import teams


def installations_seen(person: User) -> QuerySet[Installation]:
    """Return the installations that the person may read and act on."""
    rows = Installation.objects.all()
    if everything(person):
        return rows
    return about(person, rows, INSTALL, package="package").exclude(_foreign(person))


def installations_hidden(person: User) -> QuerySet[Installation]:
    """Return the installations whose audit events the person does not see, whatever their roles."""
    if everything(person):
        return Installation.objects.none()
    own = own_of(person)
    kept = kept_by(own)["package"] if own else []
    named = (Q(package__in=packages.values("name")) for packages in kept)
    return Installation.objects.filter(Q(_foreign(person), *named, _connector=Q.OR))


def _foreign(person: User) -> Q:
    """Match unpublished installations of other people and teams, and those whose package is not known yet."""
    others = ~Q(person=person) & ~Q(team__in=known(person).teams)
    return ~Q(status=Status.PUBLISHED) & others & (Q(team__isnull=False) | Q(package=""))


def teams_to_choose(person: User) -> list[Group]:
    """Return the teams that the person may start an installation for: their own, for an admin all."""
    rows = teams()
    return list(rows if everything(person) else rows.filter(user=person))


def team_chosen(by: By, name: str | None) -> Group | None:
    """Return the team that an installation belongs to.

    `name` is the team's name, empty for no team, or None where the caller did not choose: then it is the
    person's team if they are in exactly one. Raises InvalidRequest for a team that is not theirs to choose.
    """
    pk = responsible(by)
    person = User.objects.get(pk=pk) if pk is not None else None
    if not name:
        own = list(teams().filter(user=person)[:2]) if person and name is None else []
        return own[0] if len(own) == 1 else None
    choices = teams_to_choose(person) if person else list(teams())
    found = next((team for team in choices if team.name == name), None)
    if found is None:
        names = ", ".join(team.name for team in choices) or "none"
        message = f"{name[:64]!r} is not one of your teams. Expected one of: {names}."
        raise InvalidRequest(message, errors=[{"pointer": "/team", "message": message}])
    return found
