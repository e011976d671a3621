"""Who may manage the hub: a person by permission, a persona on a person's responsibility, the hub itself."""

from collections.abc import Sequence

from django.db.models import Model
from django.utils import timezone

from core.actors import Actor
from core.errors import Denied, InvalidRequest
from security.held import held
from security.models import User
from security.permissions import actor_of, require
from security.principals import PersonaPrincipal

By = User | PersonaPrincipal | Actor
MANAGE = "toolhub:packages"
"""The capability with which an agent manages packages, as far as its responsible person may."""
PERSONAS = "toolhub:personas"
"""The same for personas, their rights, and the policy of the hub."""


def acting(by: By, permission: str, capability: str = MANAGE, on: Sequence[Model] = ()) -> Actor:
    """The acting party as the record names it. Raises Denied unless it may do what the permission names.

    An operator at the machine acts as the hub. An agent needs the capability, and a responsible person
    who holds the permission: on each of the objects, where there are some. Raises NotFound for one that is
    not theirs to see.
    """
    if isinstance(by, User):
        require(by, permission, *on)
        return actor_of(by)
    if isinstance(by, PersonaPrincipal):
        manager_check(by, capability)
        require(person_answering(by), permission, *on)
        return by.actor
    if by.kind != "system":
        raise Denied(f"{by.name} cannot manage the hub.")
    return by


def reading(by: User | PersonaPrincipal, permission: str, capability: str = MANAGE) -> User:
    """The person on whose rights something is read, who holds the permission, if only on some object.

    Raises Denied for an agent without the capability, and unless the person does.
    """
    if isinstance(by, PersonaPrincipal):
        manager_check(by, capability)
    person = person_answering(by)
    if not person.holds(permission):
        require(person, permission)
    return person


def person_answering(by: User | PersonaPrincipal) -> User:
    """The person whose rights bound what is done: themselves, or who is responsible for the agent."""
    return by if isinstance(by, User) else User.objects.get(pk=by.responsible_id)


def active_check(by: PersonaPrincipal) -> None:
    """Raises Denied for an agent whose persona is switched off, or whose responsible person has left."""
    if not by.responsible_active:
        remedy = "Let another responsible person make a token. (An admin can.)"
        raise Denied("The person responsible has left.", suggestions=[remedy])
    if not by.persona_active:
        remedy = "Switch the persona on. (An operator can.)"
        raise Denied(f"The persona {by.persona} is switched off.", suggestions=[remedy])


def manager_check(by: PersonaPrincipal, capability: str) -> None:
    """Raises Denied unless an agent may manage what the capability names: by a grant of its own for it.

    Neither `*` nor a tier gives that: both are for what tools do. Nor does a grant under conditions: they are
    about the arguments of a tool's call, of which there are none here.
    """
    active_check(by)
    found = held(capability, by.grants, persona=by.persona, now=timezone.now())
    if found.by is None:
        raise Denied(
            f"{by.persona} may not: {capability} {found.why}.",
            code="CAPABILITY_MISSING",
            suggestions=[f"Ask an admin. {found.remedy} {found.hint}".rstrip()],
        )


def own_check(by: By, *personas: int | None) -> None:
    """Raises Denied for an agent that would change what its own persona may do: that is for people."""
    if isinstance(by, PersonaPrincipal) and by.persona_id in personas:
        raise Denied(
            f"{by.persona} does not change its own rights.",
            suggestions=["Let a person do it, or another persona that manages personas."],
        )


def person_behind(by: By) -> User:
    """The person who answers for a change: themselves, or whoever is responsible for the agent.

    Raises InvalidRequest for the hub itself: a right is given by somebody.
    """
    if isinstance(by, User | PersonaPrincipal):
        return person_answering(by)
    raise InvalidRequest("A rule needs a person who made it.")
