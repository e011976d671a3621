"""Tokens as pages tell them: who made each, and what ends with it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.utils.text import Truncator

from security.lineage import made_with, tokens_told
from security.models import Persona, Token, User
from security.sharing.reach import may

VIEW = "security.view_persona"
# Of what ends with a token, how many are named.
NAMED = 5


@dataclass(frozen=True)
class TokenShown:
    """A token with what a person reads beside it. A persona that is kept from them is not named.

    `maker` is the persona whose agent made it, `ends` names what ends with it, and `state` is its own or
    "ended", where what it was made with counts no more.
    """

    token: Token
    maker: str
    ends: list[str]
    state: str


def tokens_shown(person: User, persona: Persona, count: int) -> list[TokenShown]:
    """A persona's newest tokens; no query beside the one for them."""
    shown = []
    for told in tokens_told(persona, count):
        with_what = told.token.made_with
        maker = with_what.persona if with_what and may(person, VIEW, with_what.persona) else None
        state = "ended" if told.line_is_ended and told.token.state == "valid" else told.token.state
        ends = _named(person, told.offspring) if state == "valid" else []
        shown.append(TokenShown(told.token, maker.name if maker else "", ends, state))
    return shown


def ends_with(person: User, tokens: Collection[int]) -> str:
    """What else ends with some tokens, as words for a question; empty where nothing does."""
    rows = Token.objects.filter(pk__in=set(made_with(tokens)) - set(tokens)).select_related("persona")
    valid = [row for row in rows if row.state == "valid"]
    return ", ".join(_named(person, valid))


def _named(person: User, rows: Sequence[Token]) -> list[str]:
    """The first of them with their personas, and how many more."""
    named = [
        (f"{row.persona.name}: " if may(person, VIEW, row.persona) else "")
        + f"{Truncator(row.name).chars(40)} ({row.prefix}…)"
        for row in rows[:NAMED]
    ]
    return [*named, *([f"{len(rows) - NAMED} more"] if len(rows) > NAMED else [])]
