"""The API answers what its description says, to whatever is sent: schemathesis over toolhub/openapi.json.

Cases are made of the description's own examples: each member left out, of another type or strange, one too many,
and things in place of the whole. `TOOLHUB_CASES=1000 python -m pytest tests/web/test_description.py` is the longer run.
"""

import itertools
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from security.models import Persona, User
from security.services import grant_create
from tests.web.world import World

CASES = int(os.environ.get("TOOLHUB_CASES", "12"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
STRANGE: tuple[Any, ...] = (
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "\u202e\x07ü",
    "x" * 5000,
    [],
    {},
    [[]],
    {"a": {"b": None}},
)
with open(f"{settings.ROOT}/toolhub/openapi.json", encoding="utf-8") as file:
    DOCUMENT = json.load(file)


@pytest.fixture
def kept_connection() -> Iterator[None]:
    """A real application gives its connection back after a request; the test's transaction is in it."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def token(world: World, admin: User, persona: Persona) -> str:
    """Of a persona that may do everything, so that not each answer is a refusal."""
    grant_create(by=admin, persona=persona, capability="toolhub", reason="tries everything")
    return world.tokens["owner"]


def bodies(operation: dict[str, Any]) -> Iterator[Any]:
    """The examples of a body, then those that are wrong in one way; one for an operation without a body."""
    media = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if media is None:
        yield None
        return
    good = [one["value"] for one in media.get("examples", {}).values()] or [{}]
    yield from good
    yield from STRANGE
    for value in good:
        yield {**value, "unknown": 1}
        for name, strange in itertools.product(value, STRANGE):
            yield {**value, name: strange}
        for name in value:
            yield {key: value[key] for key in value if key != name}


def spread(items: list[Any], count: int) -> list[Any]:
    return items[:: max(1, len(items) // count)][:count]


@pytest.mark.django_db
def test_every_answer_to_whatever_is_sent_is_described(
    world: World, token: str, kept_connection: None
) -> None:
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.app = get_wsgi_application()
    wrong: dict[str, str] = {}
    count = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        raw = DOCUMENT["paths"][operation.path][operation.method]
        names = [one["name"] for one in raw.get("parameters", ()) if one["in"] == "path"]
        queries = [one["name"] for one in raw.get("parameters", ()) if one["in"] == "query"]
        for body in spread(list(bodies(raw)), CASES):
            for query in ({}, dict.fromkeys(queries, "\u202ex")) if queries else ({},):
                case = operation.Case(
                    path_parameters=dict.fromkeys(names, ""),
                    query=query,
                    headers={"Authorization": f"Bearer {token}"},
                    **({"body": body, "media_type": "application/json"} if "requestBody" in raw else {}),
                )
                for values in places(world, operation.path, names):
                    case.path_parameters = values
                    with transaction.atomic():
                        answer = case.call()
                        transaction.set_rollback(True)
                    count += 1
                    try:
                        case.validate_response(answer, checks=CHECKS)
                    except FailureGroup as error:
                        wrong.setdefault(
                            f"{operation.label} {answer.status_code}",
                            f"{query} {body!r:.80} {error.exceptions}",
                        )
    assert count > len(DOCUMENT["paths"])
    assert not wrong, "\n".join(f"{label}: {why}" for label, why in wrong.items())


def places(world: World, path: str, names: list[str]) -> Iterator[dict[str, Any]]:
    """Where something is, and where nothing can be."""
    pattern = path.lstrip("/").replace("{id}", "<pk>")
    if not names:
        yield {}
        return
    keys = [key for key in world.values if pattern.startswith(key.replace("<str:name>", "{name}"))]
    known: dict[str, Any] = {}
    for key in sorted(keys, key=len):
        known |= world.values[key]
    yield {name: str(known["pk" if name == "id" else name]) for name in names}
