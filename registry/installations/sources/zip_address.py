"""The address of a zip, as far as it may be shown: a query may be a signature that lets everybody in."""

from core.errors import ToolHubError
from core.http.urls import url_read
from registry.installations.models import Installation
from security.sealing import Unsealable, seal, unseal

# Stands where a query was.
HIDDEN = "?…"


def address_shown(address: str) -> str:
    """The address without its query. Raises HttpRefused for what is none, or holds a password."""
    url_read(address)
    place, query, _ = address.partition("?")
    return f"{place}{HIDDEN}" if query else address


def address_sealed(address: str) -> str:
    """What the job's row keeps until the zip has come; empty where the shown address is the whole."""
    return seal(address.encode()) if "?" in address else ""


def address_of(one: Installation) -> str:
    """The whole address of an installation that has not fetched its zip yet.

    Raises ToolHubError SOURCE_FAILED without the key that sealed it.
    """
    if not one.sealed_location:
        return one.location
    try:
        return unseal(one.sealed_location).decode()
    except Unsealable as error:
        message = "The zip's address cannot be opened: a key of TOOLHUB_VAULT_KEYS is missing."
        raise ToolHubError(message, code="SOURCE_FAILED", suggestions=["Install it anew."]) from error


def is_forgotten(one: Installation) -> bool:
    """Whether the address had a query that is not kept any more."""
    return not one.sealed_location and one.location.endswith(HIDDEN)
