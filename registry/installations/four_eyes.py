"""Four eyes: who brought a package in does not publish it, as long as somebody else may."""

from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from core.errors import Denied
from registry.installations.models import Installation
from security.acting import By
from security.models import User
from security.principals import PersonaPrincipal

INSTALL = "registry.add_release"
SHOWN = 10
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
    if not settings.FOUR_EYES:
        return Eyes("off")
    person = responsible(by)
    if person is None:
        return Eyes("operator")
    if person != one.person_id:
        return Eyes("other")
    backend = "django.contrib.auth.backends.ModelBackend"
    able = User.objects.with_perm(INSTALL, backend=backend).exclude(pk=person).order_by("username")
    others = tuple(able.values_list("username", flat=True)[:SHOWN])
    return Eyes("refused" if others else "alone", others)


def eyes_check(by: By, one: Installation) -> Eyes:
    """Raises Denied when somebody else has to decide."""
    eyes = eyes_of(by, one)
    if eyes.rule == "refused":
        raise Denied(
            eyes.in_words,
            suggestions=[
                f"Ask {' or '.join(eyes.others[:3])}.",
                "An operator can switch the rule off: TOOLHUB_FOUR_EYES=off.",
            ],
        )
    return eyes


def responsible(by: By) -> int | None:
    """The person who acts, or is responsible for the agent that does; None for an operator at the machine."""
    if isinstance(by, User):
        return int(by.pk)
    return by.responsible_id if isinstance(by, PersonaPrincipal) else None
