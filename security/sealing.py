"""Encrypts secrets that the hub has to use again (Fernet: AES-CBC with HMAC), under TOOLHUB_VAULT_KEYS.

The newest key encrypts; all of them decrypt, so that keys can be changed without a gap. `cryptography` is
loaded at the first use: it takes 3 MB of a process, and most processes never need it.
"""

from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


class Unsealable(Exception):
    """None of the hub's keys opens it."""


def seal(plain: bytes) -> str:
    """What may be stored in place of a secret."""
    return _keys().encrypt(plain).decode("ascii")


def unseal(sealed: str) -> bytes:
    """The secret again. Raises Unsealable when it was sealed under a key that the hub no longer has."""
    from cryptography.fernet import InvalidToken  # noqa: PLC0415

    try:
        return _keys().decrypt(sealed.encode("ascii"))
    except InvalidToken as error:
        raise Unsealable("No key of TOOLHUB_VAULT_KEYS opens this secret.") from error


def reseal(sealed: str) -> str:
    """The same secret, sealed under the newest key. Raises Unsealable."""
    from cryptography.fernet import InvalidToken  # noqa: PLC0415

    try:
        return _keys().rotate(sealed.encode("ascii")).decode("ascii")
    except InvalidToken as error:
        raise Unsealable("No key of TOOLHUB_VAULT_KEYS opens this secret.") from error


def _keys() -> "MultiFernet":
    from cryptography.fernet import Fernet, MultiFernet  # noqa: PLC0415

    return MultiFernet([Fernet(key) for key in settings.VAULT_KEYS])
