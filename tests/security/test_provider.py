"""A provider that is slow, away or careless: how many threads it holds, and what of it is taken."""

import json
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.test import Client
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from security.models import Identity, User
from security.oidc import provider as asking
from security.oidc.keys import keys_read
from security.oidc.options import Options
from security.oidc.provider import CALLS_MAX, WAITERS_MAX, ProviderFailed, keys_of, provider_of
from tests.identity_provider import CLIENT, KEY, Provider, provider, public_keys, signed
from tests.pages.test_single_sign_on import linked, options, said, through, who

__all__ = ["options", "provider"]
WELL_KNOWN = "/.well-known/openid-configuration"
Asked = Callable[[], object]


@pytest.fixture
def here(provider: Provider, settings: Any) -> Options:
    settings.HTTP_ALLOW = ["127.0.0.1"]
    return Options(provider.issuer, CLIENT)


def together(act: Asked, count: int) -> "queue.Queue[str]":
    """Starts threads that ask at the same time; the queue has the end of each."""
    ends: queue.Queue[str] = queue.Queue()
    start = threading.Barrier(count)

    def run() -> None:
        start.wait(30)
        try:
            act()
            ends.put("known")
        except ProviderFailed as error:
            ends.put(str(error))

    for _ in range(count):
        threading.Thread(target=run, daemon=True).start()
    return ends


@pytest.mark.parametrize("what", ["description", "keys"])
def test_all_wait_for_one_fetch_and_few_wait(provider: Provider, here: Options, what: str) -> None:
    known = provider_of(here)
    act: Asked = (lambda: keys_of(known, here)) if what == "keys" else (lambda: provider_of(here))
    if what == "description":
        asking._PROVIDERS._flights.clear()
    provider.paths.clear()
    provider.goes_on.clear()
    ends = together(act, 40)
    # All but the one that asks and those few that wait are answered while the provider says nothing.
    for _ in range(40 - 1 - WAITERS_MAX):
        assert "others wait for it already" in ends.get(timeout=30)
    provider.goes_on.set()
    assert [ends.get(timeout=30) for _ in range(1 + WAITERS_MAX)] == ["known"] * (1 + WAITERS_MAX)
    assert provider.paths == ["/keys" if what == "keys" else WELL_KNOWN]
    act()
    assert len(provider.paths) == 1


def test_a_provider_that_never_answers_is_given_up_once_for_all(
    provider: Provider, here: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.2)
    provider.goes_on.clear()
    for _ in range(20):
        with pytest.raises(ProviderFailed, match="no answer within"):
            provider_of(here)
    assert provider.paths == [WELL_KNOWN]


def test_calls_under_way_are_bounded(provider: Provider, here: Options) -> None:
    known = provider_of(here)
    provider.goes_on.clear()
    ends = together(lambda: asking.userinfo_of(known, here, "access", ends=float("inf")), 30)
    for _ in range(30 - CALLS_MAX):
        assert "too many ask it" in ends.get(timeout=30)
    provider.person["sub"] = "1"
    provider.goes_on.set()
    assert [ends.get(timeout=30) for _ in range(CALLS_MAX)] == ["known"] * CALLS_MAX


def _jwk(kind: Any, key: Any, **more: Any) -> dict[str, Any]:
    return {**json.loads(kind.to_jwk(key.public_key())), "use": "sig", **more}


SMALL = rsa.generate_private_key(public_exponent=65537, key_size=1024)
# A key of a set, and a word of the reason why it is not taken.
NOT_TAKEN: dict[str, tuple[Any, str]] = {
    "RSA of 1,024 bits": (_jwk(RSAAlgorithm, SMALL, kid="bad"), "1024 bits"),
    "EC on another curve": (_jwk(ECAlgorithm, ec.generate_private_key(ec.SECP256K1()), kid="bad"), "curve"),
    "EC off its curve": ({"kty": "EC", "crv": "P-256", "x": "AQ", "y": "AQ", "kid": "bad"}, "cannot be read"),
    "X25519": ({"kty": "OKP", "crv": "X25519", "x": "AQ", "kid": "bad"}, "curve"),
    "a secret": ({"kty": "oct", "k": "c2VjcmV0", "kid": "bad"}, "type is oct"),
    "a type of later": ({"kty": "AKP", "alg": "ML-DSA-44", "pub": "x", "kid": "bad"}, "type is AKP"),
    "no type": ({"kid": "bad"}, "type is None"),
    "a type that is a list": ({"kty": ["RSA"], "kid": "bad"}, "type is"),
    "RSA without a modulus": ({"kty": "RSA", "e": "AQAB", "kid": "bad"}, "cannot be read"),
    "RSA with a modulus of numbers": ({"kty": "RSA", "n": 5, "e": "AQAB", "kid": "bad"}, "cannot be read"),
    "RSA with a modulus that is no base64": (
        {"kty": "RSA", "n": "\u00fc", "e": "AQAB", "kid": "bad"},
        "read",
    ),
    "for encryption": (_jwk(RSAAlgorithm, KEY, kid="bad") | {"use": "enc"}, "not for signatures"),
    "private": (json.loads(RSAAlgorithm.to_jwk(SMALL)) | {"kid": "bad"}, "private part"),
    "an id that is a number": (_jwk(RSAAlgorithm, KEY) | {"kid": 5}, "no key"),
    "null": (None, "no key"),
    "a text": ("RSA", "no key"),
}


@pytest.mark.django_db
def test_one_bad_key_fails_nobody_else(
    viewer: User, provider: Provider, options: Any, subtests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked(viewer, provider)
    monkeypatch.setattr(asking, "KEYS_AGAIN_S", -1)
    for name, (bad, word) in NOT_TAKEN.items():
        with subtests.test(name):
            asking._KEYS._flights.clear()
            provider.keys = lambda bad=bad: [bad, *public_keys()]
            [*_, (_, why)] = keys_read({"keys": [*public_keys(), bad]}).refused
            assert word in why
            client = Client()
            assert through(client)["Location"] == "/"
            assert who(client) == "viewer"


@pytest.mark.django_db
def test_a_token_under_a_key_that_is_not_taken_names_the_reason(
    viewer: User, provider: Provider, options: Any
) -> None:
    linked(viewer, provider)
    provider.keys = lambda: [_jwk(RSAAlgorithm, SMALL, kid="k1")]
    provider.sign = lambda claims: signed(claims, SMALL)
    client = Client()
    told = said(client, through(client))
    assert "the key 'k1' that signed its ID token is not taken: it has 1024 bits" in told
    assert who(client) == ""


@pytest.mark.django_db
def test_a_new_key_is_looked_for_and_a_token_without_an_id_fits_any_key(
    viewer: User, provider: Provider, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked(viewer, provider)
    assert through(Client())["Location"] == "/"
    fresh = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    provider.keys = lambda: [_jwk(RSAAlgorithm, fresh, kid="k1"), *public_keys()[2:]]
    provider.sign = lambda claims: signed(claims, fresh, headers={"kid": "new"})
    client = Client()
    assert "no key of this id is known" in said(client, through(client))
    provider.keys = lambda: [*public_keys(), _jwk(RSAAlgorithm, fresh, kid="new")]
    asked = provider.paths.count("/keys")
    assert "no key of this id" in said(client, through(client))
    assert provider.paths.count("/keys") == asked  # not for each token that somebody makes up
    monkeypatch.setattr(asking, "KEYS_AGAIN_S", -1)
    assert through(Client())["Location"] == "/"
    provider.sign = lambda claims: signed(claims, fresh, headers={})
    assert through(Client())["Location"] == "/"


UNFIT = ["\0", "\x1b", "\n", "\x7f", "\u0085", "\u009b", "\u200b", "\u202e", "\u2066", "\u2028", "\ud800"]


@pytest.mark.django_db
@pytest.mark.parametrize("claim", ["sub", "preferred_username", "name", "email", "groups"])
def test_no_claim_holds_a_control_character(
    viewer: User, provider: Provider, options: Any, subtests: Any, claim: str
) -> None:
    options(join=True, link_email=True, roles=(("staff", "viewer"),))
    for char in UNFIT:
        for place in ("first", "last"):
            with subtests.test(f"U+{ord(char):04X}", place=place):
                person = {"sub": "1", "email": "a@b.example", "email_verified": True, "groups": ["staff"]}
                text = f"{char}a@b.example" if place == "first" else f"a@b.example{char}"
                provider.person = {**person, claim: [text, "staff"] if claim == "groups" else text}
                client = Client()
                told = said(client, through(client))
                assert f"{claim} in its ID token" in told
                assert who(client) == ""
    assert not Identity.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("sub", ["", "a" * 256, "\u00fc", 5, None, ["a"]])
def test_a_subject_is_what_the_standard_says(provider: Provider, options: Any, sub: Any) -> None:
    options(join=True)
    provider.person["sub"] = sub
    client = Client()
    assert "was not accepted" in said(client, through(client))
    assert not Identity.objects.exists()
