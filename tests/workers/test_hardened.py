"""A hub at an https address behind a named proxy, as a real web process: what depends on headers and addresses."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from security.models import User
from tests.processes import running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.broker]
PASSWORD = "correct horse battery"
HOST = "tools.example.org"


class Browser:
    """One who asks the web process: through the proxy (127.0.0.1) as the given address, or past it."""

    def __init__(
        self, url: str, address: str = "", *, past_proxy: bool = False, scheme: str = "https"
    ) -> None:
        headers = {"Host": HOST, "X-Forwarded-Proto": scheme, "Origin": f"https://{HOST}"}
        if address:
            headers["X-Forwarded-For"] = address
        source = "127.0.0.2" if past_proxy else "127.0.0.1"
        self.client = httpx.Client(
            base_url=url, headers=headers, transport=httpx.HTTPTransport(local_address=source)
        )
        self.cookies: dict[str, str] = {}

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._keep(self.client.get(path, headers=self._with(headers)))

    def sign_in(self, password: str) -> httpx.Response:
        """By the form, with its token."""
        page = self.get("/sign-in/").text
        token = page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"login": "admin", "password": password, "csrfmiddlewaretoken": token}
        return self._keep(self.client.post("/sign-in/", data=form, headers=self._with({})))

    def _with(self, headers: dict[str, str]) -> dict[str, str]:
        # By hand: the connection is plain http, and a cookie jar would keep secure ones back.
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **headers}

    def _keep(self, answer: httpx.Response) -> httpx.Response:
        for line in answer.headers.get_list("set-cookie"):
            name, _, rest = line.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        return answer


@pytest.fixture
def url(transactional_db: None, settings: Any) -> Iterator[str]:
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher"
    ]  # the process knows no other
    User.objects.create_superuser("admin", password=PASSWORD)
    for processes in running(TOOLHUB_URL=f"https://{HOST}", TOOLHUB_PROXIES="127.0.0.1/32"):
        yield processes.web()[1]


def test_a_hub_behind_a_proxy(url: str) -> None:
    """One process is enough, and takes seconds to start: what it does stands here in order."""
    browser = Browser(url, "192.0.2.1")
    answer = browser.get("/sign-in/")
    assert answer.headers["strict-transport-security"].startswith("max-age=31536000")
    assert "strict-transport-security" not in Browser(url, past_proxy=True).get("/sign-in/").headers
    assert "no-store" in answer.headers["cache-control"]

    # Other names of the host are refused, to people and to agents.
    for path in ("/sign-in/", "/api/v1/tools"):
        assert browser.get(path, Host="evil.example").status_code == 400

    # Cookies that only this host sets, by https, out of reach of scripts and of other sites' forms.
    answer = browser.sign_in(PASSWORD)
    assert (answer.status_code, answer.headers["location"]) == (302, "/")
    kept = {line.partition("=")[0]: line for line in answer.headers.get_list("set-cookie")}
    assert {"__Host-session", "__Host-csrf"} <= kept.keys()
    for name in ("__Host-session", "__Host-csrf"):
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(kept[name].split("; ")), kept[name]
        assert "Domain" not in kept[name]
    assert "192.0.2.1, since" in " ".join(browser.get("/account/").text.split())

    # Wrong passwords are counted for the caller that the proxy names, whatever that one writes before it.
    for number in range(10):
        Browser(url, f"10.9.9.{number}, 192.0.2.66").sign_in(f"wrong {number}")
    assert Browser(url, "10.9.9.99, 192.0.2.66").sign_in(PASSWORD).status_code != 302
    # Past the proxy nobody is somebody else: as its own address, and without https no cookie is kept.
    for number in range(10):
        Browser(url, f"203.0.113.{number}", past_proxy=True).sign_in(f"wrong {number}")
    assert Browser(url, "203.0.113.200", past_proxy=True).sign_in(PASSWORD).status_code != 302
