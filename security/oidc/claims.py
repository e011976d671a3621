"""What a signed ID token says of a person, once all of it was checked (OpenID Connect Core 3.1.3.7)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import Key
from joserfc.jws import extract_compact

from core.identity import unfit_character
from security.oidc.keys import Keys
from security.oidc.options import Options
from security.oidc.provider import ProviderFailed

# Signatures by the provider's own key: none under a secret that the hub knows, too, and never "none".
ALGORITHMS = [f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in (256, 384, 512)] + [
    "EdDSA",
    "Ed25519",
]
LEEWAY_S = 60
_SUBJECT = re.compile(r"[ -~]{1,255}")


@dataclass(frozen=True)
class Claims:
    """A person as the provider names them: `subject` is theirs for ever; `email` is empty unless verified."""

    issuer: str
    subject: str
    username: str = ""
    name: str = ""
    email: str = ""
    groups: frozenset[str] = frozenset()


def key_id(token: object) -> object:
    """Return the id of the key that a token says it is signed with; None where it says none.

    Raises ProviderFailed for a text that is no token.
    """
    if not isinstance(token, str):
        raise ProviderFailed("it sent no ID token")
    try:
        return extract_compact(token.encode("utf-8", "replace")).headers().get("kid")
    except (JoseError, ValueError) as error:
        raise ProviderFailed("its ID token does not hold: it cannot be read") from error


def id_token_read(token: object, keys: Keys, options: Options, *, nonce: str) -> dict[str, Any]:
    """The claims of an ID token, after signature, issuer, audience, times and nonce were checked.

    Raises ProviderFailed for whatever is wrong with it.
    """
    kid = key_id(token)
    if why := keys.why_not(kid):
        raise ProviderFailed(f"the key {str(kid)[:100]!r} that signed its ID token is not taken: {why}")
    try:
        read = _decoded(str(token), keys.for_id(kid))
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
        raise ProviderFailed("its ID token cannot be read") from error
    found: dict[str, Any] = read.claims
    several = isinstance(found["aud"], list) and len(found["aud"]) > 1
    if found.get("azp", None if several else options.client_id) != options.client_id:
        raise ProviderFailed("its ID token is meant for somebody else")
    return found


def _decoded(token: str, keys: Sequence[Key]) -> jwt.Token:
    """The token, verified by one of the keys. Raises JoseError of the last that did not fit."""
    failure: JoseError = InvalidKeyIdError("no key of this id is known")
    for key in keys:
        try:
            return jwt.decode(token, key, algorithms=ALGORITHMS)
        except JoseError as error:
            failure = error
    raise failure


def claims_of(found: Mapping[str, Any], options: Options) -> Claims:
    """Return the person in checked claims.

    Raises ProviderFailed for a subject that is not 1 to 255 ASCII characters (OpenID Connect Core 2),
    and for a control or an invisible character in any claim that is used.
    """
    subject = found["sub"]
    if not (isinstance(subject, str) and _SUBJECT.fullmatch(subject)):
        raise ProviderFailed("sub in its ID token: expected 1 to 255 printable ASCII characters")
    groups = found.get(options.groups_claim)
    listed = [group for group in (groups if isinstance(groups, list) else [groups]) if isinstance(group, str)]
    for group in listed:
        _fit(options.groups_claim, group)
    # Some providers write the word instead of the value.
    verified = found.get("email_verified") in (True, "true")
    return Claims(
        issuer=options.issuer,
        subject=subject,
        username=_text(found, "preferred_username"),
        name=_text(found, "name"),
        email=_text(found, "email") if verified else "",
        groups=frozenset(listed),
    )


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return _fit(name, value).strip()[:254] if isinstance(value, str) else ""


def _fit(name: str, value: str) -> str:
    if unfit := unfit_character(value):
        raise ProviderFailed(f"{name} in its ID token holds {unfit}, which no name has")
    return value
