"""Which person here somebody is who signed in at the provider; and the write doors of that bond."""

import re

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import IntegrityError, transaction
from django.db.models import Q

from audit.ledger import Entry, record
from core.actors import SYSTEM, Actor
from core.errors import Conflict, Denied
from core.identity import NotPlain, address_normal
from security.accounts.notices import notice_owe
from security.accounts.services import ADD, CHANGE, person_roles_follow
from security.event_kinds import (
    PERSON_IDENTITY_LINKED,
    PERSON_IDENTITY_UNLINKED,
    PERSON_JOINED,
    PERSON_SIGN_IN_REFUSED,
)
from security.models import Identity, User
from security.oidc.claims import Claims
from security.oidc.options import Options
from security.permissions import actor_of, require

_ASK = ["Ask an admin of the hub for an invitation."]
_TAKEN = {"invite"}


def person_arrive(claims: Claims, options: Options) -> User:
    """The person who signs in, with roles as their groups have it. Raises Denied with the reason, on record.

    Known by issuer and subject alone. An e-mail address says who somebody is only where the settings say so,
    it is verified, and the person cannot change people.
    """
    try:
        _domain_check(claims, options)
        with transaction.atomic():
            row = Identity.objects.select_related("person").filter(_is(claims)).first()
            person = row.person if row else _newcomer(claims, options)
            if not person.is_active:
                raise Denied(f"{person.get_username()} has left the hub.", suggestions=["Ask an admin."])
            if options.roles:
                managed = {role for _, role in options.roles}
                person_roles_follow(
                    person, managed=managed, held=_roles(claims, options), source=options.label
                )
    except Denied as error:
        refusal_record(claims, options, error)
        raise
    except IntegrityError as error:
        raise Conflict("Somebody took the same name at the same moment. Sign in again.") from error
    return person


def refusal_record(claims: Claims, options: Options, error: Denied) -> None:
    """Puts it on record that somebody whom the provider knows was not let in, and why."""
    said = {
        "provider": options.label,
        "subject": claims.subject,
        "name": claims.username,
        "reason": error.message,
    }
    with transaction.atomic():
        record(Entry(PERSON_SIGN_IN_REFUSED, SYSTEM, "person", "", said))


def identity_is_linked(person: User) -> bool:
    """Whether a person can sign in at the provider of now."""
    options: Options | None = settings.OIDC
    return options is not None and Identity.objects.filter(person=person, issuer=options.issuer).exists()


def identity_link(claims: Claims, options: Options, *, person: User, invitation: str = "") -> None:
    """Lets a person sign in at the provider from now on. Raises Conflict, and Denied for a stale invitation.

    Called when the person asked for it, signed in or with an invitation that nobody used yet.
    """
    _domain_check(claims, options)
    if invitation and not default_token_generator.check_token(person, invitation):
        raise Denied("The invitation was used already, or is too old.", suggestions=_ASK)
    if not person.is_active:
        raise Denied(f"{person.get_username()} has left the hub.")
    _bind(claims, options, person, actor_of(person))


def identity_unlink(*, by: User, person: User) -> None:
    """Ends that a person signs in at the provider: their own, or by who may change people.

    Raises Denied, and Conflict where there is none, or where no way to sign in would be left.
    """
    if by.pk != person.pk:
        require(by, CHANGE)
        if person.is_superuser and not by.is_superuser:
            raise Denied(f"{person.get_username()} stands above all roles: only such a person may.")
    elif not (person.has_usable_password() and (settings.PASSWORDS or person.is_superuser)):
        raise Conflict("You would have no way to sign in any more.")
    with transaction.atomic():
        deleted, _ = Identity.objects.filter(person=person).delete()
        if not deleted:
            raise Conflict(f"{person.get_username()} does not sign in at a provider.")
        said = {"person": person.get_username()}
        record(Entry(PERSON_IDENTITY_UNLINKED, actor_of(by), "person", str(person.pk), said))
        notice_owe(person, "your account is not linked to the provider any more at which you signed in.")


def _is(claims: Claims) -> Q:
    return Q(issuer=claims.issuer, subject=claims.subject)


def _address(claims: Claims, options: Options) -> str:
    """Return the verified address in its normal form, or nothing. Raise Denied where it has none."""
    try:
        return address_normal(claims.email) if claims.email else ""
    except NotPlain as error:
        raise Denied(f"Your address at {options.label} cannot be used: {error}.", suggestions=_ASK) from error


def _domain_check(claims: Claims, options: Options) -> None:
    if not options.domains:
        return
    address = _address(claims, options)
    if address.rpartition("@")[2] not in options.domains:
        yours = f"{address} is not" if address else "No verified address of yours is"
        raise Denied(f"{yours} in {', '.join(options.domains)}.", suggestions=_ASK)


def _newcomer(claims: Claims, options: Options) -> User:
    """Who comes for the first time: the person of the same verified address, or a new one. Raises Denied."""
    address = _address(claims, options)
    if options.link_email and address:
        same = list(User.objects.select_for_update().filter(email=address)[:2])
        if len(same) == 1:
            _link_check(same[0])
            _bind(claims, options, same[0], Actor("system", "", options.label))
            return same[0]
        if same:
            raise Denied("More than one person here has your address.", suggestions=_ASK)
    if not options.join:
        raise Denied("Nobody here is linked to you yet.", suggestions=_ASK)
    if options.roles and not _roles(claims, options):
        raise Denied(f"None of your groups at {options.label} gives a role here.", suggestions=_ASK)
    person = User(username=_free_name(claims), email=address)
    person.set_unusable_password()
    person.save()
    said = {"person": person.get_username()}
    record(Entry(PERSON_JOINED, Actor("system", "", options.label), "person", str(person.pk), said))
    _bind(claims, options, person, Actor("system", "", options.label))
    return person


def _link_check(person: User) -> None:
    """Who writes addresses at the provider must not thereby become somebody who rules here."""
    if person.is_superuser or person.has_perm(CHANGE) or person.has_perm(ADD):
        raise Denied(
            f"{person.get_username()} may invite or change people, and is linked by their own hand only.",
            suggestions=["Sign in with the password, and link yourself on the page of your account."],
        )


def _bind(claims: Claims, options: Options, person: User, actor: Actor) -> None:
    try:
        with transaction.atomic():
            Identity.objects.create(person=person, issuer=claims.issuer, subject=claims.subject)
            said = {"person": person.get_username(), "provider": options.label, "subject": claims.subject}
            record(Entry(PERSON_IDENTITY_LINKED, actor, "person", str(person.pk), said))
            notice_owe(
                person, f"your account was linked to {options.label}: who you are there can sign in as you."
            )
    except IntegrityError as error:
        taken = Identity.objects.filter(_is(claims)).exclude(person=person).exists()
        if taken:
            raise Conflict(
                f"Somebody else here signs in so at {options.label}.",
                suggestions=["Sign in there as yourself, or ask an admin."],
            ) from error
        raise Denied(
            f"{person.get_username()} is somebody else at {options.label}.", suggestions=_ASK
        ) from error


def _roles(claims: Claims, options: Options) -> set[str]:
    return {role for group, role in options.roles if group in claims.groups}


def _free_name(claims: Claims) -> str:
    """A user name that nobody has, after how the provider calls them."""
    wanted = claims.username.partition("@")[0] or claims.email.partition("@")[0] or claims.name
    name = re.sub(r"[^a-z0-9._-]+", "-", wanted.lower()).strip("._-")[:56] or "person"
    taken = {*User.objects.filter(username__startswith=name).values_list("username", flat=True)} | _TAKEN
    names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in names if one not in taken)
