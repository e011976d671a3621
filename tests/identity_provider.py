"""A real OpenID Connect provider on this machine: discovery, keys, codes with PKCE, signed ID tokens, userinfo.

It holds the hub to the protocol (client, redirect address, PKCE, code used once), signs with PyJWT, and lies in
just the ways that a test asks for.
"""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

CLIENT, SECRET = "toolhub", "a secret: with + and %"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY, ED_KEY = ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()
KEYS = {"RS256": KEY, "RS512": KEY, "PS256": KEY, "ES256": EC_KEY, "EdDSA": ED_KEY}
KIDS = {KEY: "k1", EC_KEY: "k2", ED_KEY: "k3"}
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
Claims = dict[str, Any]


def honest(claims: Claims) -> Claims:
    return claims


def public_keys() -> list[Claims]:
    """As a key set has them, and one of a kind that nobody knows yet."""
    kinds = {KEY: RSAAlgorithm, EC_KEY: ECAlgorithm, ED_KEY: OKPAlgorithm}
    known = [
        {**json.loads(kind.to_jwk(key.public_key())), "kid": KIDS[key], "use": "sig"}
        for key, kind in kinds.items()
    ]
    return [{"kty": "AKP", "kid": "k9", "alg": "ML-DSA-44", "pub": "x"}, *known]


def signed(claims: Claims, key: Any = KEY, algorithm: str = "RS256", **more: Any) -> str:
    return jwt.encode(claims, key, algorithm=algorithm, **{"headers": {"kid": KIDS.get(key, "k1")}, **more})


def signed_by_public_key(claims: Claims) -> str:
    """HS256 under the provider's public key, by hand: the classic confusion of algorithms."""

    def part(raw: bytes) -> str:
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    pem = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    text = ".".join(part(json.dumps(one).encode()) for one in ({"alg": "HS256", "kid": "k1"}, claims))
    return f"{text}.{part(hmac.digest(pem, text.encode(), 'sha256'))}"


@dataclass
class Provider:
    """Signs in `person` at once. `forge` makes what is signed from honest claims, `sign` signs it."""

    issuer: str
    person: Claims = field(default_factory=dict)
    # Claims that stand in userinfo alone.
    elsewhere: Claims = field(default_factory=dict)
    forge: Callable[[Claims], Claims] = honest
    sign: Callable[[Claims], str] = signed
    says_issuer: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    # What it publishes as its keys; who waits for `goes_on` before it answers, and which paths were asked.
    keys: Callable[[], list[Claims]] = field(default_factory=lambda: public_keys)
    goes_on: threading.Event = field(default_factory=threading.Event)
    paths: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.goes_on.set()

    def discovery(self) -> Claims:
        return {
            "issuer": self.says_issuer or self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert "openid" in asked["scope"].split()
        assert (asked["code_challenge_method"], len(asked["code_challenge"])) == ("S256", 43)
        self.asked.append(asked)
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, Claims]:
        """Status and body for a code."""
        scheme, _, login = authorization.partition(" ")
        name, _, secret = base64.b64decode(login).decode().partition(":")
        if (scheme, unquote_plus(name), unquote_plus(secret)) != ("Basic", CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or (challenge, form["redirect_uri"]) != (
            asked["code_challenge"],
            asked["redirect_uri"],
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        about = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        token = self.sign(self.forge({**about, **self.person}))
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": token}


def _handler(of: Callable[[], Provider]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider, place = of(), urlsplit(self.path)
            provider.paths.append(place.path.removeprefix(urlsplit(provider.issuer).path))
            provider.goes_on.wait(60)
            match place.path.removeprefix(urlsplit(provider.issuer).path):
                case "/.well-known/openid-configuration":
                    self.say(200, provider.discovery())
                case "/keys":
                    self.say(200, {"keys": provider.keys()})
                case "/userinfo" if self.headers["Authorization"] == "Bearer access":
                    self.say(200, {"sub": provider.person["sub"], **provider.elsewhere})
                case "/authorize":
                    self.send_response(302)
                    asked = {name: value for name, [value] in parse_qs(place.query).items()}
                    self.send_header("Location", provider.authorize(asked))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                case _:
                    self.say(404, {})

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: value for name, [value] in parse_qs(text).items()}
            self.say(*of().token(form, self.headers.get("Authorization", "")))

        def say(self, status: int, body: Claims) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def providing() -> Iterator[Provider]:
    """A provider at a port of its own, below a path as Keycloak's realms are, until the generator is closed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(lambda: provider))
    server.daemon_threads = True
    provider = Provider(f"http://127.0.0.1:{server.server_address[1]}/realms/staff")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.goes_on.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


@pytest.fixture
def provider() -> Iterator[Provider]:
    yield from providing()
