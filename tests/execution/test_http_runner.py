"""Tools that are requests on the web, called over REST: a real server on this machine answers."""

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.actors import SYSTEM
from core.errors import InvalidRequest
from execution.models import Run
from registry.config.services import config_change
from registry.models import Package, Tool, ToolVersion
from registry.releases.draft import release_draft
from registry.releases.publish import draft_publish
from registry.services import assignment_create
from security.models import Persona, User
from security.vault import secret_set
from tests.receiver import Receiver, receiving, says, status

pytestmark = pytest.mark.django_db

Call = Callable[..., Any]


@pytest.fixture
def server() -> Iterator[Receiver]:
    yield from receiving()


def definition(name: str, port: int, operation: dict[str, Any], **contract: Any) -> dict[str, Any]:
    text = {"type": ["string", "array", "null"], "description": "A text."}
    return {
        "name": name,
        "description": "Asks a server on this machine and gives its answer back.",
        "inputSchema": {"type": "object", "properties": {"id": text, "text": text}, "required": ["id"]},
        "_meta": {
            "io.toolhub/contract": {
                "category": "network",
                "network": {"allow": [f"127.0.0.1:{port}"]},
                "resourceBounds": {"timeoutMs": 1500, "maxOutputBytes": 1000},
                "http": operation,
                **contract,
            }
        },
    }


def publish(port: int) -> None:
    """A release of three tools, put in use."""
    tools = [
        definition("web_get", port, {"method": "GET", "path": "/items/{id}"}, sideEffects="pure"),
        definition("web_post", port, {"method": "POST", "path": "/items", "headers": {"X-Id": "id"}}),
        definition("web_put", port, {"method": "PUT", "path": "/items/{id}"}),
    ]
    paged = definition("web_list", port, {"method": "GET", "path": "/items"})
    paged["inputSchema"] = {"type": "object", "properties": {"page": {"type": "integer", "default": 1}}}
    tools.append(paged)
    manifest = {
        "manifestVersion": "1",
        "name": "web-items",
        "version": "1.0.0",
        "description": "Items of a server.",
        "runtime": {"type": "http", "entry": f"http://127.0.0.1:{port}/api"},
        "tools": tools,
    }
    draft_publish(by=SYSTEM, draft=release_draft(manifest=manifest, files={}))
    assert set(Tool.objects.values_list("active__runner", flat=True)) == {"http"}


@pytest.fixture
def tools(server: Receiver, settings: Any, admin: User, persona: Persona) -> None:
    settings.HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
    publish(server.port)
    assignment_create(by=admin, persona=persona, tool=None, package=Package.objects.get(name="web-items"))


@pytest.mark.usefixtures("tools")
def test_what_the_caller_left_out_is_sent_as_the_schemas_default(server: Receiver, call: Call) -> None:
    server.answers = [says(b"[]"), says(b"[]")]
    assert call("web_list", {}).json()["success"] is True
    assert call("web_list", {"page": 3}).json()["success"] is True
    assert [one.path for one in server.got] == ["/api/items?page=1", "/api/items?page=3"]
    assert list(Run.objects.order_by("id").values_list("arguments", flat=True)) == [{}, {"page": 3}]


@pytest.mark.usefixtures("tools")
def test_a_call_is_one_request_whose_answer_is_the_result(server: Receiver, call: Call) -> None:
    server.answers = [says(b'{"name": "a lamp"}')]

    answer = call("web_get", {"id": "7/8", "text": "é"}).json()

    assert answer["success"], answer
    assert answer["data"] == {"name": "a lamp"}
    assert answer["metadata"]["sandbox"] == "none"
    assert [(one.method, one.path, one.body) for one in server.got] == [
        ("GET", "/api/items/7%2F8?text=%C3%A9", b"")
    ]
    assert "idempotency-key" not in server.got[0].headers
    assert server.got[0].headers["x-request-id"] == answer["metadata"]["run_id"]


@pytest.mark.usefixtures("tools")
def test_what_a_server_may_do_twice_carries_the_run_as_its_key(server: Receiver, call: Call) -> None:
    server.answers = [says(b"[]")]

    answer = call("web_post", {"id": "7", "text": "new"}).json()

    assert answer["data"] == []
    (got,) = server.got
    assert (got.method, got.path, got.body) == ("POST", "/api/items", b'{"text": "new"}')
    assert got.headers["x-id"] == "7"
    assert got.headers["idempotency-key"] == answer["metadata"]["run_id"]


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (status(429, Retry_After="3"), "RATE_LIMIT"),
        (status(503), "SERVER_ERROR"),
        (status(404), "EXECUTION_FAILED"),
        (status(302, Location="http://127.0.0.1:1/"), "EXECUTION_FAILED"),
        (says(b"{"), "INVALID_OUTPUT"),
        (says(b"[" * 200 + b"]" * 200), "INVALID_OUTPUT"),
        (says(b"x" * 1001, "text/plain"), "RESOURCE_EXCEEDED"),
        (lambda handler: handler.wfile.write(b"not HTTP"), "NETWORK"),
    ],
)
def test_each_failure_has_its_code(server: Receiver, call: Call, answer: Any, code: str) -> None:
    server.answers = [answer]

    result = call("web_get", {"id": "7"}).json()

    assert (result["success"], result["error"]["code"]) == (False, code), result
    assert len(server.got) == 1
    assert result["metadata"]["attempts"] == 1


@pytest.mark.usefixtures("tools")
def test_a_server_that_is_not_there(server: Receiver, settings: Any, call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    settings.HTTP_ALLOW = [f"127.0.0.1:{port}"]
    ToolVersion.objects.update(entry=f"http://127.0.0.1:{port}")

    error = call("web_get", {"id": "7"}).json()["error"]

    assert (error["code"], error["type"], error["retryable"]) == ("NETWORK", "network", True)


@pytest.mark.usefixtures("tools")
def test_an_address_inside_is_refused_and_nothing_is_sent(
    server: Receiver, settings: Any, call: Call
) -> None:
    settings.HTTP_ALLOW = []

    error = call("web_get", {"id": "7"}).json()["error"]

    assert (error["code"], error["type"]) == ("ADDRESS_REFUSED", "security")
    assert server.got == []


# Committed rows: the heart, in a thread of its own, has to see them.
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("tools")
def test_a_silent_server_is_a_timeout_in_time(server: Receiver, call: Call) -> None:
    server.answers = [lambda handler: server.over.wait(20)]
    begun = time.monotonic()

    result = call("web_get", {"id": "7"}).json()

    assert (result["error"]["code"], result["metadata"]["status"]) == ("TIMEOUT", "timeout")
    assert time.monotonic() - begun < 4


@pytest.mark.usefixtures("tools")
def test_arguments_that_have_no_place_in_the_address(server: Receiver, call: Call) -> None:
    result = call("web_get", {"id": ".."}).json()

    assert result["error"]["code"] == "INVALID_ARGUMENTS"
    assert server.got == []


CONFIG = {
    "type": "object",
    "properties": {
        "team": {"type": "string"},
        "api_key": {"type": "string", "secret": True},
        "spare": {"type": "string", "secret": True},
    },
    "required": ["api_key"],
}
AUTHORIZED = {
    "method": "GET",
    "path": "/items/{id}",
    "settings": {"Authorization": "Bearer {api_key}", "X-Team": "{team}", "X-Spare": "{spare}"},
}


@pytest.fixture
def authorized(server: Receiver, settings: Any, admin: User, persona: Persona) -> Package:
    """A tool whose server wants a secret of the package."""
    settings.HTTP_ALLOW = [f"127.0.0.1:{server.port}"]
    manifest = {
        "manifestVersion": "1",
        "name": "web-keys",
        "version": "1.0.0",
        "description": "Items of a server that wants a key.",
        "runtime": {"type": "http", "entry": f"http://127.0.0.1:{server.port}"},
        "config": CONFIG,
        "tools": [definition("web_key", server.port, AUTHORIZED)],
    }
    package = draft_publish(by=SYSTEM, draft=release_draft(manifest=manifest, files={})).package
    assignment_create(by=admin, persona=persona, tool=None, package=package)
    return package


def test_a_secret_goes_to_the_server_as_a_header_and_nowhere_else(
    authorized: Package, server: Receiver, call: Call, admin: User
) -> None:
    assert call("web_key", {"id": "7"}).json()["error"]["code"] == "NOT_CONFIGURED"
    config_change(by=admin, package=authorized, changes={"api_key": "hunter2-hunter2", "team": "blue"})
    server.answers = [says(b'{"echoed": "Bearer hunter2-hunter2"}')]

    answer = call("web_key", {"id": "7"}).json()

    assert answer["data"] == {"echoed": "Bearer [redacted]"}
    (got,) = server.got
    assert (got.headers["authorization"], got.headers["x-team"]) == ("Bearer hunter2-hunter2", "blue")
    assert "x-spare" not in got.headers


def test_of_a_refusal_no_half_of_a_secret_is_told(
    authorized: Package, server: Receiver, call: Call, admin: User
) -> None:
    config_change(by=admin, package=authorized, changes={"api_key": "hunter2-hunter2"})
    server.answers = [says(b"x" * 490 + b"hunter2-hunter2", "text/plain", 403)]

    error = call("web_key", {"id": "7"}).json()["error"]

    assert error["details"] == {"status": 403, "answer": "x" * 490 + "[redacted]"}


@pytest.mark.parametrize("pasted", ["hunter2-hunter2\n", "\r\nhunter2-hunter2\r\n"])
def test_a_secret_that_was_pasted_with_line_breaks_is_saved_without_them(
    authorized: Package, server: Receiver, call: Call, admin: User, pasted: str
) -> None:
    config_change(by=admin, package=authorized, changes={"api_key": pasted})
    server.answers = [says(b"{}")]
    assert call("web_key", {"id": "7"}).json()["success"] is True
    assert server.got[0].headers["authorization"] == "Bearer hunter2-hunter2"


def test_a_secret_that_no_header_can_hold_is_never_sent_nor_told(
    authorized: Package, server: Receiver, call: Call, admin: User
) -> None:
    value = "hunter2\r\nX-Evil: 1"
    with pytest.raises(InvalidRequest) as refused:
        config_change(by=admin, package=authorized, changes={"api_key": value})
    assert refused.value.errors[0]["pointer"] == "/api_key"
    assert "hunter2" not in str(refused.value.errors)
    # An older hub may have saved it.
    secret_set(actor=SYSTEM, scope="package:web-keys", name="api_key", value=value)

    error = call("web_key", {"id": "7"}).json()["error"]

    assert error["code"] == "NOT_CONFIGURED"
    assert "hunter2" not in str(error)
    assert server.got == []
