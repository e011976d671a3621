"""The provider's keys: which are taken, and why the others are not.

RSA of 2,048 to 8,192 bits, EC on P-256, P-384 and P-521, Ed25519 and Ed448 (NIST SP 800-131A, RFC 8725 §3.5).
One key that is not taken leaves the others in force.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

RSA_BITS = range(2048, 8193)
_CURVES = {"EC": {"P-256", "P-384", "P-521"}, "OKP": {"Ed25519", "Ed448"}}
_TYPES: Mapping[str, Any] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
_KEYS_MAX = 100


class _NotTaken(Exception):
    """The key is not taken; the text says why."""


@dataclass(frozen=True)
class Keys:
    """The keys that are taken, and for each other one its id and the reason."""

    taken: tuple[Key, ...]
    refused: tuple[tuple[str, str], ...]

    def for_id(self, kid: object) -> list[Key]:
        """Return the keys of this id; without an id all."""
        return [key for key in self.taken if kid is None or key.kid == kid]

    def why_not(self, kid: object) -> str:
        """Return why the key of this id is not taken; empty where no such key was seen."""
        return next((reason for name, reason in self.refused if name == kid), "")


def keys_read(found: Mapping[str, Any]) -> Keys:
    """Return the keys of a key set (RFC 7517), each judged for itself."""
    listed = found.get("keys")
    taken, refused = [], []
    for data in listed[:_KEYS_MAX] if isinstance(listed, list) else []:
        name = data.get("kid", "") if isinstance(data, dict) else ""
        try:
            taken.append(_key(data))
        except _NotTaken as error:
            refused.append((str(name)[:100], str(error)))
    return Keys(tuple(taken), tuple(refused))


def _key(data: object) -> Key:
    if not isinstance(data, dict) or not isinstance(data.get("kid", ""), str):
        raise _NotTaken("it is no key")
    kind = data.get("kty")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise _NotTaken(f"its type is {str(kind)[:20]}; RSA, EC and OKP are taken")
    if data.get("use", "sig") != "sig":
        raise _NotTaken("it is not for signatures")
    if "d" in data:
        raise _NotTaken("its private part is public")
    if kind in _CURVES and data.get("crv") not in _CURVES[kind]:
        curves = ", ".join(sorted(_CURVES[kind]))
        raise _NotTaken(f"its curve is {str(data.get('crv'))[:20]}; {curves} are taken")
    try:
        key: Key = _TYPES[kind].import_key(data)
        public = key.raw_value
    except (JoseError, UnsupportedAlgorithm, ValueError, TypeError, KeyError, AttributeError) as error:
        raise _NotTaken("it cannot be read") from error
    if isinstance(public, RSAPublicKey) and public.key_size not in RSA_BITS:
        raise _NotTaken(f"it has {public.key_size} bits; RSA keys have {RSA_BITS[0]} to {RSA_BITS[-1]}")
    return key
