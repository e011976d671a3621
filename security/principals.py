"""What `request.user` of an agent is: a persona, never a Django user."""

from dataclasses import dataclass
from typing import ClassVar

from rest_framework.request import Request

from core.actors import Actor
from core.errors import ToolHubError
from security.facts import GrantFact, Standing


@dataclass(frozen=True)
class PersonaPrincipal:
    """Who calls: persona, responsible person, and the rights read with it.

    `token_id` is None where the hub calls for a person: by the clock, or to do a run again.
    """

    persona_id: int
    persona: str
    persona_active: bool
    token_id: int | None
    responsible_id: int
    responsible: str
    responsible_active: bool
    grants: tuple[GrantFact, ...]
    standing: Standing

    is_authenticated: ClassVar[bool] = True

    @property
    def actor(self) -> Actor:
        return Actor("persona", str(self.persona_id), self.persona)


def caller(request: Request) -> PersonaPrincipal:
    """The agent behind an API request. Raises ToolHubError (401) for anybody else."""
    # DRF's stubs know Django's users only; TokenAuthentication gives principals.
    user: object = request.user
    if not isinstance(user, PersonaPrincipal):
        raise ToolHubError("A persona's token is needed.", code="UNAUTHENTICATED")
    return user
