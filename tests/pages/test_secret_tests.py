"""The pages on which people test secrets."""

from typing import Any

from django.test import Client

from audit.models import Event
from registry.models import Package
from security.guessing.limits import SECRET_TEST
from tests.forms import form_on
from tests.receiver import Receiver, status
from tests.registry.config.weather import KEY, server, weather

__all__ = ["server", "weather"]
PAGE = "/packages/weather/config/test/"


def test_the_page_says_what_it_will_do_tests_once_and_shows_the_result(
    weather: Package, server: Receiver, eyes: Client
) -> None:
    server.answers = [status(200), status(401)]
    body = eyes.get("/packages/weather/").content.decode()
    assert PAGE in body
    page = eyes.get(PAGE).content.decode()
    assert f"GET 127.0.0.1:{server.port}" in page
    assert "No request is declared for unused" in page
    assert "Last test" not in page
    form = form_on(eyes, PAGE)
    answers = [form.send(eyes) for _ in range(2)]
    assert [answer["Location"] for answer in answers] == [PAGE, PAGE]
    assert len(server.got) == 2
    shown = eyes.get(PAGE).content.decode()
    assert "Last test" in shown
    assert "refuses it without credentials (401)" in shown
    assert KEY not in body + page + shown
    assert Event.objects.get(kind="secret.tested").actor_name == "admin"


def test_the_page_has_a_limit(weather: Package, server: Receiver, eyes: Client) -> None:
    server.answers = [status(401)]
    for _ in range(SECRET_TEST.free):
        assert form_on(eyes, PAGE).send(eyes).status_code == 302
    answer = form_on(eyes, PAGE).send(eyes)
    assert (answer.status_code, answer["Retry-After"]) == (429, "5")
    assert "Too many tests of secrets. Wait 5 s" in answer.content.decode()


def test_who_may_not_change_packages_has_no_such_page(
    weather: Package, server: Receiver, eyes_with: Any
) -> None:
    eyes = eyes_with("registry.view_package", "registry.view_release")
    assert eyes.get(PAGE).status_code == eyes.post(PAGE).status_code == 404
    assert "Test secrets" not in eyes.get("/packages/weather/").content.decode()
    assert not server.got
