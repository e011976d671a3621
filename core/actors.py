"""Who acts: a person, a persona or the hub itself, as a value that any layer can carry."""

from dataclasses import dataclass
from typing import Literal

ActorKind = Literal["person", "persona", "system"]


@dataclass(frozen=True)
class Actor:
    """An acting party as the record names it: kind, id and the name it had then."""

    kind: ActorKind
    id: str
    name: str


SYSTEM = Actor("system", "", "hub")
