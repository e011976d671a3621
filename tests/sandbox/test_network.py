"""A tool with hosts to reach reaches these, through the hub, and nothing else; each is recorded."""

import dataclasses
import http.server
import itertools
import json
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.http import names
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.engine.requests import ISOLATION_LEVELS
from execution.models import Status
from execution.runners.perform import call_run
from registry.models import ToolVersion
from registry.services import assignment_create
from security.models import Persona, User
from security.sandbox import gate, gate_place, probes, remedies, warm
from security.sandbox.gate import host_matches
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Launch
from security.sandbox.levels import Level
from tests.contract.conftest import carry
from tests.processes import wait_for
from tests.sandbox.packages import net_publish

__all__ = ["carry"]

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]


class Handler(http.server.BaseHTTPRequestHandler):
    """Says what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = (
            b"x" * 200_000
            if self.path == "/large"
            else json.dumps(
                {
                    "path": self.path,
                    "host": self.headers["Host"],
                    "names": sorted(map(str.lower, self.headers)),
                }
            ).encode()
        )
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def port() -> Iterator[int]:
    """A server on this machine: an inside address, which an admin has to allow."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


Perform = Callable[..., Outcome]


@pytest.fixture
def perform(db: None, port: int, settings: Any) -> Perform:
    """Publishes the package with hosts to reach, and carries one of its tools out."""
    settings.HTTP_ALLOW = [f"127.0.0.1:{port}", f"localhost:{port}"]

    versions = itertools.count()

    def do(tool: str, *, allow: list[str], isolation: str = "strict", **arguments: Any) -> Outcome:
        net_publish(allow, isolation, version=f"1.0.{next(versions)}")
        version = ToolVersion.objects.filter(tool__name=tool).latest("pk")
        return call_run(
            Call(
                run_id=uuid.uuid4(),
                tool=tool,
                runner=version.runner,
                version=version,
                arguments=arguments,
                request={},
                attempt=1,
                timeout_ms=30_000,
                max_output_bytes=1 << 20,
                inline=False,
            )
        )

    return do


def reached(outcome: Outcome) -> list[tuple[str, int, bool]]:
    assert outcome.status is Status.COMPLETED, outcome
    assert outcome.sandbox is not None
    assert outcome.sandbox["level"] == "isolated"
    return [(one["host"], one["port"], one["allowed"]) for one in outcome.sandbox["network"]]


def test_a_host_of_the_list_is_reached_and_others_are_refused(perform: Perform, port: int) -> None:
    urls = [f"http://127.0.0.1:{port}/a?b=1", f"http://localhost:{port}/", f"http://127.0.0.1:{port + 1}/"]
    done = perform("net_get", allow=[f"127.0.0.1:{port}"], urls=urls)
    assert reached(done) == [
        ("127.0.0.1", port, True),
        ("localhost", port, False),
        ("127.0.0.1", port + 1, False),
    ]
    (first, said), *others = done.data
    assert first == 200
    assert json.loads(said)["path"] == "/a?b=1"
    for status, told in others:
        assert (status, "is not in network.allow" in told) == (403, True)
    assert done.sandbox is not None
    one = done.sandbox["network"][0]
    assert (one["times"], one["sent"] > 0, one["received"] > len(said)) == (1, True, True)
    assert done.told == [("NETWORK_REACHED", {"hosts": done.sandbox["network"]})]


def test_a_refused_host_that_fails_a_tool_is_its_error(perform: Perform, port: int) -> None:
    """It names the host and who may allow it; without a refusal the exception keeps its text."""
    error = perform("net_fail", allow=[f"localhost:{port}"], url=f"http://127.0.0.1:{port}/").error
    assert error
    assert error["code"] == "HOST_NOT_ALLOWED"
    assert f"127.0.0.1:{port}" in error["message"]
    assert "HTTP Error 403: Forbidden" in error["message"]
    assert f"add 127.0.0.1:{port} to network.allow" in error["suggestions"][0]
    assert error["details"]["allowed_hosts"] == [f"localhost:{port}"]
    inside = perform("net_fail", allow=["10.1.2.3:80"], url="http://10.1.2.3/").error
    assert inside
    assert inside["code"] == "ADDRESS_REFUSED"
    assert "TOOLHUB_HTTP_ALLOW" in inside["suggestions"][0]
    plain = perform("net_fail", allow=[f"localhost:{port}"], url="no address").error
    assert plain
    assert plain["code"] == "EXECUTION_FAILED"
    assert "net_fail failed with ValueError: unknown url type: 'no address'" in plain["message"]


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "localhost", "100.64.0.1"])
def test_an_inside_address_is_refused_though_the_contract_names_it(
    perform: Perform, settings: Any, host: str
) -> None:
    settings.HTTP_ALLOW = []
    done = perform("net_get", allow=[f"{host}:80"], urls=[f"http://{host}/latest/meta-data/"])
    assert reached(done) == [(host, 80, False)]
    assert done.data[0][0] == 403
    assert "leads to an address which is" in done.data[0][1]


def test_a_name_is_looked_up_once(
    perform: Perform, port: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that says another address the second time changes nothing."""
    asked: list[str] = []

    def look_up(host: str, *_: Any, **__: Any) -> Any:
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]

    monkeypatch.setattr(names.socket, "getaddrinfo", look_up)
    settings.HTTP_ALLOW = [f"127.0.0.1:{port}"]
    done = perform("net_get", allow=[f"api.example.org:{port}"], urls=[f"http://api.example.org:{port}/"])
    assert done.data[0][0] == 200
    assert json.loads(done.data[0][1])["host"] == f"api.example.org:{port}"
    assert asked == ["api.example.org"]


def test_a_tunnel_carries_any_bytes(perform: Perform, port: int) -> None:
    head = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n"
    inner = "GET /in HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n\r\n"
    done = perform("net_raw", allow=[f"127.0.0.1:{port}"], sends=[head, inner])
    assert done.data.startswith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    assert '"host": "inner"' in done.data
    refused = perform("net_raw", allow=["127.0.0.1:1"], sends=[head])
    assert refused.data.startswith("HTTP/1.1 403")


def test_the_server_gets_the_host_that_was_checked(perform: Perform, port: int) -> None:
    sent = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: admin.example\r\nProxy-Authorization: x\r\nX-A: 1\r\n\r\n"
    done = perform("net_raw", allow=[f"127.0.0.1:{port}"], sends=[sent])
    body = json.loads(done.data.partition("\r\n\r\n")[2])
    assert body["host"] == f"127.0.0.1:{port}"
    assert body["names"] == ["connection", "host", "x-a"]


@pytest.mark.parametrize(
    "sent",
    [
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nX: 1\nHost: other\r\n\r\n",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\n Host: other\r\n\r\n",
        "GET http://user@127.0.0.1:PORT/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
        "GET https://127.0.0.1:PORT/ HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:PORT/ SPDY/3\r\n\r\n",
        "CONNECT 127.0.0.1:PORT/x@y HTTP/1.1\r\n\r\n",
        "G\0T http://127.0.0.1:PORT/ HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nX: " + "y" * 20_000 + "\r\n\r\n",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nHost : other\r\n\r\n",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nno colon\r\n\r\n",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nContent-Length: +1\r\n\r\nx",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\nx",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\r\n\r\nGET http://127.0.0.1:PORT/ HTTP/1.1\r\n\r\n",
        "GET http://[::ffff:127.0.0.1]:PORT/ HTTP/1.1\r\n\r\n",
        "CONNECT [::ffff:127.0.0.1]:PORT HTTP/1.1\r\n\r\n",
        "CONNECT [::1%lo]:PORT HTTP/1.1\r\n\r\n",
        "CONNECT 2130706433:PORT HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_plain_request_is_refused(perform: Perform, port: int, sent: str) -> None:
    done = perform("net_raw", allow=[f"127.0.0.1:{port}"], sends=[sent.replace("PORT", str(port))])
    assert done.data.startswith(("HTTP/1.1 400", "no: Connection reset", "HTTP/1.1 403"))
    assert '"path"' not in done.data


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers once and keeps all that comes on one connection."""
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as client:
                client.settimeout(2)
                got.append(client.recv(65_536))
                client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                try:
                    while block := client.recv(65_536):
                        got.append(block)
                except TimeoutError:
                    got.append(b"(waits)")
                except ConnectionError:
                    got.append(b"(ended)")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], got
        thread.join(5)


@pytest.mark.parametrize(
    ("length", "more"), [(5, ""), (5, "GET / HTTP/1.1\r\nHost: admin.example\r\n\r\n"), (0, "x")]
)
def test_one_connection_has_one_request(
    perform: Perform, settings: Any, listener: tuple[int, list[bytes]], length: int, more: str
) -> None:
    """What comes behind it could name another host of the same server."""
    port, got = listener
    settings.HTTP_ALLOW = [f"127.0.0.1:{port}"]
    head = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: {length}\r\n\r\n"
    perform("net_raw", allow=[f"127.0.0.1:{port}"], sends=[head, "12345"[:length] + more])
    sent = b"".join(got)
    assert sent.startswith(b"POST / HTTP/1.1\r\n")
    assert b"Host: 127.0.0.1" in sent
    assert b"admin.example" not in sent
    assert sent.partition(b"\r\n\r\n")[2].startswith(b"12345"[: 0 if more else length])
    assert b"x" not in sent.partition(b"\r\n\r\n")[2]


def test_a_request_says_how_long_it_is(perform: Perform, port: int) -> None:
    sent = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
    done = perform("net_raw", allow=[f"127.0.0.1:{port}"], sends=[sent])
    assert done.data.startswith("HTTP/1.1 411 Length Required")
    assert "Content-Length" in done.data


def test_there_is_no_other_way_out(perform: Perform, port: int) -> None:
    done = perform("net_raw", allow=[f"127.0.0.1:{port}"], sends=["x"], to=["127.0.0.1", port])
    assert done.data == "no: Connection refused"
    done = perform("net_raw", allow=[f"127.0.0.1:{port}"], sends=["x"], to=["93.184.216.34", 80])
    assert done.data == "no: Network is unreachable"


def test_a_runs_bytes_are_bounded(perform: Perform, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = gate.Gate.__init__
    monkeypatch.setattr(
        gate.Gate, "__init__", lambda self, allow, way, **_: made(self, allow, way, bytes_most=100_000)
    )
    done = perform(
        "net_raw", allow=[f"127.0.0.1:{port}"], sends=[f"GET http://127.0.0.1:{port}/large HTTP/1.1\r\n\r\n"]
    )
    assert done.sandbox is not None
    (one,) = done.sandbox["network"]
    assert (one["why"], one["received"] <= 100_000) == ("the run's bytes are spent", True)


def test_a_paranoid_tool_reaches_nothing(perform: Perform, port: int) -> None:
    done = perform(
        "net_get", allow=[f"127.0.0.1:{port}"], isolation="paranoid", urls=[f"http://127.0.0.1:{port}/"]
    )
    assert done.data[0][0] == 0
    assert done.sandbox is not None
    assert "network" not in done.sandbox


def test_without_a_network_of_its_own_a_tool_with_hosts_is_refused(
    perform: Perform, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes.probe.cache_clear()
    for module in (probes, remedies):
        monkeypatch.setattr(module, "bubblewrap", lambda: None)
    done = perform("net_get", allow=[f"127.0.0.1:{port}"], urls=[])
    probes.probe.cache_clear()
    assert done.error is not None
    assert done.error["code"] == "SANDBOX_UNAVAILABLE"
    assert "which a tool that reaches hosts needs" in done.error["message"]
    assert "apt-get install bubblewrap" in str(done.error["suggestions"])


def test_nothing_of_a_gate_is_left(perform: Perform, port: int) -> None:
    perform("net_get", allow=[f"127.0.0.1:{port}"], urls=[f"http://127.0.0.1:{port}/"])
    # Who served a connection ends by itself once that is closed.
    wait_for(lambda: "gate" not in [each.name for each in threading.enumerate()])


@pytest.mark.parametrize(
    ("entry", "host", "port", "is_it"),
    [
        ("api.example.org:443", "api.example.org", 443, True),
        ("API.example.org:443", "api.example.org", 443, True),
        ("api.example.org:443", "api.example.org", 80, False),
        ("*.example.org:443", "a.example.org", 443, True),
        ("*.example.org:443", "a.b.example.org", 443, True),
        ("*.example.org:443", "example.org", 443, False),
        ("*.example.org:443", "badexample.org", 443, False),
        ("example.org:443", "example.org.", 443, False),
    ],
)
def test_entries_name_hosts(entry: str, host: str, port: int, is_it: bool) -> None:
    assert host_matches(entry, host, port) is is_it


@pytest.mark.django_db(transaction=True)
def test_a_call_may_only_ask_for_more_isolation(
    admin: User, persona: Persona, port: int, settings: Any, carry: Callable[..., Any]
) -> None:
    settings.HTTP_ALLOW = [f"127.0.0.1:{port}"]
    arguments = {"urls": [f"http://127.0.0.1:{port}/"]}
    found = {}
    for number, declared in enumerate(ISOLATION_LEVELS):
        package = net_publish([f"127.0.0.1:{port}"], declared, version=f"1.0.{number}")
        if not number:
            assignment_create(by=admin, persona=persona, package=package)
        for asked in ("none", "paranoid", None):
            level = {"isolation_level": asked} if asked else {}
            done = carry("net_get", body={"arguments": arguments, **level})
            assert done["metadata"]["sandbox"] == "isolated", done
            warned = any(
                f"isolation_level {asked} was ignored" in one for one in done["metadata"]["warnings"]
            )
            found[declared, asked] = (done["data"][0][0] == 200, warned)
    # By hand: whether it reached its host, and whether the wish was ignored with a warning.
    assert found == {
        **{(declared, "none"): (declared != "paranoid", True) for declared in ISOLATION_LEVELS},
        **{(declared, "paranoid"): (False, False) for declared in ISOLATION_LEVELS},
        **{(declared, None): (declared != "paranoid", False) for declared in ISOLATION_LEVELS},
    }


# Looks for what a call before it has left, leaves something itself, and asks for one host.
LEAVES = """
import os, socket, sys, time, urllib.request
given = sys.stdin.read()
try:
    socket.create_connection(("127.0.0.1", 5555), 1)
    print("something answers")
except ConnectionRefusedError:
    print("nobody answers")
server = socket.create_server(("127.0.0.1", 5555))
if os.fork() == 0:
    time.sleep(60)
answer = urllib.request.urlopen(given)
answer.read()  # to the end: what it does not wait for need not have come
print(answer.status)
"""


def test_calls_of_one_started_python_have_a_network_each(port: int, settings: Any) -> None:
    settings.HTTP_ALLOW = [f"127.0.0.1:{port}"]
    launch = Launch(
        argv=[interpreter(), "-I", "-S", "-c", LEAVES],
        level=Level.ISOLATED,
        mounts=interpreter_mounts(),
        environment={"http_proxy": gate_place.ADDRESS},
        network=[f"127.0.0.1:{port}"],
        prepare="import json",
    )
    for number in range(3):
        given = f"http://127.0.0.1:{port}/{'large' if number == 0 else ''}".encode()
        done = warm.warm_run(dataclasses.replace(launch, stdin=given), threading.Event())
        assert done.stdout == b"nobody answers\n200\n", done.log
        (one,) = done.reached
        assert (one.host, one.allowed, one.times) == ("127.0.0.1", True, 1)
        assert (one.received > 200_000) == (number == 0), "each has its own count"
        (held,) = warm._waiting.values()
        assert held.lasts


def test_a_call_with_other_hosts_gets_another_python(port: int, settings: Any) -> None:
    launch = Launch(
        argv=[interpreter(), "-I", "-S", "-c", "import sys; sys.stdin.read()"],
        level=Level.ISOLATED,
        mounts=interpreter_mounts(),
        prepare="import json",
    )
    keys = {
        warm._key(dataclasses.replace(launch, network=network))
        for network in ([], ["a.example.org:443"], ["b.example.org:443"])
    }
    assert len(keys) == 3
