"""Whether the server that takes the hub's mail is there: for `manage.py doctor` and the page of settings."""

from dataclasses import dataclass

from django.conf import settings
from django.core.mail import get_connection

SECONDS = 5


@dataclass(frozen=True)
class MailFound:
    """Whether the server answered and took the login, and what it said otherwise."""

    holds: bool
    said: str


def mail_check() -> MailFound | None:
    """Greets the server and sends nothing; None where the hub sends no mail."""
    if not settings.MAIL_FROM:
        return None
    connection = get_connection(timeout=SECONDS)
    try:
        connection.open()
        connection.close()
    except OSError as error:  # smtplib's errors are such, too
        return MailFound(False, f"the server does not take mail: {error}"[:300])
    return MailFound(True, "the server answers")
