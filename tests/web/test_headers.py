"""Headers, cookies and redirects, as a browser gets them."""

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from security.models import User

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.mark.parametrize(
    "address", ["/sign-in/", "/nothing/", "/api/docs/errors", "/schemas/toolhub.schema.json"]
)
def test_every_answer_tells_browsers_to_be_strict(address: str) -> None:
    answer = Client().get(address)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    policy = answer["Content-Security-Policy"]
    assert "unsafe" not in policy
    for part in ("default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert part in policy


def test_the_api_answers_json_that_no_browser_takes_for_anything_else() -> None:
    answer = Client().get("/api/v1/tools")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in answer
    assert not answer.cookies


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "https:evil.example",
    ],
)
def test_signing_in_leads_nowhere_else(admin: User, target: str) -> None:
    sent = {"login": "admin", "password": PASSWORD, "next": target}
    answer = Client().post("/sign-in/", sent)
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/"])
def test_a_choice_of_theme_leads_nowhere_else(target: str) -> None:
    answer = Client().post("/account/theme/", {"theme": "dark", "next": target}, HTTP_REFERER=target)
    assert "evil" not in answer["Location"]


def test_cookies_are_out_of_scripts_reach(admin: User) -> None:
    client = Client()
    client.get("/sign-in/")
    client.post("/sign-in/", {"login": "admin", "password": PASSWORD})
    for name in (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME):
        assert client.cookies[name]["httponly"], name
        assert client.cookies[name]["samesite"] == "Lax", name


def test_a_form_without_its_token_is_refused(admin: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin)
    assert client.post("/account/theme/", {"theme": "dark"}).status_code == 403
    assert client.post("/personas/new/", {"name": "x"}).status_code == 403


@pytest.mark.parametrize(
    ("peer", "chain", "caller", "secure"),
    [
        # No named proxy asks: nothing of it counts.
        ("192.0.2.9", "10.1.1.1", "192.0.2.9", False),
        ("192.0.2.9", "", "192.0.2.9", False),
        # The proxy says who asked it; what the caller wrote before stands further left.
        ("10.0.0.5", "192.0.2.7", "192.0.2.7", True),
        ("10.0.0.5", "127.0.0.1, 192.0.2.7", "192.0.2.7", True),
        # Two named proxies in a row, addresses with ports, IPv6.
        ("10.0.0.5", "6.6.6.6, 192.0.2.7:4711, 10.0.0.6", "192.0.2.7", True),
        ("::ffff:10.0.0.5", "[2001:db8::7]:443", "2001:db8::7", True),
        ("10.0.0.5", "fe80::7%eth0", "fe80::7", True),
        # Nonsense stops the reading.
        ("10.0.0.5", "192.0.2.7, unknown, 10.0.0.6", "10.0.0.6", True),
        ("10.0.0.5", "", "10.0.0.5", True),
        ("", "192.0.2.7", "", False),
    ],
)
def test_who_asks_is_the_word_of_named_proxies_only(
    settings: Any, peer: str, chain: str, caller: str, secure: bool
) -> None:
    settings.PROXIES = ["10.0.0.0/24"]
    headers = {"HTTP_X_FORWARDED_FOR": chain} if chain else {}
    said = {"HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_HOST": "evil.example", **headers}
    asked = Client().get("/sign-in/", REMOTE_ADDR=peer, **said).wsgi_request
    assert (asked.META["REMOTE_ADDR"], asked.is_secure()) == (caller, secure)
    assert asked.get_host().partition(":")[0] == "testserver"
