"""What the hub asks the provider: its description, its keys, tokens for a code. All by the guarded client."""

import base64
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode

import orjson

from core.http.client import http_send
from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import Url, url_read
from security.oidc.keys import Keys, keys_read
from security.oidc.options import Options
from security.oidc.shared_fetch import Crowded, SharedFetch

# One request; and all that one sign-in asks after the browser came back.
SECONDS, SIGN_IN_SECONDS = 4.0, 8.0
MOST_BYTES = 512 * 1024
KNOWN_S, FAILED_S = 300, 5
# A token may be signed with a key that is newer than what is known: looked for at most so often.
KEYS_AGAIN_S = 30
# Threads of one process that the provider can hold: under way, and waiting for one of those.
CALLS_MAX, WAITERS_MAX = 8, 4
_PLACES = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class ProviderFailed(Exception):
    """The provider cannot be reached, or breaks the protocol. The text says how, without secrets."""


@dataclass(frozen=True)
class Provider:
    """The addresses of OpenID Connect Discovery 1.0 that are used; `basic`: the secret goes in a header."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    basic: bool


_CALLS = threading.BoundedSemaphore(CALLS_MAX)
_PROVIDERS: SharedFetch[Provider] = SharedFetch(good_s=KNOWN_S, bad_s=FAILED_S, waiters_max=WAITERS_MAX)
_KEYS: SharedFetch[Keys] = SharedFetch(good_s=KNOWN_S, bad_s=FAILED_S, waiters_max=WAITERS_MAX)


def provider_of(options: Options) -> Provider:
    """Return the provider's description, at most five minutes old. Raises ProviderFailed.

    Everybody waits for one fetch. A failure is kept for five seconds, so that nobody waits for the next one.
    """
    try:
        return _PROVIDERS.get(options, lambda: provider_read(options))
    except Crowded as error:
        raise ProviderFailed("it is slow, and others wait for it already") from error


def provider_read(options: Options) -> Provider:
    """The provider's description, asked for now. Raises ProviderFailed."""
    where = f"{options.issuer.rstrip('/')}/.well-known/openid-configuration"
    told = _json("GET", _url(where, options))
    if told.get("issuer") != options.issuer:
        raise ProviderFailed(f"it calls itself {str(told.get('issuer'))[:200]!r}, not {options.issuer!r}")
    places = {name: str(told.get(name)) for name in _PLACES}
    for name, place in places.items():
        _url(place, options, name)
    methods = told.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    userinfo = told.get("userinfo_endpoint")
    if userinfo:
        _url(userinfo, options, "userinfo_endpoint")
    return Provider(**places, userinfo_endpoint=userinfo or "", basic="client_secret_basic" in methods)


def code_redeem(
    provider: Provider, options: Options, *, code: str, verifier: str, back: str, ends: float
) -> dict[str, Any]:
    """Return the tokens for a code, which the verifier proves to be ours (RFC 7636). Raises ProviderFailed.

    `ends` is when the answer has to be there, by the monotonic clock.
    """
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if options.client_secret and provider.basic:
        # RFC 6749 §2.3.1: both parts are encoded as in a form.
        login = f"{quote_plus(options.client_id)}:{quote_plus(options.client_secret)}"
        headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    else:
        form["client_id"] = options.client_id
        if options.client_secret:
            form["client_secret"] = options.client_secret
    url = _url(provider.token_endpoint, options)
    return _json("POST", url, headers=headers, body=urlencode(form).encode(), ends=ends)


def keys_of(provider: Provider, options: Options, *, kid: object = None) -> Keys:
    """Return the keys that it signs with, at most five minutes old; fetched again where `kid` is unknown.

    Raises ProviderFailed.
    """
    uri = provider.jwks_uri

    def fetched() -> Keys:
        return _KEYS.get(uri, lambda: keys_read(_json("GET", _url(uri, options))))

    try:
        keys = fetched()
        if kid is None or keys.for_id(kid):
            return keys
        _KEYS.forget(uri, older_s=KEYS_AGAIN_S)
        return fetched()
    except Crowded as error:
        raise ProviderFailed("it is slow, and others wait for it already") from error


def userinfo_of(provider: Provider, options: Options, access_token: str, *, ends: float) -> dict[str, Any]:
    """Return more claims about who holds the access token, by `ends`. Raises ProviderFailed."""
    url = _url(provider.userinfo_endpoint, options)
    return _json("GET", url, headers={"Authorization": f"Bearer {access_token}"}, ends=ends)


def _url(text: object, options: Options, what: str = "address") -> Url:
    """An address of the provider: plain http only where the issuer itself is at plain http."""
    try:
        url = url_read(str(text))
    except HttpRefused as error:
        raise ProviderFailed(f"its {what} {error}") from error
    if url.scheme != "https" and options.issuer.startswith("https:"):
        raise ProviderFailed(f"its {what} is not https")
    return url


def _json(
    method: str,
    url: Url,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    ends: float | None = None,
) -> dict[str, Any]:
    sent = {"Accept": "application/json", **(headers or {})}
    seconds = SECONDS if ends is None else min(SECONDS, max(0.1, ends - time.monotonic()))
    if not _CALLS.acquire(blocking=False):
        raise ProviderFailed("it is slow, and too many ask it at the moment")
    try:
        reply = http_send(method, url, headers=sent, body=body, seconds=seconds, most_bytes=MOST_BYTES)
    except HttpRefused as error:
        raise ProviderFailed(f"the address {error}; TOOLHUB_HTTP_ALLOW can allow it") from error
    except HttpFailed as error:
        raise ProviderFailed(str(error)) from error
    finally:
        _CALLS.release()
    if reply.status != 200:
        raise ProviderFailed(f"it answered {reply.status} at {url.origin}")
    try:
        found = orjson.loads(reply.body)
    except orjson.JSONDecodeError as error:
        raise ProviderFailed(f"its answer at {url.origin} is no JSON") from error
    if not isinstance(found, dict):
        raise ProviderFailed(f"its answer at {url.origin} is no JSON object")
    return found
