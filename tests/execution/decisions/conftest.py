"""Asks the simulator as the persona would."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

from security.models import Persona, User
from security.services import grant_create

Ask = Callable[..., Any]


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    """`ask(persona="researcher", tool="echo")`; `token=` asks as somebody else."""

    def do(*, token: str = token_text, **body: Any) -> Any:
        return client.generic(
            "POST",
            "/api/v1/decisions/simulate",
            orjson.dumps(body),
            content_type="",
            HTTP_AUTHORIZATION=f"Bearer {token}",
        )

    return do


@pytest.fixture
def may_ask(admin: User, persona: Persona) -> None:
    """The persona may ask about others."""
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="asks")
