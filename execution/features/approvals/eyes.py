"""Four eyes: who is responsible for the caller does not approve its calls."""

from dataclasses import dataclass
from typing import Literal

from core.errors import Denied
from execution.models import Approval, Run
from security.models import User
from security.sharing.reach import may
from security.two_person_rule import four_eyes_hold, others_with

APPROVE = "execution.approve_run"
Rule = Literal["other", "off", "refused"]


@dataclass(frozen=True)
class Eyes:
    """Whether this person may decide by the rule; `others` are some who may, where this one may not."""

    rule: Rule
    others: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """What the person is told; empty when there is nothing to say."""
        if self.rule != "refused":
            return ""
        if self.others:
            return f"You are responsible for the caller. {', '.join(self.others)} can decide."
        return (
            "You are responsible for the caller, and nobody else may approve calls: invite a second person, "
            "or switch the rule of four eyes off."
        )


def may_decide(person: User, approval: Approval) -> bool:
    """Whether the request is the person's to decide, four eyes aside."""
    if not person.is_active:
        return False
    run = approval.run
    return approval.delegate_id == person.pk or may(person, APPROVE, run.persona, run.tool_version.tool)


def eyes_of(person_id: int, run: Run) -> Eyes:
    """How the rule sees this person at this run."""
    if not four_eyes_hold():
        return Eyes("off")
    if responsible_id(run) != person_id:
        return Eyes("other")
    return Eyes("refused", others_with(APPROVE, person_id, run.persona, run.tool_version.tool))


def eyes_check(person_id: int, run: Run) -> Eyes:
    """Raises Denied where somebody else has to decide."""
    eyes = eyes_of(person_id, run)
    if eyes.rule == "refused":
        raise Denied(eyes.in_words)
    return eyes


def responsible_id(run: Run) -> int | None:
    """Who answers for the caller."""
    return run.token.responsible_id if run.token else run.responsible_id
