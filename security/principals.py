"""What `request.user` of an agent is: a persona, never a Django user."""

from dataclasses import dataclass, field

from core.actors import Actor
from security.decisions import GrantFact


@dataclass(frozen=True)
class PersonaPrincipal:
    """The caller by token: persona, responsible person, and the rights read with it."""

    persona_id: int
    persona: str
    persona_active: bool
    token_id: int
    responsible_id: int
    responsible: str
    responsible_active: bool
    grants: tuple[GrantFact, ...] = field(default=())

    is_authenticated = True

    @property
    def actor(self) -> Actor:
        return Actor("persona", str(self.persona_id), self.persona)
