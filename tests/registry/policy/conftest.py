"""Manages the hub's rules over REST, as an agent whose responsible person is the admin."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

from security.models import Persona, User
from security.services import grant_create, persona_create, token_create

Manage = Callable[..., Any]


@pytest.fixture
def manage(client: Client, admin: User, persona: Persona) -> Manage:
    """`manage("POST", "restrictions", capability="file:*", reason="r")`, as a persona of its own."""
    manager = persona_create(by=admin, name="manager")
    grant_create(by=admin, persona=manager, capability="toolhub:personas", reason="manages")
    token_text = token_create(by=admin, persona=manager, name="manages")[1]

    def do(method: str, path: str, *, _if_match: str = "*", **body: Any) -> Any:
        named = {"HTTP_IF_MATCH": _if_match} if _if_match else {}
        return client.generic(
            method,
            f"/api/v1/{path}",
            orjson.dumps(body) if method not in {"GET", "DELETE"} else b"",
            content_type="",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
            **named,
        )

    return do
