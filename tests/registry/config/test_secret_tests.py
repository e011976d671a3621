"""Tests of a package's secrets over the API: their form, and a real server through the hub's guard."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from core.actors import SYSTEM
from core.errors import Conflict
from core.http import probe
from registry.config.secret_test import config_test
from registry.config.services import config_change
from registry.models import Package
from registry.releases.uninstall import package_uninstall
from security.guessing.limits import SECRET_TEST
from security.models import Persona, Secret, User
from security.services import grant_create
from security.vault import secret_set
from tests.receiver import Answer, Receiver, status
from tests.registry.config.weather import KEY, server, weather, weather_package

__all__ = ["server", "weather"]
pytestmark = pytest.mark.django_db
AT = "/api/v1/packages/weather/config/test"
Test = Callable[[], dict[str, Any]]


@pytest.fixture
def test(admin: User, persona: Persona, token_text: str) -> Test:
    """Tests the secrets over the API, as an agent that manages packages."""
    grant_create(by=admin, persona=persona, capability="toolhub:packages", reason="CI sets it up")

    def act() -> dict[str, Any]:
        answer = Client().post(AT, HTTP_AUTHORIZATION=f"Bearer {token_text}")
        body: dict[str, Any] = answer.json()
        return body | {"http": answer.status_code, "retry_after": answer.get("Retry-After")}

    return act


def states(report: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["state"] for one in report["secrets"]}


def test_accepted_secrets_are_tried_again_without_them(
    weather: Package, server: Receiver, test: Test
) -> None:
    server.answers = [status(200), status(401)]
    report = test()
    assert (report["http"], report["result"], report["status"]) == (200, "accepted", 200)
    assert report["host"] == f"127.0.0.1:{server.port}"
    assert "accepted the request (status 200) and refuses it without credentials (401)" in report["message"]
    assert states(report) == {"account": "ok", "api_key": "ok", "unused": "missing"}
    first, second = server.got
    assert (first.method, first.path) == ("GET", "/v1/me?account=acct-12345")
    assert (first.headers["authorization"], first.headers["x-unit"]) == (f"Bearer {KEY}", "C")
    assert (second.path, second.headers["x-unit"]) == ("/v1/me", "C")
    assert "authorization" not in second.headers


ANSWERS: dict[str, tuple[list[Answer], str, str]] = {
    "refused": ([status(401)], "refused", "refused the credentials (status 401). Set it again"),
    "forbidden": ([status(403)], "refused", "status 403"),
    "open to everybody": ([status(200)], "unclear", "answers the same request without credentials too"),
    "not there": ([status(404)], "unclear", "status 404, which says nothing"),
    "too many": ([status(429)], "unclear", "too many requests (status 429). Test again later"),
    "failed": ([status(503)], "unclear", "failed with status 503"),
    "elsewhere": ([status(302, Location="/login")], "unclear", "a redirect, which is not followed"),
    "no answer": ([lambda handler: handler.connection.close()], "unreachable", "gave no answer"),
}


@pytest.mark.parametrize(("answers", "result", "said"), ANSWERS.values(), ids=ANSWERS)
def test_each_answer_has_its_result(
    weather: Package, server: Receiver, test: Test, answers: list[Answer], result: str, said: str
) -> None:
    server.answers = answers
    report = test()
    assert (report["http"], report["result"]) == (200, result), report
    assert said in report["message"]


def test_the_guard_decides_where_it_may_go(
    weather: Package, server: Receiver, test: Test, settings: Any
) -> None:
    settings.HTTP_ALLOW = []
    report = test()
    assert report["result"] == "unreachable"
    assert "TOOLHUB_HTTP_ALLOW can allow it" in report["message"]
    assert not server.got


def test_a_silent_server_is_left_in_time(
    weather: Package, server: Receiver, test: Test, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "SECONDS", 0.3)
    server.answers = [lambda _: server.over.wait(20) and None]
    report = test()
    assert (report["result"], report["status"]) == ("unreachable", None)
    assert "no answer within" in report["message"]


def test_what_cannot_be_right_is_said_and_asks_nobody(
    weather: Package, server: Receiver, test: Test, admin: User
) -> None:
    secret_set(actor=SYSTEM, scope="package:weather", name="unused", value="x-12345678")
    server.answers = [status(200), status(401)]
    report = test()
    assert (report["result"], states(report)["unused"]) == ("accepted", "invalid")
    assert "does not fit what the package asks" in str(report["secrets"])
    secret_set(actor=SYSTEM, scope="package:weather", name="api_key", value="sk-1234\n5678")
    report = test()
    assert (report["result"], states(report)["api_key"]) == ("invalid", "invalid")
    assert "one line of printable ASCII" in str(report["secrets"])
    assert len(server.got) == 2
    config_change(by=admin, package=weather, changes={"api_key": None})
    report = test()
    assert (report["result"], report["message"]) == ("missing", "Not set: api_key. No server was asked.")
    assert len(server.got) == 2


def test_a_scheme_that_the_header_adds_already_is_noticed(
    weather: Package, server: Receiver, test: Test, admin: User
) -> None:
    config_change(by=admin, package=weather, changes={"api_key": f"bearer {KEY}"})
    server.answers = [status(401)]
    report = test()
    assert (report["result"], states(report)["api_key"]) == ("refused", "invalid")
    assert "It begins with Bearer, which the header adds already." in str(report["secrets"])


def test_without_a_declared_request_only_the_form_is_judged(
    server: Receiver, test: Test, admin: User
) -> None:
    made = weather_package(server.port, configCheck=None)
    config_change(by=admin, package=made, changes={"api_key": KEY})
    report = test()
    assert (report["result"], report["host"]) == ("untested", None)
    assert "declares no request" in report["message"]
    secret_set(actor=SYSTEM, scope="package:weather", name="unused", value="x-12345678")
    assert test()["result"] == "invalid"
    assert not server.got


def test_secrets_that_no_key_opens(weather: Package, test: Test) -> None:
    Secret.objects.update(sealed="x")
    report = test()
    assert report["result"] == "invalid"
    assert "TOOLHUB_VAULT_KEYS" in report["message"]


def test_each_test_is_recorded_without_a_value(weather: Package, server: Receiver, test: Test) -> None:
    server.answers = [status(401)]
    report = test()
    event = Event.objects.get(kind="secret.tested")
    assert (event.subject_kind, event.subject_id) == ("secret", "package:weather")
    data = json.loads(event.canonical)["data"]
    assert data == {name: report[name] for name in ("result", "message", "secrets", "host", "status")}
    everything = event.canonical + json.dumps(report)
    assert not [part for part in (KEY, "swordfish", "acct-12345") if part in everything]


def test_who_may_not_change_the_package_tests_nothing(
    weather: Package, server: Receiver, test: Test, persona: Persona
) -> None:
    persona.grants.all().delete()
    assert test()["http"] == 403
    assert not server.got
    assert not Event.objects.filter(kind="secret.tested").exists()


def test_too_many_tests_have_to_wait(weather: Package, server: Receiver, test: Test) -> None:
    server.answers = [status(401)]
    for _ in range(SECRET_TEST.free):
        assert test()["http"] == 200
    late = test()
    assert (late["http"], late["error"]["code"], late["retry_after"]) == (429, "RATE_LIMIT", "5")
    assert len(server.got) == SECRET_TEST.free


def test_a_package_without_secrets_or_uninstalled_has_no_test(
    weather: Package, admin: User, test: Test
) -> None:
    package_uninstall(by=admin, package=weather)
    weather.refresh_from_db()
    with pytest.raises(Conflict):
        config_test(by=admin, package=weather)
    assert test()["http"] == 409
