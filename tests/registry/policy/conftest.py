"""Manages the hub's rules over REST, as an agent whose responsible person is the admin."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

from security.models import Persona, User
from security.services import grant_create

Manage = Callable[..., Any]


@pytest.fixture
def manage(client: Client, admin: User, persona: Persona, token_text: str) -> Manage:
    """`manage("POST", "restrictions", capability="file:*", reason="r")`."""
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="manages")

    def do(method: str, path: str, **body: Any) -> Any:
        return client.generic(
            method,
            f"/api/v1/{path}",
            orjson.dumps(body) if method not in {"GET", "DELETE"} else b"",
            content_type="",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
        )

    return do
