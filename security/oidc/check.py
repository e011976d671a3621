"""Whether the provider is there and set up as it has to be: for `doctor` and the page of settings."""

from dataclasses import dataclass

from django.conf import settings

from security.oidc.flow import back_address
from security.oidc.options import Options
from security.oidc.provider import ProviderFailed, keys_of, provider_read


@dataclass(frozen=True)
class Found:
    """Whether it answers as it should, what is wrong otherwise, and the address that is registered there."""

    holds: bool
    said: str
    back: str


def provider_check() -> Found | None:
    """Asks the provider for its description and its keys; None where none is set up."""
    options: Options | None = settings.OIDC
    if options is None:
        return None
    try:
        keys = keys_of(provider_read(options), options)
    except ProviderFailed as error:
        return Found(False, str(error), back_address())
    count = len(keys.taken)
    said = f"it answers, and signs with {count} key{'s' * (count > 1)}" if count else "it has no usable keys"
    said += "".join(f"; key {name or 'without an id'} is not taken: {why}" for name, why in keys.refused)
    return Found(count > 0, said, back_address())
