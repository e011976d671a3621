"""Tokens that agents made with tokens of theirs: none goes on when the one that it was made with does not.

A token's line is the token that it was made with, the one that this was made with, and so on. Its end is cut
to theirs when it is made. What ends one of them later is looked for with each call, so that nothing passes
by; revoking also revokes what was made with it, so that lists tell it.
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict
from security.event_kinds import TOKEN_REVOKED
from security.models import Persona, Token

# An agent can rotate its own token again and again: its line, which each call reads, grows with each.
LENGTH_MAX = 100

_LINE = """
  WITH RECURSIVE line(id, made_with_id, revoked_at, persona_id, responsible_id) AS (
    SELECT m.id, m.made_with_id, m.revoked_at, m.persona_id, m.responsible_id
      FROM security_token m WHERE m.id = {row}.made_with_id
    UNION
    SELECT m.id, m.made_with_id, m.revoked_at, m.persona_id, m.responsible_id
      FROM line JOIN security_token m ON m.id = line.made_with_id)
"""
# Constant text. True where one of a row's line was revoked, or may not call any more.
_ENDED = f"""CASE WHEN {{row}}.made_with_id IS NULL THEN FALSE ELSE EXISTS ({_LINE}
  SELECT 1 FROM line
    JOIN security_user answering ON answering.id = line.responsible_id
    JOIN security_persona acting ON acting.id = line.persona_id
   WHERE line.revoked_at IS NOT NULL OR NOT answering.is_active OR NOT acting.is_active) END"""  # noqa: S608
ENDED = _ENDED.format(row="t")
_IS_ENDED = f"SELECT {ENDED} FROM security_token t WHERE t.id = %s"  # noqa: S608
_COUNT = f"(SELECT count(*) FROM ({_LINE.format(row='t')} SELECT id FROM line) l)"  # noqa: S608
_LENGTH = f"SELECT {_COUNT} FROM security_token t WHERE t.id = %s"  # noqa: S608
# A persona's newest tokens, and all that was made with them and is not revoked.
_NEWEST = """
  WITH RECURSIVE told(id) AS (
    SELECT id FROM (SELECT id FROM security_token WHERE persona_id = %s ORDER BY id DESC LIMIT %s) newest
    UNION
    SELECT m.id FROM told JOIN security_token m ON m.made_with_id = told.id WHERE m.revoked_at IS NULL)
  SELECT id FROM told"""


def line_ended(token: Token) -> bool:
    """Whether one of the token's line was revoked, or its persona or person may not call any more."""
    return token.made_with_id is not None and bool(_read(_IS_ENDED, token.pk))


def line_check(maker: Token) -> None:
    """Raises Conflict where the line of what is made with the token would be too long."""
    if _read(_LENGTH, maker.pk) + 1 >= LENGTH_MAX:
        raise Conflict(
            f"Before {maker.prefix}… there are {LENGTH_MAX - 1} tokens, each made with the one before.",
            suggestions=["Let a person make a new token."],
        )


def made_with(tokens: Collection[int]) -> list[int]:
    """The keys of all that was made with some tokens, near or far, and is not revoked."""
    found: set[int] = set()
    near = set(tokens)
    while near:
        rows = Token.objects.filter(made_with__in=near, revoked_at=None)
        near = set(rows.values_list("pk", flat=True)) - found
        found |= near
    return sorted(found)


@dataclass(frozen=True)
class Told:
    """A token for who lists it: what is valid and ends with it, and whether it ended with one of its line."""

    token: Token
    offspring: list[Token]
    line_is_ended: bool


def tokens_told(persona: Persona, count: int) -> list[Told]:
    """A persona's newest tokens, the last made first, by one query.

    Of each token `persona`, `responsible` and `made_with` with its persona are read.
    """
    rows = Token.objects.filter(pk__in=RawSQL(_NEWEST, [persona.pk, count]))  # noqa: S611 - constant text
    ended = RawSQL(_ENDED.format(row="security_token"), [], BooleanField())  # noqa: S611
    rows = rows.annotate(line_is_ended=ended).select_related("responsible", "persona", "made_with__persona")
    read = list(rows.order_by("-pk"))
    children: dict[int, list[Token]] = {}
    for row in read:
        if row.made_with_id and row.state == "valid":
            children.setdefault(row.made_with_id, []).append(row)

    def offspring(token: Token) -> list[Token]:
        found: dict[int, Token] = {}
        near = [token]
        while near:
            near = [row for one in near for row in children.get(one.pk, ()) if row.pk not in found]
            found |= {row.pk: row for row in near}
        return list(found.values())

    own = [row for row in read if row.persona_id == persona.pk][:count]
    return [Told(row, offspring(row), row.line_is_ended) for row in own]


def tokens_end(tokens: Collection[int], actor: Actor) -> None:
    """Revokes tokens and all that was made with them, in the caller's transaction, each on record."""
    rows = Token.objects.filter(pk__in=[*tokens, *made_with(tokens)]).select_related("persona", "made_with")
    for row in rows.order_by("pk"):
        if Token.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=timezone.now()):
            said = {"persona": row.persona.name, "token": row.prefix}
            said |= {"made_with": row.made_with.prefix} if row.made_with else {}
            record(Entry(TOKEN_REVOKED, actor, "persona", str(row.persona_id), said))


def _read(statement: str, pk: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, [pk])
        (found,) = cursor.fetchone() or (0,)
    return int(found)
