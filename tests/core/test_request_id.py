"""Each answer carries a request id: the caller's where it is well formed, else one of our own."""

import logging

import pytest
from django.test import Client

from core.request_id import REQUEST_ID, RequestIdFilter

PATH = "/healthz"


@pytest.mark.parametrize("given", ["abcd1234", "req-2026.01_A", "x" * 64])
def test_a_well_formed_id_is_taken(client: Client, given: str) -> None:
    assert client.get(PATH, HTTP_X_REQUEST_ID=given)["X-Request-ID"] == given


@pytest.mark.parametrize(
    "given", ["", "short", "x" * 65, "with space", "new\nline-of-log", "<script>alert", "é" * 10]
)
def test_any_other_is_replaced_by_one_of_our_own(client: Client, given: str) -> None:
    made = client.get(PATH, HTTP_X_REQUEST_ID=given)["X-Request-ID"]
    assert made != given
    assert len(made) == 32
    assert int(made, 16)


def test_each_request_gets_another_id(client: Client) -> None:
    assert client.get(PATH)["X-Request-ID"] != client.get(PATH)["X-Request-ID"]


@pytest.mark.django_db
def test_a_refused_call_has_it_too(client: Client) -> None:
    response = client.get("/api/v1/tools", HTTP_X_REQUEST_ID="refused-1")
    assert (response.status_code, response["X-Request-ID"]) == (401, "refused-1")


def test_log_lines_carry_the_id() -> None:
    token = REQUEST_ID.set("in-a-log-line")
    try:
        record = logging.LogRecord("n", logging.INFO, "p", 1, "m", (), None)
        assert RequestIdFilter().filter(record)
        assert vars(record)["request_id"] == "in-a-log-line"
    finally:
        REQUEST_ID.reset(token)
