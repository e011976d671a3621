"""What the form of a secret says, and that it says nothing of the secret."""

import base64
import hashlib
import json
import secrets
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from security.secret_shapes import shape_of
from tests.installations.git_server import certificate

PKCS8, OPENSSH = pem.PrivateFormat.PKCS8, pem.PrivateFormat.OpenSSH


def private_key(form: pem.PrivateFormat = PKCS8, passphrase: bytes = b"") -> str:
    key = ed25519.Ed25519PrivateKey.generate()
    held = pem.BestAvailableEncryption(passphrase) if passphrase else pem.NoEncryption()
    return key.private_bytes(pem.Encoding.PEM, form, held).decode()


def jwt(**claims: object) -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": "a-service", **claims}]
    texts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*texts, secrets.token_urlsafe(32)])


GOOD = {
    "a token": secrets.token_urlsafe(32),
    "letters that stand in placeholders": "sk-live-secret-token-" + secrets.token_hex(8),
    "JSON": json.dumps({"type": "service_account", "private_key": private_key()}),
    "a private key": private_key(),
    "a private key of OpenSSH": private_key(OPENSSH),
    "a JWT": jwt(exp=4_000_000_000),
    "a JWT without an end": jwt(),
    "three parts that are no JWT": "abcdefghijkl.abcdefghijkl.abcdefghijkl",
    "a sentence": "correct horse battery staple",
    "other letters": "Schlüssel-für-alles-你好",
}
SUSPECT = {
    "white space before": " abc-123456789",
    "a line break behind": "abc-123456789\n",
    "quotation marks": '"abc-123456789"',
    "typographic ones": "“abc-123456789”",
    "a placeholder": "your-api-key-here",
    "changeme": "ChangeMe123",
    "crosses": "xxxxxxxxxxxx",
    "bullets": "••••••••••••",
    "angle brackets": "<insert your token>",
    "line breaks within": "abc-12345\n6789",
    "an invisible character": "abc-\u200b123456789",
    "a bidirectional mark": "abc-\u202e123456789",
    "escaped line ends": private_key().replace("\n", "\\n"),
}
INVALID = {
    "a key without its end": private_key()[:-30],
    "a key with a letter changed": private_key().replace("M", "N", 1),
    "a key with a passphrase": private_key(passphrase=b"swordfish"),
    "JSON that was cut off": json.dumps({"type": "service_account", "project": "p"})[:-3],
    "a JWT that expired": jwt(exp=1_500_000_000),
    "a certificate that is none": "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----",
}


@pytest.mark.parametrize(
    ("state", "value"),
    [
        pytest.param(state, value, id=f"{state}: {name}")
        for state, cases in (("ok", GOOD), ("suspect", SUSPECT), ("invalid", INVALID))
        for name, value in cases.items()
    ],
)
def test_each_form_is_known_and_none_is_told(state: str, value: str) -> None:
    shape = shape_of(value)
    assert shape.state == state, shape
    said = " ".join(shape.notes)
    lines = [line for line in value.splitlines() if not line.startswith("-----")]
    parts = [line[start : start + 8] for line in lines for start in range(0, len(line) - 7, 4)]
    assert not [part for part in parts if part in said]


def test_an_end_is_named(tmp_path: Path) -> None:
    at = datetime(2300, 1, 31, 9, tzinfo=UTC)
    assert "It is a JWT that ends 2300-01-31 09:00 UTC." in shape_of(jwt(exp=at.timestamp())).notes
    assert "It is a JWT that expired 2017-07-14 02:40 UTC." in shape_of(jwt(exp=1_500_000_000)).notes
    cert, key = certificate(tmp_path)
    shape = shape_of(cert.read_text())
    day = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"
    assert shape.state == "ok"
    assert any(f"The certificate is valid until {day}" in note for note in shape.notes)
    assert "It is a private key (EC, 256 bits; " in str(shape_of(key.read_text()).notes)


def test_a_key_of_openssh_with_a_passphrase(tmp_path: Path) -> None:
    made = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "swordfish", "-f", made], check=True)
    shape = shape_of(made.read_text())
    assert shape.state == "invalid"
    assert "protected by a passphrase" in shape.notes[1]


def test_a_key_says_its_kind_and_the_fingerprint_of_its_public_part() -> None:
    key = rsa.generate_private_key(65537, 2048)
    text = key.private_bytes(pem.Encoding.PEM, PKCS8, pem.NoEncryption()).decode()
    public = key.public_key().public_bytes(pem.Encoding.OpenSSH, pem.PublicFormat.OpenSSH)
    digest = base64.b64encode(hashlib.sha256(base64.b64decode(public.split()[1])).digest())
    note = f"It is a private key (RSA, 2,048 bits; its public key is SHA256:{digest.decode().rstrip('=')})."
    assert note in shape_of(text).notes
