"""What a signed ID token says of a person, once all of it was checked (OpenID Connect Core 3.1.3.7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from security.oidc.options import Options
from security.oidc.provider import ProviderFailed

# Signatures by the provider's own key: none under a secret that the hub knows, too, and never "none".
ALGORITHMS = [f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in (256, 384, 512)] + [
    "EdDSA",
    "Ed25519",
]
LEEWAY_S = 60


@dataclass(frozen=True)
class Claims:
    """A person as the provider names them: `subject` is theirs for ever; `email` is empty unless verified."""

    issuer: str
    subject: str
    username: str = ""
    name: str = ""
    email: str = ""
    groups: frozenset[str] = frozenset()


def id_token_read(token: object, keys: Mapping[str, Any], options: Options, *, nonce: str) -> dict[str, Any]:
    """The claims of an ID token, after signature, issuer, audience, times and nonce were checked.

    Raises ProviderFailed for whatever is wrong with it.
    """
    if not isinstance(token, str):
        raise ProviderFailed("it sent no ID token")
    try:
        read = jwt.decode(token, KeySet.import_key_set({"keys": list(keys["keys"])}), algorithms=ALGORITHMS)
        rules = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_S,
            iss={"essential": True, "value": options.issuer},
            sub={"essential": True},
            aud={"essential": True, "value": options.client_id},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        rules.validate(read.claims)
    except JoseError as error:
        raise ProviderFailed(f"its ID token does not hold: {error.description or error.error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ProviderFailed("its ID token or its keys cannot be read") from error
    found: dict[str, Any] = read.claims
    several = isinstance(found["aud"], list) and len(found["aud"]) > 1
    if found.get("azp", None if several else options.client_id) != options.client_id:
        raise ProviderFailed("its ID token is meant for somebody else")
    return found


def claims_of(found: Mapping[str, Any], options: Options) -> Claims:
    """The person in checked claims. Raises ProviderFailed for a subject that cannot be kept."""
    subject = found["sub"]
    if not 1 <= len(subject) <= 255:
        raise ProviderFailed("its ID token has a subject of more than 255 characters")
    groups = found.get(options.groups_claim)
    listed = groups if isinstance(groups, list) else [groups]
    # Some providers write the word instead of the value.
    verified = found.get("email_verified") in (True, "true")
    return Claims(
        issuer=options.issuer,
        subject=subject,
        username=_text(found, "preferred_username"),
        name=_text(found, "name"),
        email=_text(found, "email") if verified else "",
        groups=frozenset(group for group in listed if isinstance(group, str)),
    )


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return value.strip()[:254] if isinstance(value, str) else ""
