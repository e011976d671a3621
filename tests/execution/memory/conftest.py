"""Requests of a persona about its memory."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

Ask = Callable[..., Any]


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    """A request: `ask("PUT", "memory/working/k?session_id=s", {"value": 1})`."""

    def do(method: str, path: str, body: Any = None, *, token: str = token_text) -> Any:
        headers = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
        if body is None:
            return client.generic(method, f"/api/v1/{path}", **headers)
        return client.generic(method, f"/api/v1/{path}", orjson.dumps(body), "application/json", **headers)

    return do
