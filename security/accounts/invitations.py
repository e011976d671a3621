"""Invitations by mail: owed with the act, made when they are sent, so that their address is kept nowhere."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.errors import Conflict
from core.outbox.kinds import Mail, Try, Undeliverable
from core.outbox.models import Delivery
from core.outbox.services import MAIL, delivery_add
from security.accounts.notices import notice_owe
from security.accounts.services import ADD, may_touch
from security.event_kinds import PERSON_LINK_MADE, PERSON_LINK_MAILED
from security.models import Invitation, User
from security.oidc.options import options_now
from security.permissions import actor_of, require
from security.signin import password_counts

KIND = "person.invitation"
GOOD = timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)


def address_of(person: User) -> str:
    """Where the person chooses a password, or goes on to the provider: good for three days, once."""
    uid = urlsafe_base64_encode(force_bytes(person.pk))
    path = reverse("invitation", args=[uid, default_token_generator.make_token(person)])
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def invitation_show(*, by: User, person: User) -> str:
    """An address for somebody to pass on; for a lost password, too. Raises Denied, Conflict."""
    _check(by, person)
    with transaction.atomic():
        record(_entry(PERSON_LINK_MADE, by, person))
        if person.has_usable_password():
            notice_owe(
                person, f"{by.get_username()} made an address at which your password can be chosen anew."
            )
    return address_of(person)


def invitation_mail(*, by: User, person: User) -> None:
    """Owes the person a mail with such an address. Raises Denied, and Conflict where none can be sent."""
    _check(by, person)
    if not settings.MAIL_FROM:
        raise Conflict("The hub sends no mail.", suggestions=["Set TOOLHUB_MAIL_FROM and TOOLHUB_MAIL_URL."])
    if not person.email:
        raise Conflict(f"{person.get_username()} has no e-mail address here.")
    with transaction.atomic():
        row = Invitation.objects.create(person=person, made_by=by.get_username())
        delivery_add(kind=KIND, subject=row.pk, owner="invitations", url=MAIL)
        record(_entry(PERSON_LINK_MAILED, by, person))


def invitation_news(person: User) -> Delivery | None:
    """How the newest mail to the person went; None where none was owed."""
    newest = Invitation.objects.filter(person=person).first()
    return Delivery.objects.filter(kind=KIND, subject=newest.pk).first() if newest else None


class InvitationMail:
    """The mail. Who has it chooses the password: it goes to the person alone."""

    name = KIND

    def mail(self, delivery: Delivery) -> Mail:
        """With an address made now. Raises Undeliverable for who has left, and after three days."""
        row = Invitation.objects.select_related("person").filter(pk=delivery.subject).first()
        if row is None or not row.person.is_active or not row.person.email:
            raise Undeliverable("the person has left, or has no address any more")
        if timezone.now() - row.created_at > GOOD:
            raise Undeliverable("it was not sent within three days")
        person = row.person
        what = "choose a password" if password_counts(person) else f"sign in with {options_now().label}"
        text = (
            f"{row.made_by} asks you to ToolHub at {settings.PUBLIC_URL}\n\n"
            f"Your name there is {person.get_username()}. To come in, {what} at\n{address_of(person)}\n\n"
            "The address is good for three days, once, and for nobody but you.\n"
        )
        return Mail("ToolHub: your way in", text, [person.email])

    def told(self, delivery: Delivery, news: Try) -> None:
        """How it went stands in the delivery's row."""


def _check(by: User, person: User) -> None:
    require(by, ADD)
    may_touch(by, person)
    if not person.is_active:
        raise Conflict(f"{person.get_username()} has left.")


def _entry(kind: EventKind, by: User, person: User) -> Entry:
    return Entry(kind, actor_of(by), "person", str(person.pk), {"person": person.get_username()})
