"""Guards around what somebody could guess: taken before it is looked at, given back when it was right."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import pluralize

from core.views_errors import too_many
from security.guessing import limits
from security.guessing.counters import Counted, tries_return, tries_take, tries_wait
from security.guessing.devices import answer_waits, device_of
from security.guessing.limits import Limit
from security.models import User

# Who has one address of IPv6 has all of its /64.
_PREFIX = 64


@dataclass(frozen=True)
class Try:
    """A try that was counted."""

    counted: Sequence[Counted]
    forgive: Sequence[Limit] = ()

    def right(self) -> None:
        """It was right: give it back."""
        tries_return(self.counted, forgive=self.forgive)


def password_try(request: HttpRequest, name: str, person: User | None) -> Try:
    """Count a try of a password for a name, whose person may not exist. Raises ValidationError: wait."""
    device = device_of(request, person)
    if device is not None:
        return _taken(request, [(limits.PASSWORD_DEVICE, device.name)])
    here = address_of(request)
    counted = [
        (limits.PASSWORD_HERE, f"{here} {name}"),
        (limits.PASSWORD_ADDRESS, here),
        (limits.PASSWORD_NAME, name),
    ]
    return _taken(request, counted, once=[(limits.SIGN_IN, here)])


def code_try(request: HttpRequest, person: User) -> Try:
    """Count a try of a code of the second factor. Raises ValidationError: wait."""
    device = device_of(request, person)
    if device is not None:
        return _taken(request, [(limits.CODE_DEVICE, device.name)])
    here = address_of(request)
    return _taken(request, [(limits.CODE_HERE, f"{here} {person.pk}"), (limits.CODE_PERSON, str(person.pk))])


def code_use(person: User, code: str) -> bool:
    """Return whether this code is used for the first time in its life (RFC 6238 §5.2)."""
    return not tries_take([(limits.CODE_AGAIN, f"{person.pk} {code}")])


def address_try(request: HttpRequest, limit: Limit) -> Try | HttpResponse:
    """Count a try by the caller's address, whatever the method; or return the answer 429 to one too many."""
    counted = [(limit, address_of(request))]
    wait = tries_take(counted)
    return too_many(request, wait) if wait else Try(counted)


def address_wait(request: HttpRequest, limit: Limit) -> int:
    """Return the seconds that the caller's address has to wait, and count nothing."""
    return tries_wait([(limit, address_of(request))])


def address_of(request: HttpRequest) -> str:
    """Return the caller's address; of IPv6 the network that one subscriber has."""
    text = request.META.get("REMOTE_ADDR", "")
    try:
        read = ip_address(text.partition("%")[0])
    except ValueError:
        return str(text)
    if isinstance(read, IPv6Address):
        return str(read.ipv4_mapped or ip_network((read, _PREFIX), strict=False))
    return str(read)


def _taken(request: HttpRequest, counted: list[Counted], once: Sequence[Counted] = ()) -> Try:
    wait = tries_take([*counted, *once])
    if wait:
        answer_waits(request, wait)
        message = f"Too many wrong tries. Wait {wait} second{pluralize(wait)}, then try again."
        raise ValidationError(message, code="too_many")
    return Try(counted, forgive=[counted[0][0]])
