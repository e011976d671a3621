"""Unknown addresses and methods of the API answer as problems, whoever asks and however."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path", ["", "nothing", "tools/", "tools/echo/nothing", "runs/not-a-uuid", "runs/1/x/y"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_an_unknown_address_is_a_404_problem(path: str, method: str) -> None:
    """Also for a program that posts: it has no cookie, so nobody could forge its request."""
    response = Client(enforce_csrf_checks=True).generic(method, f"/api/v1/{path}")
    assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")
    assert response.json()["error"]["code"] == "NOT_FOUND"


def test_another_method_is_405_and_names_those_that_are_allowed(client: Client, token_text: str) -> None:
    response = client.delete("/api/v1/tools", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert response.status_code == 405
    assert response.json()["error"]["code"] == "METHOD_NOT_ALLOWED"
    assert "GET" in response["Allow"]


@pytest.mark.parametrize(
    "accept", ["text/html", "text/event-stream", "application/xml", "*/*", "application/json"]
)
def test_the_answer_is_json_whatever_the_caller_accepts(client: Client, token_text: str, accept: str) -> None:
    response = client.get("/api/v1/tools", HTTP_AUTHORIZATION=f"Bearer {token_text}", HTTP_ACCEPT=accept)
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
