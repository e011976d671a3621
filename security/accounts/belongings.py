"""What a person answers for, of every layer: listed, handed over or stopped when the person leaves."""

from collections.abc import Sequence
from typing import Protocol

from audit.ledger import Entry, record
from core.actors import Actor
from security.event_kinds import TOKEN_HANDED_OVER
from security.lineage import tokens_end
from security.models import Token, User
from security.sharing.reach import about
from security.tokens import token_valid

SEE_PERSONA = "security.view_persona"


class Belonging(Protocol):
    """One kind of thing that people answer for."""

    name: str

    def names(self, person: User, by: User) -> Sequence[str]:
        """Return a line for each thing that `by` may see, and a last line that counts the others."""
        ...

    def hand_over(self, person: User, to: User, actor: Actor) -> None:
        """Makes another person answer for all of it, in the caller's transaction, on record."""
        ...

    def stop(self, person: User, actor: Actor) -> None:
        """Ends all of it, in the caller's transaction, on record."""
        ...


class Tokens:
    """Valid tokens of personas."""

    name = "tokens"

    def names(self, person: User, by: User) -> Sequence[str]:
        """Return the persona, name and prefix of each token."""
        rows = token_valid().filter(responsible=person)
        seen = about(by, rows, SEE_PERSONA, persona="persona").select_related("persona")
        seen = seen.order_by("persona__name", "pk")
        return lines([f"{row.persona.name}: {row.name} ({row.prefix}…)" for row in seen], rows.count())

    def hand_over(self, person: User, to: User, actor: Actor) -> None:
        """Their text stays as it is; another person answers for it."""
        for row in token_valid().filter(responsible=person).select_related("persona"):
            Token.objects.filter(pk=row.pk).update(responsible=to)
            said = {"persona": row.persona.name, "token": row.prefix, "to": to.get_username()}
            record(Entry(TOKEN_HANDED_OVER, actor, "persona", str(row.persona_id), said))

    def stop(self, person: User, actor: Actor) -> None:
        """Revokes them, and what agents made with them: the next call is refused."""
        tokens_end(list(token_valid().filter(responsible=person).values_list("pk", flat=True)), actor)


BELONGINGS: list[Belonging] = [Tokens()]


def belonging_register(belonging: Belonging) -> None:
    """Makes known what an upper layer has; called when Django starts."""
    BELONGINGS.append(belonging)


def lines(seen: Sequence[str], count: int) -> list[str]:
    """Return the lines, and one that counts those hidden from the reader."""
    hidden = count - len(seen)
    return [*seen, f"{hidden} hidden from you"] if hidden else list(seen)


def belongings_of(person: User, by: User) -> dict[str, list[str]]:
    """Return what the person answers for by kind, as `by` may see it; kinds without anything are left out."""
    found = {one.name: list(one.names(person, by)) for one in BELONGINGS}
    return {name: names for name, names in found.items() if names}
