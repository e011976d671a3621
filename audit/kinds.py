"""Kinds of events of the ledger: each is declared once, by the app that writes it.

An app declares its kinds in its module `event_kinds`, which is read when the hub starts. Filters, sentences
and docs/events.md come from the declarations, and the write door takes no other kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from core.sentences import Sentence

KIND_MAX, SUBJECT_MAX = 64, 32


@dataclass(frozen=True, slots=True)
class Family:
    """A group of kinds that auditors look for together. `name` is for addresses, `title` for people."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Subject:
    """What an event can be about. `named_by` are members of its data that name it, where its id does not."""

    name: str
    named_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventKind:
    """Something that can happen, and its words.

    `sentence` is in the past tense and begins with what the actor did: "Granted … to …". Its slots are
    members of the event's data, and `about`, the name of what the event is about. `subjects` holds the names
    of all that such an event may be about.
    """

    name: str
    family: Family
    about: tuple[Subject, ...]
    sentence: Sentence
    subjects: frozenset[str]


_DECLARED: dict[str, EventKind] = {}


def event_kind(family: Family, name: str, about: Subject | Iterable[Subject], sentence: str) -> EventKind:
    """Declare a kind. Raises ValueError for a name that is taken or too long, and for a wrong sentence."""
    subjects = (about,) if isinstance(about, Subject) else tuple(about)
    if name in _DECLARED:
        raise ValueError(f"The event kind {name} is declared twice.")
    if len(name) > KIND_MAX or any(len(one.name) > SUBJECT_MAX for one in subjects) or not subjects:
        raise ValueError(f"The event kind {name}: its name or a subject's is too long, or it has no subject.")
    kind = EventKind(name, family, subjects, Sentence(sentence), frozenset(one.name for one in subjects))
    _DECLARED[name] = kind
    return kind


def kind_named(name: str) -> EventKind | None:
    """Return the kind of that name; None for one that no installed app declares, as old events may have."""
    return _DECLARED.get(name)


def kinds_declared() -> list[EventKind]:
    """All kinds that the installed apps declare, by name."""
    return [_DECLARED[name] for name in sorted(_DECLARED)]


def families_declared() -> list[Family]:
    """The families of all kinds, by title."""
    return sorted({kind.family for kind in _DECLARED.values()}, key=lambda family: family.title)


def subjects_declared() -> dict[str, Subject]:
    """What the declared kinds are about, by name."""
    return {one.name: one for kind in kinds_declared() for one in kind.about}
