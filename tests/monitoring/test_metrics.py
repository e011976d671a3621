"""/metrics: figures for this machine, or for who has the token."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from execution.models import Status
from registry.models import Package

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]


def samples(client: Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    response = client.get("/metrics")
    assert response.status_code == 200
    families = list(text_string_to_metric_families(response.content.decode()))
    assert len({family.name for family in families}) == len(families)
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def of(figures: Any, name: str, **labels: str) -> float:
    value: float = figures.get((name, frozenset(labels.items())), 0.0)
    return value


def test_the_figures_parse_and_count_what_happened(client: Client, call: Call, fx: Package) -> None:
    before = samples(client)
    call("fx_echo", {"value": 1})
    call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async")
    call("nope", {})
    after = samples(client)

    def more(name: str, **labels: str) -> float:
        return of(after, name, **labels) - of(before, name, **labels)

    assert more("toolhub_runs_accepted_total", where="inline") == 1
    assert more("toolhub_runs_accepted_total", where="queued") == 1
    requests = {"view": "api_tool_execute", "method": "POST"}
    assert more("toolhub_http_requests_total", status="200", **requests) == 1
    assert more("toolhub_http_requests_total", status="202", **requests) == 1
    assert more("toolhub_http_requests_total", status="404", **requests) == 1
    assert more("toolhub_http_request_seconds_count", view="api_tool_execute") == 3


def test_open_runs_are_counted_by_queue_and_status(client: Client, make_run: Any) -> None:
    make_run()
    make_run()
    make_run(queue="sandbox", status=Status.OUTCOME_UNKNOWN)
    make_run(status=Status.COMPLETED)
    figures = samples(client)
    assert of(figures, "toolhub_runs_open", queue="default", status="pending") == 2
    assert of(figures, "toolhub_runs_open", queue="sandbox", status="outcome_unknown") == 1
    assert not any(
        ("status", "completed") in labels for name, labels in figures if name == "toolhub_runs_open"
    )


def test_callers_cannot_make_new_series(client: Client) -> None:
    for number in range(3):
        client.get(f"/nothing/{number}")
        client.generic(f"VERB{number}", "/healthz")
    names = {value for _, labels in samples(client) for _, value in labels}
    assert not any("VERB" in name or "/nothing" in name for name in names)


@pytest.mark.parametrize("header", ["HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP"])
def test_what_comes_through_a_proxy_is_not_this_machine(client: Client, header: str) -> None:
    assert client.get("/metrics", **{header: "127.0.0.1"}).status_code == 404


def test_behind_a_named_proxy_nobody_is_this_machine(client: Client, settings: Any) -> None:
    settings.PROXIES = ["127.0.0.1"]
    assert client.get("/metrics").status_code == 404


@pytest.mark.parametrize(
    ("address", "status"), [("127.0.0.1", 200), ("::1", 200), ("10.0.0.1", 404), ("192.0.2.7", 404)]
)
def test_without_a_token_only_this_machine_may_read(client: Client, address: str, status: int) -> None:
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == status


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("Bearer right", 200),
        ("Bearer wrong", 404),
        ("right", 404),
        ("", 404),
        ("Bearer right ", 404),
        ("Bearer é", 404),
    ],
)
def test_with_a_token_set_only_who_has_it_may_read(
    client: Client, settings: Any, given: str, status: int
) -> None:
    settings.METRICS_TOKEN = "right"
    response = client.get("/metrics", HTTP_AUTHORIZATION=given, REMOTE_ADDR="192.0.2.7")
    assert response.status_code == status


def test_a_token_lets_the_proxy_pass(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "right"
    assert client.get("/metrics").status_code == 404
    headers = {"HTTP_AUTHORIZATION": "Bearer right", "HTTP_X_FORWARDED_FOR": "192.0.2.7"}
    assert client.get("/metrics", **headers).status_code == 200
