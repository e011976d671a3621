"""The authorization code flow with PKCE: from the hub to the provider and back, in one browser.

allauth's own client is not used: it has no nonce, does not check the signature of a token that it fetched,
nor whether the provider is the one that was meant, and sends by an unguarded client (docs/adr/0015).
"""

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import constant_time_compare

from core.errors import Denied
from security.oidc.claims import Claims, claims_of, id_token_read, key_id
from security.oidc.options import options_now
from security.oidc.provider import (
    SIGN_IN_SECONDS,
    ProviderFailed,
    code_redeem,
    keys_of,
    provider_of,
    userinfo_of,
)

KEY = "oidc"
BEGUN_MAX = 5
GOOD_S = 600


@dataclass(frozen=True)
class Begun:
    """A sign-in that this browser began: `next` is where it leads, `person` whose account it shall be linked
    to (0: none), `invitation` the token that lets it without their password.
    """

    nonce: str
    verifier: str
    at: float
    next: str = ""
    person: int = 0
    invitation: str = ""


def flow_begin(request: HttpRequest, *, to: str = "", person: int = 0, invitation: str = "") -> str:
    """The provider's address to send the browser to; keeps in its session what the return is held to.

    Raises ProviderFailed.
    """
    options = options_now()
    provider = provider_of(options)
    state = secrets.token_urlsafe(32)
    begun = Begun(secrets.token_urlsafe(32), secrets.token_urlsafe(48), time.time(), to, person, invitation)
    kept = list(request.session.get(KEY, {}).items())[1 - BEGUN_MAX :]
    request.session[KEY] = {**dict(kept), state: vars(begun)}
    digest = hashlib.sha256(begun.verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": options.client_id,
        "redirect_uri": back_address(),
        "scope": " ".join(options.scopes),
        "state": state,
        "nonce": begun.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    joint = "&" if "?" in provider.authorization_endpoint else "?"
    return f"{provider.authorization_endpoint}{joint}{urlencode(asked)}"


def flow_finish(request: HttpRequest) -> tuple[Claims, Begun]:
    """Who came back, proved, and what they had begun. Raises Denied and ProviderFailed."""
    options = options_now()
    begun = _taken(request)
    if error := request.GET.get("error"):
        raise Denied(f"{options.label} did not sign you in ({error[:60]}).")
    # RFC 9207, where the provider says who answers.
    if not constant_time_compare(request.GET.get("iss", options.issuer), options.issuer):
        raise ProviderFailed("somebody else answered for it")
    provider = provider_of(options)
    code = request.GET.get("code", "")
    ends = time.monotonic() + SIGN_IN_SECONDS
    tokens = code_redeem(
        provider, options, code=code, verifier=begun.verifier, back=back_address(), ends=ends
    )
    token = tokens.get("id_token")
    keys = keys_of(provider, options, kid=key_id(token))
    found = id_token_read(token, keys, options, nonce=begun.nonce)
    needed = {"email", options.groups_claim} if options.roles else {"email"}
    if provider.userinfo_endpoint and not needed <= found.keys():
        more = userinfo_of(provider, options, str(tokens.get("access_token", "")), ends=ends)
        if more.get("sub") != found["sub"]:
            raise ProviderFailed("it tells of somebody else than it signed in")
        found = {**more, **found}
    return claims_of(found, options), begun


def back_address() -> str:
    """Where the provider sends people back to: what is registered there."""
    return f"{settings.PUBLIC_URL.rstrip('/')}{reverse('oidc_done')}"


def _taken(request: HttpRequest) -> Begun:
    """What this browser began under the state that came back; each is good once, for ten minutes."""
    begun = request.session.get(KEY, {})
    found = begun.pop(request.GET.get("state", ""), None)
    request.session[KEY] = begun
    if found is None or time.time() - found["at"] > GOOD_S:
        raise Denied("This sign-in was begun in another browser, or too long ago. Begin again.")
    return Begun(**found)
