"""Signatures as Standard Webhooks has them (version 1.0.0): HMAC-SHA256 over id, time and body.

A secret is `whsec_` and base64 of 32 random bytes. docs/callbacks.md says how a receiver checks a signature.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"


def secret_text() -> str:
    """A new secret in the form that receivers' libraries take."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def secret_key(text: str) -> bytes:
    """The key that a secret's text stands for."""
    return base64.b64decode(text.removeprefix(PREFIX), validate=True)


def signed_headers(message_id: str, at: int, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """The three headers: `webhook-id`, `webhook-timestamp` (seconds since the epoch), `webhook-signature`.

    One signature for each key, so that a secret can be changed without a gap.
    """
    signed = b"%s.%d.%s" % (message_id.encode(), at, body)
    made = (base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in made),
    }
