"""Tokens that agents made with tokens of theirs: none goes on when the one that it was made with does not.

A token's line is the token that it was made with, the one that this was made with, and so on. Its end is cut
to theirs when it is made. What ends one of them later is looked for with each call, so that nothing passes
by; revoking also revokes what was made with it, so that lists tell it.
"""

from collections.abc import Collection

from django.db import connection
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict
from security.models import Token

# An agent can rotate its own token again and again: its line, which each call reads, grows with each.
LENGTH_MAX = 100

_LINE = """
  WITH RECURSIVE line(id, made_with_id, revoked_at, persona_id, responsible_id) AS (
    SELECT m.id, m.made_with_id, m.revoked_at, m.persona_id, m.responsible_id
      FROM security_token m WHERE m.id = t.made_with_id
    UNION
    SELECT m.id, m.made_with_id, m.revoked_at, m.persona_id, m.responsible_id
      FROM line JOIN security_token m ON m.id = line.made_with_id)
"""
# Of a row `t` of tokens; constant text. True where one of its line was revoked, or may not call any more.
ENDED = f"""CASE WHEN t.made_with_id IS NULL THEN FALSE ELSE EXISTS ({_LINE}
  SELECT 1 FROM line
    JOIN security_user answering ON answering.id = line.responsible_id
    JOIN security_persona acting ON acting.id = line.persona_id
   WHERE line.revoked_at IS NOT NULL OR NOT answering.is_active OR NOT acting.is_active) END"""  # noqa: S608
_IS_ENDED = f"SELECT {ENDED} FROM security_token t WHERE t.id = %s"  # noqa: S608
_COUNT = f"(SELECT count(*) FROM ({_LINE} SELECT id FROM line) l)"  # noqa: S608
_LENGTH = f"SELECT {_COUNT} FROM security_token t WHERE t.id = %s"  # noqa: S608


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


def tokens_end(tokens: Collection[int], actor: Actor) -> None:
    """Revokes tokens and all that was made with them, in the caller's transaction, each on record."""
    rows = Token.objects.filter(pk__in=[*tokens, *made_with(tokens)]).select_related("persona", "made_with")
    for row in rows.order_by("pk"):
        if Token.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=timezone.now()):
            said = {"persona": row.persona.name, "token": row.prefix}
            said |= {"made_with": row.made_with.prefix} if row.made_with else {}
            record(Entry("token.revoked", actor, "persona", str(row.persona_id), said))


def _read(statement: str, pk: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, [pk])
        (found,) = cursor.fetchone() or (0,)
    return int(found)
