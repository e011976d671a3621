"""POST execute as the persona would."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

from execution.runners import builtin
from registry.models import Package
from tests.execution.fixtures import FIXTURE_CATALOGUE

Operate = Callable[..., Any]


@pytest.fixture
def operate(client: Client, token_text: str) -> Operate:
    """`operate("discover", filter={…})`; `headers=` adds some; a body instead of a name is sent as it is."""

    def do(operation: Any, *, headers: dict[str, str] | None = None, **members: Any) -> Any:
        body = {"operation": operation, **members} if isinstance(operation, str) else operation
        return client.generic(
            "POST",
            "/api/v1/execute",
            body if isinstance(body, bytes) else orjson.dumps(body),
            content_type="",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
            **(headers or {}),
        )

    return do


@pytest.fixture
def tools(assign: Callable[[str], None], fx: Package, settings: Any) -> None:
    """The built-in data tools and the fixture tools.

    The runner carries out tools of one catalogue only; what it has looked up stays known to it.
    """
    assign("toolhub-data")
    settings.CATALOGUE = "catalogue"
    for name in ("echo", "hash", "json_parse"):
        builtin._function(f"catalogue.data:{name}")
    settings.CATALOGUE = FIXTURE_CATALOGUE
