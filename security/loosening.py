"""Loosening a safeguard: who may, who has to agree, and who set it.

An agent never loosens one. A person does by their permission; while the two-person rule is on and somebody
else holds that permission, the change waits for that second person (security/proposals.py). An operator at
the machine stands outside the rule. The event of the change says which of these held.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import transaction
from django.db.models import Model
from django.urls import reverse
from django.utils import timezone

from core.actors import Actor
from core.edits import version_require
from core.errors import Conflict, Denied, Postponed
from security.acting import By
from security.models import User
from security.permissions import actor_of, require
from security.policy.models import SafeguardSetter
from security.principals import PersonaPrincipal
from security.proposal_rows import proposal_add
from security.safeguards import SAFEGUARDS, Loosened, Values, loosened
from security.sharing.people import people_with
from security.two_person_rule import four_eyes_hold, others_with

P = ParamSpec("P")
R = TypeVar("R")
Subject = tuple[str, str]
"""What a safeguard belongs to, as the audit log names it: `("tool", "echo")`."""
NAMED = 3
ROWS_SAY = frozenset({"grant", "restriction", "limit", "output_pattern"})
"""Kinds whose rows say themselves who set them."""


@dataclass(frozen=True)
class Confirmation:
    """A second person, and the changes that they confirm, in words."""

    by: User
    changes: Sequence[str]


@dataclass
class Pending:
    """What a change of a person's loosens, as far as it was made, and who else could confirm it."""

    found: list[Loosened] = field(default_factory=list)
    subject: Subject = ("", "")
    things: tuple[Model, ...] = ()
    others: tuple[str, ...] = ()


DOORS: dict[str, Callable[..., Any]] = {}
"""The service functions whose change can wait for a second person, by a name that stays."""
_CONFIRMATION: ContextVar[Confirmation | None] = ContextVar("confirmation", default=None)
_PENDING: ContextVar[Pending | None] = ContextVar("pending", default=None)


class SecondPersonNeeded(Postponed):
    """A person's change that waits: which one, what it loosens, and who can confirm it."""

    def __init__(self, by: User, pending: Pending, door: str, arguments: Mapping[str, Any]) -> None:
        changes = "; ".join(map(str, pending.found))
        super().__init__(
            f"This loosens a safeguard ({changes}), so a second person confirms it.",
            suggestions=[f"Ask {' or '.join(pending.others[:NAMED])} to confirm it under Proposed changes."],
        )
        self.by, self.pending, self.door, self.arguments = by, pending, door, arguments

    def keep(self) -> str:
        """Keep the change as a proposal; return the address of its page."""
        pending = self.pending
        row = proposal_add(
            by=self.by,
            door=self.door,
            arguments=self.arguments,
            found=pending.found,
            subject=pending.subject,
            things=pending.things,
        )
        return reverse("proposal", args=[row.pk])


def safeguarded(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a service function one whose change can wait for a second person; `name` stays for ever.

    The function takes keyword arguments only, `by` among them. It runs to its end, so that all that it
    loosens is known, and is rolled back where somebody has to confirm it. Where it calls another such
    function, the outer one waits as a whole.
    """

    def made(door: Callable[P, R]) -> Callable[P, R]:
        @wraps(door)
        def tried(*args: P.args, **kwargs: P.kwargs) -> R:
            by = kwargs.get("by")
            if not isinstance(by, User) or _PENDING.get() is not None:
                return door(*args, **kwargs)
            pending = Pending()
            mark = _PENDING.set(pending)
            try:
                with transaction.atomic():
                    result = door(*args, **kwargs)
                    if pending.found:
                        given = {key: value for key, value in kwargs.items() if key != "by"}
                        raise SecondPersonNeeded(by, pending, name, given)
            finally:
                _PENDING.reset(mark)
            return result

        DOORS[name] = tried
        return tried

    return made


@contextmanager
def confirmation(by: User, changes: Sequence[str]) -> Iterator[None]:
    """Lets the changes pass that a second person confirms."""
    mark = _CONFIRMATION.set(Confirmation(by, changes))
    try:
        yield
    finally:
        _CONFIRMATION.reset(mark)


def safeguard_change(
    by: By, kind: str, subject: Subject, before: Values | None, after: Values | None, *things: Model
) -> Mapping[str, str]:
    """Check a change of a safeguard, and keep who sets which field, in the caller's transaction.

    Return what the event of the change says of the two-person rule; nothing where nothing is loosened.
    `things` are the objects on which a person needs the table's permission to loosen the safeguard. Raises
    Denied for a person without it and for an agent, and PRECONDITION_REQUIRED where the request names no
    version (core/edits.py). Where somebody else has to agree, the `safeguarded` function around it raises
    SecondPersonNeeded.
    """
    found = [one for one in loosened(kind, before, after) if not one.gives]
    if found:
        version_require("; ".join(map(str, found)))
    rule = _rule(by, found, subject, things) if found else {}
    if kind not in ROWS_SAY:
        _setters_record(by, kind, subject, before, after)
    return rule


def _rule(by: By, found: Sequence[Loosened], subject: Subject, things: Sequence[Model]) -> Mapping[str, str]:
    """How the two-person rule sees the change, for the record; empty where the change has to wait.

    Raises as `safeguard_change`.
    """
    permission = SAFEGUARDS[found[0].kind].permission
    if isinstance(by, PersonaPrincipal):
        raise _agent_denied(by, found, subject, permission, things)
    if isinstance(by, Actor):
        return {"two_person_rule": "operator"}
    require(by, permission, *things)
    second = _CONFIRMATION.get()
    if second is not None:
        require(second.by, permission, *things)
        if not set(map(str, found)) <= set(second.changes):
            raise Conflict(
                f"The {SAFEGUARDS[found[0].kind].noun} was changed since; now {'; '.join(map(str, found))}.",
                suggestions=["Refuse this change, and propose it again."],
            )
        return {"two_person_rule": "other", "confirmed_by": second.by.get_username()}
    if not four_eyes_hold():
        return {"two_person_rule": "off"}
    others = others_with(permission, by.pk, *things)
    if not others:
        return {"two_person_rule": "alone"}
    pending = _PENDING.get()
    if pending is None:
        raise TypeError("A change that can loosen a safeguard is made by a function that is `safeguarded`.")
    pending.found += found
    pending.subject, pending.others = subject, others
    pending.things = tuple(dict.fromkeys((*pending.things, *things)))
    return {}


def _agent_denied(
    by: PersonaPrincipal,
    found: Sequence[Loosened],
    subject: Subject,
    permission: str,
    things: Sequence[Model],
) -> Denied:
    first, setters = found[0], setters_of(subject, found[0].kind)
    setter = setters.get(first.field)
    who = f" {setter.set_by} set it on {setter.set_at:%Y-%m-%d}." if setter else ""
    able = people_with(permission, *things).order_by("username").values_list("username", flat=True)[:NAMED]
    named = " or ".join(able) or "an admin"
    return Denied(
        f"{by.persona} may not loosen a safeguard ({'; '.join(map(str, found))}).{who}",
        suggestions=[f"Ask {named}: a person with the permission {permission} can change it in the console."],
        errors=[{"pointer": f"/{one.field}", "message": f"{one}: a person changes it."} for one in found],
    )


def actor_by(by: By) -> Actor:
    """The acting party as the record names it."""
    if isinstance(by, PersonaPrincipal):
        return by.actor
    return by if isinstance(by, Actor) else actor_of(by)


def _setters_record(by: By, kind: str, subject: Subject, before: Values | None, after: Values | None) -> None:
    for name in SAFEGUARDS[kind].fields:
        if after is not None and name in after and after[name] != (before or {}).get(name):
            SafeguardSetter.objects.update_or_create(
                kind=kind,
                subject=_key(subject),
                field=name,
                defaults={"set_by": actor_by(by).name, "set_at": timezone.now()},
            )


def setters_of(subject: Subject, *kinds: str) -> dict[str, SafeguardSetter]:
    """Who set which field of a thing's safeguards, and when; a field that nobody changed is left out."""
    rows = SafeguardSetter.objects.filter(kind__in=kinds, subject=_key(subject)).order_by("pk")
    return {row.field: row for row in rows}


def setters_view(subject: Subject, *kinds: str) -> dict[str, dict[str, Any]]:
    """The same as the API has it: `{field: {by, at}}`."""
    return {name: {"by": row.set_by, "at": row.set_at} for name, row in setters_of(subject, *kinds).items()}


def _key(subject: Subject) -> str:
    return ":".join(subject)
