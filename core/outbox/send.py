"""One try: makes the message, signs it, sends it, and says how that went."""

import logging
import time

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import timezone

from core.failpoints import failpoint
from core.http.client import http_send
from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import url_read
from core.outbox.kinds import KINDS, Kind, Mail, Mailed, Message, NotNow, Posted, Try, Undeliverable
from core.outbox.models import Delivery
from core.outbox.services import delivery_record
from core.outbox.signing import signed_headers
from core.outbox.tries import SEND_S, TRIES_MAX, wait_after
from toolhub_sdk.visible_text import text_seen

log = logging.getLogger(__name__)
GONE = 410
# What a mail server's yes counts as.
SENT = 250


def delivery_try(delivery: Delivery) -> Try:
    """Sends a claimed message and records how it went."""
    news = _sent(delivery)
    failpoint("outbox.sent")
    delivery_record(delivery, news)
    return news


def _sent(delivery: Delivery) -> Try:
    if delivery.attempts > TRIES_MAX:
        return Try(delivery.attempts, None, "each of its senders was lost", None)
    try:
        kind = KINDS[delivery.kind]
        status = _mail(kind.mail(delivery)) if isinstance(kind, Mailed) else _posted(kind, delivery)
    except (HttpFailed, NotNow, OSError) as error:
        return _failed(delivery, None, str(error))
    except HttpRefused as error:
        return Try(delivery.attempts, None, f"The address {error}.", None)
    except Undeliverable as error:
        return Try(delivery.attempts, None, str(error), None)
    except Exception:
        # Ours to repair; the message is owed all the same.
        log.exception("delivery %s failed by a mistake of the hub", delivery.pk)
        return _failed(delivery, None, "the hub made a mistake; it is logged")
    if 200 <= status < 300:
        return Try(delivery.attempts, status, "", None)
    if status == GONE:
        return Try(delivery.attempts, status, "answered 410: it wants nothing more", None)
    redirect = ", and redirects are not followed" if 300 <= status < 400 else ""
    return _failed(delivery, status, f"answered {status}{redirect}")


def _failed(delivery: Delivery, status: int | None, error: str) -> Try:
    wait = wait_after(delivery.attempts)
    return Try(delivery.attempts, status, error, timezone.now() + wait if wait else None)


def _posted(kind: Kind, delivery: Delivery) -> int:
    if not isinstance(kind, Posted):
        raise Undeliverable("it can be sent in no way")
    return _post(delivery, kind.message(delivery))


def _mail(mail: Mail) -> int:
    """Hands the mail to the server, which may refuse it: that is an OSError, too."""
    EmailMessage(text_seen(mail.subject), text_seen(mail.text), settings.MAIL_FROM, bcc=list(mail.to)).send()
    return SENT


def _post(delivery: Delivery, message: Message) -> int:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"ToolHub/{settings.VERSION}",
        **signed_headers(str(delivery.pk), int(time.time()), message.body, message.keys),
    }
    # What the receiver says beside its status is of no use here, and may be long.
    reply = http_send(
        "POST", url_read(delivery.url), headers=headers, body=message.body, seconds=SEND_S, most_bytes=0
    )
    return reply.status
