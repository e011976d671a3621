"""Each end of an attempt says how far its effect can have gone: none, possible, done. Built-in tools and requests."""

import contextlib
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.actors import SYSTEM
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.perform import call_run
from execution.side_effects import SideEffect
from registry.models import Package, ToolVersion
from registry.releases.draft import release_draft
from registry.releases.publish import draft_publish
from tests.receiver import Answer, Receiver, receiving, says, status
from toolhub_sdk.runtimes.http.answers import NUMBERS

pytestmark = pytest.mark.django_db
NONE, POSSIBLE, DONE = SideEffect.NONE, SideEffect.POSSIBLE, SideEffect.DONE
Carry = Callable[..., Outcome]


@pytest.fixture
def carry(db: None) -> Carry:
    """Carries a tool out: `carry("fx_echo", {"value": 1})`."""

    def do(tool: str, arguments: Any = None, **members: Any) -> Outcome:
        version = ToolVersion.objects.get(tool__name=tool)
        given: dict[str, Any] = {
            "runner": version.runner,
            "timeout_ms": version.timeout_ms,
            "max_output_bytes": version.max_output_bytes,
            **members,
        }
        return call_run(
            Call(
                run_id=uuid.uuid4(),
                tool=tool,
                version=version,
                arguments=arguments or {},
                request={},
                attempt=1,
                inline=True,
                **given,
            )
        )

    return do


def told(outcome: Outcome) -> tuple[str, SideEffect]:
    return outcome.error_code, outcome.side_effect


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "effect"),
    [
        ("fx_echo", {"value": 1}, "", DONE),
        ("fx_boom", {}, "EXECUTION_FAILED", DONE),
        ("fx_exit", {}, "EXECUTION_FAILED", DONE),
        ("fx_badout", {}, "INVALID_OUTPUT", DONE),
        ("fx_big", {"size": 200}, "RESOURCE_EXCEEDED", DONE),
        ("fx_baderror", {}, "INVALID_OUTPUT", DONE),
        # An error that may be retried promises that nothing has happened.
        ("fx_refuse", {"details": 1}, "FX_REFUSED", NONE),
        ("fx_sleep", {"seconds": 3}, "TIMEOUT", POSSIBLE),
    ],
)
def test_built_in_tools(
    fx: Package, carry: Carry, tool: str, arguments: Any, code: str, effect: SideEffect
) -> None:
    assert told(carry(tool, arguments)) == (code, effect)


def test_a_tool_that_is_stopped_may_have_done_something(fx: Package, carry: Carry, tmp_path: Any) -> None:
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    done = carry("fx_count", {"file": str(tmp_path / "f"), "seconds": 10}, cancelled=cancelled)
    assert told(done) == ("CANCELLED", POSSIBLE)


def test_what_never_begins_has_no_effect(fx: Package, carry: Carry, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(carry("fx_echo", {"value": 1}, runner="elsewhere")) == ("RUNTIME_UNKNOWN", NONE)


# --- requests ---


@pytest.fixture
def server(settings: Any) -> Iterator[Receiver]:
    for receiver in receiving():
        settings.HTTP_ALLOW = [f"127.0.0.1:{receiver.port}"]
        publish(receiver.port)
        yield receiver


def publish(port: int) -> None:
    """A tool that posts, of a server on this machine."""
    definition = {
        "name": "web_post",
        "description": "Posts to a server on this machine and gives its answer back.",
        "inputSchema": {"type": "object"},
        "_meta": {
            "io.toolhub/contract": {
                "category": "network",
                "network": {"allow": [f"127.0.0.1:{port}"]},
                "resourceBounds": {"timeoutMs": 1500, "maxOutputBytes": 1000},
                "http": {"method": "POST", "path": "/items/{id}"},
            }
        },
    }
    definition["inputSchema"] = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    }
    manifest = {
        "manifestVersion": "1",
        "name": "web-items",
        "version": "1.0.0",
        "description": "Items of a server.",
        "runtime": {"type": "http", "entry": f"http://127.0.0.1:{port}"},
        "tools": [definition],
    }
    draft_publish(by=SYSTEM, draft=release_draft(manifest=manifest, files={}))


def raw(*parts: bytes, seconds: float = 0.0) -> Answer:
    """Writes these bytes and breaks the connection off."""

    def answer(handler: Any) -> None:
        for part in parts:
            handler.wfile.write(part)
            handler.wfile.flush()
            time.sleep(seconds)
        handler.connection.shutdown(socket.SHUT_RDWR)

    return answer


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "code", "effect"),
    [
        # Any answer says that the request arrived.
        (says(b"{}"), "", DONE),
        (status(204), "", DONE),
        (says(b'{"id":725653563933458432}'), "", DONE),
        (says(b"{"), "INVALID_OUTPUT", DONE),
        (says(b"x" * 1001, "text/plain"), "RESOURCE_EXCEEDED", DONE),
        (status(302, Location="http://127.0.0.1:1/"), "EXECUTION_FAILED", DONE),
        (status(404), "EXECUTION_FAILED", DONE),
        (status(429), "RATE_LIMIT", DONE),
        (status(503), "SERVER_ERROR", DONE),
        (raw(HEAD, b'{"a"'), "NETWORK", DONE),
        # Without an answer nobody knows.
        (raw(), "NETWORK", POSSIBLE),
        (raw(b"not HTTP"), "NETWORK", POSSIBLE),
        (raw(b"HTTP/1.1 20"), "NETWORK", POSSIBLE),
    ],
)
def test_requests(server: Receiver, carry: Carry, answer: Answer, code: str, effect: SideEffect) -> None:
    server.answers = [answer]
    assert told(carry("web_post", {"id": "7"})) == (code, effect)
    assert len(server.got) == 1


@pytest.mark.parametrize(
    ("answer", "effect"),
    [
        (lambda handler: handler.server and time.sleep(3), POSSIBLE),
        (raw(HEAD, *[b" "] * 40, seconds=0.1), DONE),
    ],
)
def test_a_request_whose_time_is_over(
    server: Receiver, carry: Carry, answer: Answer, effect: SideEffect
) -> None:
    server.answers = [answer]
    late = carry("web_post", {"id": "7"})
    assert (late.status, *told(late)) == (Status.TIMEOUT, "TIMEOUT", effect)


def test_a_request_that_is_not_sent_has_no_effect(server: Receiver, settings: Any, carry: Carry) -> None:
    assert told(carry("web_post", {"id": ".."})) == ("INVALID_ARGUMENTS", NONE)
    settings.HTTP_ALLOW = []
    assert told(carry("web_post", {"id": "7"})) == ("ADDRESS_REFUSED", NONE)
    assert server.got == []


@contextlib.contextmanager
def listening(*, full: bool = False, speaks: bool = False) -> Iterator[int]:
    """A port to which nobody can connect (its queue is full), or that answers TLS with nonsense."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as nobody, contextlib.ExitStack() as held:
        port = nobody.getsockname()[1]
        if full:
            for _ in range(4):
                one = held.enter_context(socket.socket())
                one.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    one.connect(("127.0.0.1", port))
        if speaks:

            def talk() -> None:
                with contextlib.suppress(OSError):
                    one, _ = nobody.accept()
                    with one:
                        one.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

            threading.Thread(target=talk, daemon=True).start()
        yield port


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_without_a_connection_nothing_was_sent(
    server: Receiver, settings: Any, carry: Carry, scheme: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = nobody.getsockname()[1]
    ways = [closed]
    with listening(full=True) as full, listening(speaks=True) as nonsense:
        ways += [full] + ([nonsense] if scheme == "https" else [])
        for port in ways:
            settings.HTTP_ALLOW = [f"127.0.0.1:{port}"]
            ToolVersion.objects.filter(tool__name="web_post").update(entry=f"{scheme}://127.0.0.1:{port}")
            failed = carry("web_post", {"id": "7"})
            assert failed.side_effect is NONE, (port, failed.error)
            assert failed.error_code in {"NETWORK", "TIMEOUT"}
    settings.HTTP_ALLOW = ["127.0.0.1"]
    ToolVersion.objects.filter(tool__name="web_post").update(entry="https://no-such-name.invalid")
    assert told(carry("web_post", {"id": "7"})) == ("NETWORK", NONE)


def test_an_answer_is_kept_and_the_caller_hears_how_it_was_read(server: Receiver, carry: Carry) -> None:
    server.answers = [says(b'{"id":725653563933458432}')]
    done = carry("web_post", {"id": "7"})
    assert (done.status, done.data) == (Status.COMPLETED, {"id": "725653563933458432"})
    assert done.warnings == (f"The server's answer was mended: {NUMBERS}.",)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (says(b"<p>Sign in</p>"), "<p>Sign in</p>"),
        (says(b'{"id": "not a number"}'), '{"id": "not a number"}'),
        (says(b"x" * 1001, "text/plain"), "x" * 1000),
    ],
)
def test_an_answer_that_does_not_fit_stands_beside_the_error(
    server: Receiver, carry: Carry, answer: Answer, shown: str
) -> None:
    version = ToolVersion.objects.get(tool__name="web_post")
    number = {"type": "object", "properties": {"id": {"type": "integer"}}}
    version.definition = {**version.definition, "outputSchema": number}
    version.digest = uuid.uuid4().hex
    version.save()
    server.answers = [answer]
    failed = carry("web_post", {"id": "7"})
    assert failed.error is not None
    assert (failed.side_effect, failed.error["details"]["answer"]) == (DONE, shown)
