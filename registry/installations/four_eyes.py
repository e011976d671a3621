"""Four eyes: who brought a package in does not publish it, as long as somebody else may."""

from dataclasses import dataclass
from typing import Literal

from django.db.models import Q

from core.errors import Denied
from registry.installations.models import Installation
from registry.models import Package
from security.acting import By
from security.models import User
from security.principals import PersonaPrincipal
from security.sharing.people import people_with
from security.sharing.reach import EVERYTHING
from security.two_person_rule import SHOWN, four_eyes_hold

INSTALL = "registry.add_release"
Rule = Literal["other", "alone", "off", "operator", "refused"]


@dataclass(frozen=True)
class Eyes:
    """Whose eyes they are: somebody else's, those of the only one who may, an operator's at the machine, or
    anybody's where the rule is off. `refused`: one of `others` has to decide.
    """

    rule: Rule
    others: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """What the reviewer is told, empty when there is nothing to say."""
        if self.rule == "alone":
            return (
                "You brought it in yourself, and nobody else may publish it. "
                "A second person with the right to install would be four eyes."
            )
        return f"Who brought it in cannot publish it. {self._who}" if self.rule == "refused" else ""

    @property
    def _who(self) -> str:
        return f"{', '.join(self.others)} can."


def eyes_of(by: By, one: Installation) -> Eyes:
    """How the rule of four eyes sees this reviewer of an installation."""
    if not four_eyes_hold():
        return Eyes("off")
    person = responsible(by)
    if person is None:
        return Eyes("operator")
    if person != one.person_id:
        return Eyes("other")
    others = _reviewers(one, person)
    return Eyes("refused" if others else "alone", others)


def _reviewers(one: Installation, person: int) -> tuple[str, ...]:
    """Some other people, by name, who may publish it: of its team, and on the package where that exists."""
    package = Package.objects.filter(name=one.package)
    able = people_with(INSTALL, *package).exclude(pk=person)
    if one.team_id:
        able = able.filter(Q(groups=one.team_id) | Q(pk__in=people_with(EVERYTHING).values("pk")))
    return tuple(able.order_by("username").distinct().values_list("username", flat=True)[:SHOWN])


def eyes_check(by: By, one: Installation) -> Eyes:
    """Raises Denied when somebody else has to decide."""
    eyes = eyes_of(by, one)
    if eyes.rule == "refused":
        raise Denied(
            eyes.in_words,
            suggestions=[
                f"Ask {' or '.join(eyes.others[:3])}.",
                "An admin can switch the rule off, on the page of approvals.",
            ],
        )
    return eyes


def responsible(by: By) -> int | None:
    """The person who acts, or is responsible for the agent that does; None for an operator at the machine."""
    if isinstance(by, User):
        return int(by.pk)
    return by.responsible_id if isinstance(by, PersonaPrincipal) else None
