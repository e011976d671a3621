"""docs/guessing.md, made from the table of limits."""

from security.guessing.limits import LIMITS

HEADS = ("what is counted", "per", "free", "first wait", "longest wait", "one is forgotten after")
_TEXT = """# Limits against guessing

After the free tries in the table the next one has to wait, and each further one twice as long, up to the
longest wait. A try that comes too early is answered 429 with `Retry-After`, whatever the method; the hub does
not look at it and does not count it. A try counts before the hub looks at it. Where the table counts wrong
tries, a right one is given back.

- **Nobody locks you out.** A browser in which you signed in before is known by a signed cookie (OWASP,
  "device cookies") and has counters for itself: wrong passwords from elsewhere never keep it waiting. The
  cookie signs nobody in. It ends with a new password, a new second factor and *End all other sessions*. Other
  browsers are only slowed while somebody else guesses at your name.
- **Counters are rows of the database**: all web processes share them, no other traffic evicts them, and they
  hold digests instead of names and addresses. The steward deletes those that have no effect any more.
- **Addresses** are those of the connection, or those that a proxy in `TOOLHUB_PROXIES` names. In IPv6 the /64
  counts.
- **Not limited**: tokens of agents (256 random bits). Nobody guesses them, and a limit by address would keep
  the neighbours of a guesser away from their tools.

"""


def guessing_page() -> str:
    """Return the text above the table."""
    return _TEXT


def guessing_rows() -> list[tuple[str, ...]]:
    """Return the table's rows."""
    return [
        (
            limit.counts,
            limit.per,
            str(limit.free),
            *(_time(seconds) for seconds in (limit.first_s, limit.most_s, limit.forget_s)),
        )
        for limit in LIMITS
    ]


def _time(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
