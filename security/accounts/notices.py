"""Mail to a person when the way they sign in changes, so that one who did not change it hears of it."""

from datetime import timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from core.outbox.kinds import Mail, Try, Undeliverable
from core.outbox.models import Delivery
from core.outbox.services import MAIL, delivery_add
from security.models import Notice, User

KIND = "person.notice"
TEXT_MAX = 300
NEWS = timedelta(days=3)


def notice_owe(person: User, text: str) -> None:
    """Owes the mail, in the transaction of the change; nothing where the hub or the person has no mail."""
    if settings.MAIL_FROM and person.email:
        row = Notice.objects.create(person=person, text=text[:TEXT_MAX])
        delivery_add(kind=KIND, subject=row.pk, owner="notices", url=MAIL)


class NoticeMail:
    """What changed, and what to do about it."""

    name = KIND

    def mail(self, delivery: Delivery) -> Mail:
        """To the person alone. Raises Undeliverable for who has left, and for what is no news any more."""
        row = Notice.objects.select_related("person").filter(pk=delivery.subject).first()
        if row is None or not row.person.is_active or not row.person.email:
            raise Undeliverable("the person has left, or has no address any more")
        if timezone.now() - row.created_at > NEWS:
            raise Undeliverable("it was not sent within three days")
        own = f"{settings.PUBLIC_URL.rstrip('/')}{reverse('own')}"
        text = (
            f"{row.person.get_username()}, {row.text}\n({row.created_at:%Y-%m-%d %H:%M} UTC)\n\n"
            f"Was that neither you nor with you? End all other sessions at\n{own}\nand tell an admin.\n"
        )
        return Mail("ToolHub: your account", text, [row.person.email])

    def told(self, delivery: Delivery, news: Try) -> None:
        """How it went stands in the delivery's row."""
