"""Entries of TOOLHUB_HTTP_ALLOW: what they mean, and what is no entry."""

import pytest

from core.http.allowed import Allowed, allowed_read


@pytest.mark.parametrize(
    ("text", "host", "network", "port"),
    [
        ("hooks.example.org", "hooks.example.org", None, None),
        ("Hooks.Example.org:8080", "hooks.example.org", None, 8080),
        ("127.0.0.1", None, "127.0.0.1/32", None),
        ("10.0.0.0/8:8080", None, "10.0.0.0/8", 8080),
        ("::1", None, "::1/128", None),
        ("[::1]:80", None, "::1/128", 80),
        ("fd00::/8", None, "fd00::/8", None),
        ("[fd00::/8]:44", None, "fd00::/8", 44),
    ],
)
def test_an_entry_is_a_host_or_a_network_perhaps_with_a_port(
    text: str, host: str | None, network: str | None, port: int | None
) -> None:
    read = allowed_read(text)
    assert (read.host, str(read.network) if read.network else None, read.port) == (host, network, port)


@pytest.mark.parametrize(
    "text",
    ["", "*", "a b", "http://a.example", "10.0.0.0/99", "10.0.0.1/8", "a.example/path", "a.example?x", "a@b"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither a host nor a network|the port is no number"):
        allowed_read(text)


def test_entries_of_equal_text_are_read_once() -> None:
    assert allowed_read("a.example") is allowed_read("a.example") == Allowed("a.example", None, None)
