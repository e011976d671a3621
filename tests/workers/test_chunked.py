"""A body that comes in chunks, without Content-Length, is read as any other (RFC 9112 §7.1), by the real server."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from core.parsers import BODY_MAX
from execution.models import Run
from registry.models import Package
from tests.processes import Processes

pytestmark = [pytest.mark.django_db(transaction=True)]


def post(address: str, token: str, chunks: Iterator[bytes]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {token}"}
    # A server that has read enough answers, and closes while the rest is still on its way (RFC 9112 §9.5).
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.request("POST", "/api/v1/tools/fx_echo/execute", chunks, headers)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def test_a_body_in_chunks_is_read(hub: Processes, fx: Package, token_text: str) -> None:
    _, address = hub.web()
    whole = json.dumps({"arguments": {"value": "é" * 100_000}}).encode()
    parts = (whole[start : start + 40_000] for start in range(0, len(whole), 40_000))
    status, body = post(address, token_text, parts)
    assert (status, body["data"]) == (200, "é" * 100_000)
    status, body = post(address, token_text, iter([b'{"arguments": ', b'{"value"']))
    assert (status, Run.objects.count()) == (400, 1)
    status, body = post(address, token_text, (b" " * 65_536 for _ in range(BODY_MAX // 65_536 + 2)))
    assert (status, body["error"]["code"]) == (413, "TOO_LARGE")
    status, body = post(address, token_text, iter([]))
    assert (status, body["error"]["code"]) == (422, "INVALID_ARGUMENTS")
