"""The kinds of objects that teams own and people share. Each layer registers its own."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from security.event_kinds import SharingKinds
from security.sharing.levels import LEVELS


@dataclass(frozen=True)
class Kind:
    """A kind of object. `people` and `teams` are guardian's rows for it, with direct foreign keys.

    `view` and `manage` are the permissions that show and change it. `events` are for the ledger. `key` is the
    column by which other rows name such an object. What holds for the object in its field `parent` holds for
    it, too. `levels` are the rights that mean something on it.
    """

    name: str
    model: type[Model]
    people: type[Model]
    teams: type[Model]
    view: str
    manage: str
    events: SharingKinds
    key: str = "name"
    parent: str = ""
    levels: tuple[str, ...] = tuple(LEVELS)

    @property
    def rows(self) -> Any:
        return self.model._default_manager

    def said(self, thing: Model) -> str:
        """How other rows, the ledger's too, name this object."""
        return str(getattr(thing, self.key))


KINDS: dict[str, Kind] = {}


def thing_register(kind: Kind) -> None:
    """Makes a kind known; called when Django starts."""
    KINDS[kind.name] = kind


def kind_of(thing: Model) -> Kind:
    """The kind of an object. Raises TypeError for one that is not shared."""
    for kind in KINDS.values():
        if isinstance(thing, kind.model):
            return kind
    raise TypeError(f"{type(thing).__name__} is not shared.")


def things_named(persona: Model | None, tool: str) -> list[Model]:
    """The objects that a rule names: a persona, or none, and a tool by its name, or an empty one."""
    found = [persona] if persona is not None else []
    return [*found, *KINDS["tool"].rows.select_related("package").filter(name=tool)]
