"""Judge the form of a secret without a server: what was pasted wrongly, cut off, or has expired.

Nothing that these functions return holds a part of the secret.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from django.utils import timezone

from core.json.strict import StrictJSONError, loads

State = Literal["ok", "suspect", "invalid", "missing"]
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,60})-----")
_JWT = re.compile(r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*")
_PLACEHOLDER = re.compile(
    r"(?:your|my|the|insert|enter|paste)?[-_ ]?(?:api|access|secret|auth|private)?[-_ ]?"
    r"(?:key|token|secret|password)[-_ ]?(?:here|goes[-_ ]here)?"
    r"|change[-_ ]?me.{0,20}|<.{0,100}>|[x*•.]{8,}|placeholder.{0,20}|example.{0,20}|todo.{0,20}",
    re.IGNORECASE,
)
_QUOTES = "\"'`“”‘’"


@dataclass(frozen=True)
class Shape:
    """What the form of a secret says: `suspect` may be right, `invalid` cannot be. `notes` are sentences."""

    state: State
    notes: tuple[str, ...]


def shape_of(value: str) -> Shape:
    """Judge a secret by its characters. The first note says how long it is."""
    lines = value.count("\n") + 1
    size = f"{len(value):,} characters on {'one line' if lines == 1 else f'{lines} lines'}."
    found, suspect = list(_structure(value)), list(_oddities(value))
    wrong = [note for bad, note in found if bad]
    known = [note for bad, note in found if not bad]
    state: State = "invalid" if wrong else "suspect" if suspect else "ok"
    return Shape(state, (size, *wrong, *suspect, *known))


def _oddities(value: str) -> Iterator[str]:
    """What is hardly meant."""
    bare = value.strip()
    is_pem = _PEM.match(bare) is not None
    if bare != value and not is_pem:  # a key's file ends with a line break
        yield "It begins or ends with white space."
    if len(bare) > 1 and bare[0] in _QUOTES and bare[-1] in _QUOTES:
        yield "It has quotation marks around it."
    if _PLACEHOLDER.fullmatch(bare):
        yield "It reads like a placeholder."
    if is_pem and _is_escaped(bare):
        yield "It has \\n as two characters where lines should end."
    if "\n" in bare and not is_pem and not bare.startswith("{"):
        yield "It has line breaks within it."
    hidden = next((index for index, char in enumerate(bare) if not _is_plain(char)), None)
    if hidden is not None:
        yield f"Its character {hidden + 1} is invisible."


def _is_escaped(pem: str) -> bool:
    """Whether a key or certificate was written on one line, with \\n for its line breaks."""
    return "\\n" in pem and "\n" not in pem


def _is_plain(char: str) -> bool:
    return char.isprintable() or char in "\n\r\t"


def _structure(value: str) -> Iterator[tuple[bool, str]]:
    """What the secret is, where it can be read, and whether that is wrong."""
    bare = value.strip()
    if found := _PEM.match(bare):
        yield from () if _is_escaped(bare) else _pem(bare, found[1])
    elif bare.startswith("{"):
        try:
            loads(bare.encode())
        except StrictJSONError:
            yield True, "It begins like JSON and cannot be read: it may have been cut off."
        else:
            yield False, "It is JSON."
    elif _JWT.fullmatch(bare):
        yield from _jwt(bare)


def _pem(text: str, label: str) -> Iterator[tuple[bool, str]]:
    if f"-----END {label}-----" not in text:
        yield True, f"It begins with BEGIN {label} and has no END: it was cut off."
        return
    if label == "CERTIFICATE":
        yield from _certificate(text)
    elif label.endswith("PRIVATE KEY"):
        yield from _private_key(text, label)


def _certificate(text: str) -> Iterator[tuple[bool, str]]:
    from cryptography import x509  # noqa: PLC0415 - large, only where such a secret is tested

    try:
        ends = x509.load_pem_x509_certificate(text.encode()).not_valid_after_utc
    except ValueError:
        yield True, "The certificate cannot be read."
        return
    over = ends <= timezone.now()
    yield over, f"The certificate {'expired' if over else 'is valid until'} {_day(ends)}."


def _private_key(text: str, label: str) -> Iterator[tuple[bool, str]]:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives import serialization as pem  # noqa: PLC0415

    load = pem.load_ssh_private_key if label.startswith("OPENSSH") else pem.load_pem_private_key
    try:
        key: Any = load(text.encode() + b"\n", password=None)
    except TypeError:
        yield True, "The private key is protected by a passphrase, which nobody can enter here."
    except (ValueError, UnsupportedAlgorithm):
        yield True, "The private key cannot be read: it may have been cut off or changed."
    else:
        bits = f", {key.key_size:,} bits" if hasattr(key, "key_size") else ""
        kind = type(key).__name__.lstrip("_").removesuffix("PrivateKey")
        yield False, f"It is a private key ({kind}{bits}{_fingerprint(key)})."


def _fingerprint(key: Any) -> str:
    """The SHA-256 of the public key as OpenSSH shows it; empty for a kind that ssh does not have."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives import serialization as pem  # noqa: PLC0415

    try:
        public: bytes = key.public_key().public_bytes(pem.Encoding.OpenSSH, pem.PublicFormat.OpenSSH)
    except (ValueError, UnsupportedAlgorithm):
        return ""
    digest = base64.b64encode(hashlib.sha256(base64.b64decode(public.split()[1])).digest())
    return f"; its public key is SHA256:{digest.decode().rstrip('=')}"


def _jwt(text: str) -> Iterator[tuple[bool, str]]:
    head, claims = (_part(one) for one in text.split(".")[:2])
    if not isinstance(head, dict) or "alg" not in head or not isinstance(claims, dict):
        return
    ends = claims.get("exp")
    if not isinstance(ends, int | float) or not 0 < ends < 10**11:
        yield False, "It is a JWT without an end."
        return
    at = datetime.fromtimestamp(ends, UTC)
    over = at <= timezone.now()
    yield over, f"It is a JWT that {'expired' if over else 'ends'} {_day(at)}."


def _part(text: str) -> Any:
    try:
        return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
