"""Kinds of events of the ledger: each is declared once, by the app that writes it.

An app declares its kinds in its module `event_kinds`, which is read when the hub starts. Filters, sentences
and docs/events.md come from the declarations, and the write door takes no other kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from core.sentences import Sentence

NAME_MAX, SUBJECT_MAX = 64, 32


@dataclass(frozen=True, slots=True)
class Family:
    """A group of kinds that auditors look for together. `name` stands in addresses, `title` on pages."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class EventKind:
    """What may happen, and how it is told.

    `subjects` are the kinds of things that such an event may be about. `sentence` is a predicate in the past
    tense, filled from the event's data: what the actor, who stands beside it, has done.
    """

    name: str
    family: Family
    subjects: frozenset[str]
    sentence: Sentence


_DECLARED: dict[str, EventKind] = {}


def event_kind(family: Family, name: str, subjects: str | Iterable[str], sentence: str) -> EventKind:
    """Declare a kind. Raises ValueError for a name that is taken or too long, and for a wrong sentence."""
    named = frozenset([subjects] if isinstance(subjects, str) else subjects)
    if name in _DECLARED:
        raise ValueError(f"The event kind {name} is declared twice.")
    if len(name) > NAME_MAX or any(len(subject) > SUBJECT_MAX for subject in named) or not named:
        raise ValueError(f"The event kind {name}: its name or a subject is too long, or it has no subject.")
    kind = EventKind(name, family, named, Sentence(sentence))
    _DECLARED[name] = kind
    return kind


def kind_of(name: str) -> EventKind | None:
    """Return the kind of that name; None for one that no installed app declares, as in old events."""
    return _DECLARED.get(name)


def kinds_declared() -> tuple[EventKind, ...]:
    """All kinds that the installed apps declare, by name."""
    return tuple(kind for _, kind in sorted(_DECLARED.items()))


def families_declared() -> tuple[Family, ...]:
    """The families of all kinds, by title."""
    found = {kind.family for kind in _DECLARED.values()}
    return tuple(sorted(found, key=lambda family: family.title))


def names_in(family: str) -> list[str]:
    """The names of the kinds in a family, given by its name."""
    return [kind.name for kind in kinds_declared() if kind.family.name == family]
