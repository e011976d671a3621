"""What comes back, and what a bad server can do: bounded in time and size, told in plain words."""

import datetime as dt
import ssl
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from core.http.client import Reply, http_send, tls_context
from core.http.errors import HttpFailed
from core.http.urls import url_read
from tests.processes import wait_for
from tests.receiver import Receiver, receiving, status


def send(url: str, *, seconds: float = 20, most_bytes: int = 100, **headers: str) -> Reply:
    return http_send(
        "POST", url_read(url), headers=headers, body=b"sent", seconds=seconds, most_bytes=most_bytes
    )


def test_the_request_arrives_as_it_was_given(receiver: Receiver) -> None:
    receiver.answers = [status(201, X_Answer="yes")]
    reply = send(receiver.url + "?a=%20b", x="1")
    assert (reply.status, reply.headers["x-answer"], reply.body, reply.complete) == (201, "yes", b"", True)
    [got] = receiver.got
    assert (got.method, got.path, got.body, got.headers["x"]) == ("POST", "/hook?a=%20b", b"sent", "1")
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"


def test_a_redirect_is_an_answer_and_is_not_followed(receiver: Receiver) -> None:
    receiver.answers = [status(302, Location=receiver.url), status(204)]
    assert send(receiver.url).status == 302
    assert len(receiver.got) == 1


def test_proxies_and_logins_of_the_environment_are_not_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    assert send(receiver.url).status == 204
    assert "authorization" not in receiver.got[0].headers


def test_an_endless_answer_is_read_no_further_than_the_bound(receiver: Receiver) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not receiver.over.is_set():
                handler.wfile.write(b"x" * 65536)
        except OSError:
            pass

    receiver.answers = [endless]
    reply = send(receiver.url, most_bytes=1000)
    assert (reply.status, reply.body, reply.complete) == (200, b"x" * 1000, False)


def test_a_packed_answer_is_not_unpacked(receiver: Receiver) -> None:
    def packed(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", "4")
        handler.end_headers()
        handler.wfile.write(b"\x1f\x8b\x08\x00")

    receiver.answers = [packed]
    assert send(receiver.url).body == b"\x1f\x8b\x08\x00"
    assert receiver.got[0].headers["accept-encoding"] == "identity"


def test_a_silent_server_and_one_that_trickles_end_with_the_time(receiver: Receiver) -> None:
    def silent(handler: BaseHTTPRequestHandler) -> None:
        receiver.over.wait(60)

    def trickling(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not receiver.over.wait(0.02):
            handler.wfile.write(b"x")

    receiver.answers = [silent, trickling]
    for _ in range(2):
        begun = time.monotonic()
        with pytest.raises(HttpFailed, match=r"no answer within 0\.3 s"):
            send(receiver.url, seconds=0.3)
        assert time.monotonic() - begun >= 0.25
    # The receiver may still be reading what it was sent.
    wait_for(lambda: len(receiver.got) == 2)


def test_failures_are_told_in_words(receiver: Receiver, closed_port: int) -> None:
    with pytest.raises(HttpFailed, match="no connection"):
        send(f"http://127.0.0.1:{closed_port}/")
    receiver.answers = [lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n") and None]
    with pytest.raises(HttpFailed, match="not HTTP"):
        send(receiver.url)
    receiver.answers = [lambda handler: None]
    with pytest.raises(HttpFailed, match="not HTTP"):
        send(receiver.url)
    with pytest.raises(HttpFailed, match="TLS"):
        send(receiver.url.replace("http:", "https:"))


@pytest.fixture
def tls_receiver(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver with a certificate for `localhost` by an authority that the system knows."""
    settings.HTTP_ALLOW = ["127.0.0.1", "::1"]
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = tmp_path / "cert.pem", tmp_path / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls_context.cache_clear()
    yield from receiving(tls=context)
    tls_context.cache_clear()


def test_tls_is_verified_against_the_name_though_the_connection_goes_to_an_address(
    tls_receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert send(f"https://localhost:{tls_receiver.port}/").status == 204
    with pytest.raises(HttpFailed, match=r"certificate is not accepted: .*127\.0\.0\.1"):
        send(f"https://127.0.0.1:{tls_receiver.port}/")
    monkeypatch.delenv("SSL_CERT_FILE")
    tls_context.cache_clear()
    with pytest.raises(HttpFailed, match="certificate is not accepted"):
        send(f"https://localhost:{tls_receiver.port}/")
