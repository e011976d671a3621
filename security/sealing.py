"""Encrypts secrets that the hub has to use again (Fernet: AES-CBC with HMAC), under TOOLHUB_VAULT_KEYS.

The newest key encrypts; all of them decrypt, so that keys can be changed without a gap.
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unsealable(Exception):
    """None of the hub's keys opens it."""


def seal(plain: bytes) -> str:
    """What may be stored in place of a secret."""
    return _keys().encrypt(plain).decode("ascii")


def unseal(sealed: str) -> bytes:
    """The secret again. Raises Unsealable when it was sealed under a key that the hub no longer has."""
    try:
        return _keys().decrypt(sealed.encode("ascii"))
    except InvalidToken as error:
        raise Unsealable("No key of TOOLHUB_VAULT_KEYS opens this secret.") from error


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.VAULT_KEYS])
