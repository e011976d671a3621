"""Hostile addresses (faults 20): each is refused with its reason, and nobody is connected to."""

import socket
import threading
from ipaddress import ip_address
from typing import Any

import pytest

from core.http.addresses import inside
from core.http.check import url_check
from core.http.client import http_send
from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import Url, url_read
from tests.receiver import Receiver

FORM = {
    "ftp://example.org/": "no http",
    "file:///etc/passwd": "no http",
    "gopher://example.org/": "no http",
    "javascript:alert(1)": "no http",
    "//example.org/": "no http",
    "example.org": "no http",
    "": "no http",
    "https://": "no http",
    "https:///path": "no http",
    "https://user@example.org/": "user name",
    "https://user:secret@example.org/": "user name",
    "https://example.org\\@127.0.0.1/": "user name",
    "https://127.0.0.1\\.example.org/": "no http",
    "https://example.org#@127.0.0.1/": "fragment",
    "https://example.org/#part": "fragment",
    "https://exa mple.org/": "no http",
    "https://example.org/a b": "no http",
    "https://example.org/\r\nHost: x": "no http",
    "https://example.org/\x00": "no http",
    "https://example.org\t/": "no http",
    "\nhttps://example.org/": "no http",
    "https://ex%61mple.org/": "no http",
    "https://①②⑦.⓪.⓪.①/": "no http",
    "https://127。0。0。1/": "no http",
    "https://ｅxample.org/": "no http",
    "https://example.org:0/": "port",
    "https://example.org:65536/": "port",
    "https://example.org:+80/": "no http",
    "https://example.org:/": "no http",
    "https://[::1/": "no http",
    "https://[fe80::1%25eth0]/": "no http",
    "https://-example.org/": "no http",
    "https://localhost./": "no http",
    f"https://example.org/{'a' * 2000}": "more than",
}


@pytest.mark.parametrize("text", FORM)
def test_an_address_that_could_be_read_in_two_ways_is_refused_by_its_form(text: str) -> None:
    with pytest.raises(HttpRefused, match=FORM[text]):
        url_read(text)


INSIDE = [
    *("http://127.0.0.1:8899/", "http://localhost:8899/", "http://[::1]:8899/", "http://0x7f000001:8899/"),
    *(
        "http://2130706433:8899/",
        "http://169.254.169.254/",
        "http://100.64.0.1/",
        "http://[64:ff9b::7f00:1]/",
    ),
    *("https://127.1/", "https://0x7f000001/", "https://2130706433/", "https://0177.0.0.1/"),
    *("https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[64:ff9b::a00:1]/", "https://0/"),
    *("https://169.254.169.254/latest/meta-data/", "https://10.0.0.1/", "https://172.31.255.255/"),
    *("https://192.168.1.1/", "https://0.0.0.0/", "https://255.255.255.255/", "https://224.0.0.1/"),
    *("https://[::]/", "https://[fe80::1]/", "https://[fc00::1]/", "https://[fd00:ec2::254]/"),
    *("https://[ff02::1]/", "https://[2002:7f00:1::]/", "https://[2001:0:1::1]/", "https://[::127.0.0.1]/"),
    *("https://LOCALHOST/", "https://168.63.129.16/", "https://192.0.0.192/", "https://[64:ff9b:1::1]/"),
    *(
        "https://0x7f.1/",
        "https://127.0.0.1:443/",
        "https://198.18.0.1/",
        "https://[3fff::1]/",
        "https://[5f00::1]/",
    ),
]


@pytest.mark.parametrize("text", INSIDE)
def test_an_address_inside_is_refused_when_checked_and_when_sent(text: str, settings: Any) -> None:
    settings.HTTP_ALLOW = []
    with pytest.raises(HttpRefused, match=r"leads to .* which is"):
        url_check(text)
    with pytest.raises(HttpRefused, match=r"leads to .* which is"):
        http_send("GET", url_read(text), headers={}, seconds=5, most_bytes=100)


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "192.0.1.1"]
)
def test_public_addresses_are_nobodys_inside(text: str) -> None:
    assert inside(ip_address(text)) is None


def test_public_addresses_are_open_to_https_at_two_ports_only(settings: Any) -> None:
    settings.HTTP_ALLOW = ["8.8.8.8:8080"]
    assert url_check("https://1.1.1.1/a?b=c") == Url("https", "1.1.1.1", 443, "/a?b=c")
    assert url_check("https://1.1.1.1:8443").target == "/"
    assert url_check("http://8.8.8.8:8080/")
    with pytest.raises(HttpRefused, match="only https"):
        url_check("http://1.1.1.1/")
    with pytest.raises(HttpRefused, match="port 22"):
        url_check("https://1.1.1.1:22/")
    with pytest.raises(HttpRefused, match="only https"):
        url_check("http://8.8.8.8:8081/")


def test_a_name_is_allowed_by_its_name_and_an_address_by_its_network(
    receiver: Receiver, settings: Any
) -> None:
    settings.HTTP_ALLOW = [f"localhost:{receiver.port}"]
    assert url_check(f"http://localhost:{receiver.port}/")
    for refused in (receiver.url, f"http://localhost:{receiver.port + 1}/"):
        with pytest.raises(HttpRefused):
            url_check(refused)
    settings.HTTP_ALLOW = ["127.0.0.0/8"]
    assert url_check(receiver.url)
    with pytest.raises(HttpRefused):
        url_check(f"http://[::ffff:127.0.0.1]:{receiver.port}/")


def test_one_bad_address_of_a_name_refuses_all(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.HTTP_ALLOW = []
    _names(monkeypatch, [["93.184.215.14", "10.0.0.1"]])
    with pytest.raises(HttpRefused, match="leads to an address, which is private"):
        url_check("https://two.example/")


def test_a_name_that_changes_after_the_check_is_asked_once_and_not_followed(
    monkeypatch: pytest.MonkeyPatch, settings: Any, receiver: Receiver
) -> None:
    """Rebinding: public when accepted, inside when sent; and inside right after the check of the sending."""
    settings.HTTP_ALLOW = []
    asked = _names(monkeypatch, [["93.184.215.14"], ["127.0.0.1"]])
    url = url_check("https://rebinding.example:8443/")
    with pytest.raises(HttpRefused, match="loopback"):
        http_send("GET", url, headers={}, seconds=5, most_bytes=10)
    # The first answer is allowed and is where the receiver listens; a second one would lead elsewhere.
    settings.HTTP_ALLOW = ["127.0.0.1"]
    asked = _names(monkeypatch, [["127.0.0.1"], ["10.255.255.1"]])
    reply = http_send(
        "GET", url_read(f"http://r.example:{receiver.port}/"), headers={}, seconds=5, most_bytes=10
    )
    assert (reply.status, asked) == (204, ["r.example"])


def test_a_name_that_does_not_resolve_is_told_as_such(settings: Any) -> None:
    with pytest.raises(HttpFailed, match="does not resolve"):
        url_check("https://nobody.invalid/")
    with pytest.raises(HttpFailed, match="does not resolve"):
        url_check(f"https://{'a' * 70}.example/")


def test_a_name_server_that_says_nothing_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(60) and [])
    with pytest.raises(HttpFailed, match="in time"):
        url_check("https://slow.example/", seconds=0.05)
    over.set()


def _names(monkeypatch: pytest.MonkeyPatch, answers: list[list[str]]) -> list[str]:
    """A hostile name server for names in `.example`: gives its answers in order. Returns who was asked for."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *rest: Any, **options: Any) -> Any:
        if not str(host).endswith(".example"):
            return real(host, port, *rest, **options)
        asked.append(host)
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port or 0)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked
