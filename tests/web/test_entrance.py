"""Requests that come, or answers that are taken, slowly: none of them keeps anybody else waiting."""

import hashlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.server import free_port
from core.middleware import body_max
from tests.web.entrance_app import HELD, SHARE, THREADS

ROOT = Path(__file__).resolve().parents[2]
# For each of these many more come than there are work threads.
CROWD = 3 * THREADS


@dataclass(frozen=True)
class Server:
    """The entrance's port and data folder."""

    port: int
    data: Path


@contextmanager
def served(data: Path) -> Iterator[tuple[Server, subprocess.Popen[bytes]]]:
    """An entrance that answers, and its process; it is ended at last."""
    chosen = free_port()
    env = {**os.environ, "TOOLHUB_DATA": str(data), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.web.entrance_app", str(chosen)]
    process = subprocess.Popen(command, env=env, cwd=ROOT)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                ask(chosen, "/livez")
                break
            except OSError:
                assert process.poll() is None
        yield Server(chosen, data), process
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("entrance")) as (found, _process):
        yield found


@pytest.fixture
def port(server: Server) -> int:
    return server.port


def opened(port: int, head: str, body: bytes = b"", *, path: str = "/called") -> socket.socket:
    """A connection that has sent the head and so much of the body."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *head.split("\n")]
    connection.sendall("\r\n".join(lines).encode() + body)
    return connection


def answer_of(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    """Status and JSON of the answer; (0, {}) for a connection that ends without one."""
    response = http.client.HTTPResponse(connection)
    try:
        response.begin()
    except (http.client.BadStatusLine, ConnectionError):
        return 0, {}
    return response.status, json.loads(response.read() or b"{}")


def ask(port: int, path: str, body: bytes | None = None, **headers: str) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        assert response.status == 200, response.read()
        found = response.read()
        return {} if path in ("/livez", "/healthz") else dict(json.loads(found))
    finally:
        connection.close()


def called(port: int) -> int:
    return int(ask(port, "/")["requests"])


SLOW = {
    "a body with its length": ("Content-Length: 100\n\n", b"{"),
    "a body in chunks": ("Transfer-Encoding: chunked\n\n", b"1\r\n{\r\n"),
    "a form's file": ("Content-Type: multipart/form-data; boundary=b\nContent-Length: 9000\n\n", b"--b\r\n"),
    "a body that is announced": ("Expect: 100-continue\nContent-Length: 100\n\n", b""),
    "headers": ("X-Half:", b""),
    "nothing": ("", b""),
}


def test_slow_requests_keep_nobody_waiting_and_are_ended(port: int, subtests: pytest.Subtests) -> None:
    for kind, (head, body) in SLOW.items():
        with subtests.test(kind):
            before = called(port)
            crowd = [opened(port, head, body) for _ in range(CROWD)]
            assert ask(port, "/", b"x")["bytes"] == 1
            ends = [_end(connection) for connection in crowd]
            expected = (408, "BODY_TOO_SLOW") if "\n\n" in head else (0, "")
            assert set(ends) == {expected}
            assert called(port) == before


def _end(connection: socket.socket) -> tuple[int, str]:
    with connection:
        status, problem = answer_of(connection)
        # The request that was announced is asked for first.
        while status == 100:
            status, problem = answer_of(connection)
        return status, problem.get("error", {}).get("code", "")


def test_liveness_is_answered_while_all_threads_work(server: Server) -> None:
    port = server.port
    os.mkfifo(server.data / HELD)
    holding = [opened(port, "Content-Length: 0\n\n", path="/hold") for _ in range(THREADS)]
    waiting = opened(port, "Content-Length: 1\n\n", b"a")
    for path in ("/livez", "/healthz"):
        ask(port, path)
    waiting.setblocking(False)
    with pytest.raises(BlockingIOError):
        waiting.recv(1)
    waiting.settimeout(30)
    (server.data / HELD).write_bytes(b"")
    assert [answer_of(connection)[0] for connection in holding] == [200] * THREADS
    assert answer_of(waiting)[0] == 200


def test_a_slow_but_steady_body_is_read_whole(port: int) -> None:
    """It takes longer than the grace, and brings more than the smallest rate."""
    parts = [b"a" * 400] * 4
    connection = opened(port, f"Content-Length: {400 * 4}\n\n")
    pause = threading.Event()
    for part in parts:
        connection.sendall(part)
        pause.wait(0.4)
    assert answer_of(connection)[1]["bytes"] == 1600


def test_one_address_has_a_share_of_the_bodies_on_their_way(port: int) -> None:
    ends = Counter(
        map(
            _end,
            [opened(port, f"Authorization: Bearer {n}\nContent-Length: 9\n\n") for n in range(SHARE + 3)],
        )
    )
    assert ends == {(408, "BODY_TOO_SLOW"): SHARE, (429, "RATE_LIMIT"): 3}


BROKEN = {
    "with its length": ("Content-Length: 9\n\n", b"{}"),
    "in chunks": ("Transfer-Encoding: chunked\n\n", b"2\r\n{}\r\n"),
    "within a chunk": ("Transfer-Encoding: chunked\n\n", b"9\r\n{}"),
}


def test_a_body_that_breaks_off_is_never_taken_for_whole(port: int, subtests: pytest.Subtests) -> None:
    for kind, (head, body) in BROKEN.items():
        with subtests.test(kind):
            before = called(port)
            connection = opened(port, head, body)
            connection.shutdown(socket.SHUT_WR)
            assert _end(connection)[0] in {0, 422}
            assert called(port) == before


def test_a_body_comes_whole_whatever_its_form(port: int) -> None:
    large = os.urandom(3_000_000)
    chunked = b"%x\r\n%b\r\n" % (len(large), large) + b"1\r\na\r\n0\r\n\r\n"
    for head, sent, whole in (
        (f"Content-Length: {len(large)}\n\n", large, large),
        ("Transfer-Encoding: chunked\n\n", chunked, large + b"a"),
        ("Content-Length: 2\n\n", b"{}", b"{}"),
        ("Transfer-Encoding: chunked\n\n", b"0\r\n\r\n", b""),
    ):
        status, got = answer_of(opened(port, head, sent))
        assert (status, got["bytes"], got["sha256"]) == (200, len(whole), hashlib.sha256(whole).hexdigest())
        assert got["environ"]["CONTENT_LENGTH"] == str(len(whole))
        assert "HTTP_TRANSFER_ENCODING" not in got["environ"]
    # Temporary files give their room back.
    assert ask(port, "/")["on_disk"] == 0


def test_a_body_that_is_too_large_is_not_asked_for(port: int) -> None:
    most = body_max("/called")
    for head in (f"Content-Length: {most + 1}\n\n", f"Expect: 100-continue\nContent-Length: {most + 1}\n\n"):
        assert _end(opened(port, head)) == (413, "TOO_LARGE")
    assert answer_of(opened(port, "Content-Length: 1048577\n\n", path="/api/v1/tools"))[0] == 413


def test_an_announced_body_is_asked_for(port: int) -> None:
    connection = opened(port, "Expect: 100-continue\nContent-Length: 2\n\n")
    assert connection.recv(25).startswith(b"HTTP/1.1 100 ")
    connection.sendall(b"{}")
    assert answer_of(connection)[1]["bytes"] == 2


def test_requests_in_one_packet_are_answered_in_order(port: int) -> None:
    one = b"POST /%d HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(one % 1 + one % 2)
        paths = [answer_of(connection)[1]["environ"]["PATH_INFO"] for _ in range(2)]
    assert paths == ["/1", "/2"]


def test_http_2_is_not_spoken(port: int) -> None:
    """Its streams would pass the bound on the time of headers."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))
        assert not connection.recv(9).startswith(b"\0")


def test_headers_reach_the_application_as_cgi_has_them(port: int) -> None:
    head = (
        "Mcp_Name: evil\nX_Forwarded_For: 192.0.2.1\nX-Forwarded_For: 192.0.2.1\nMcp-Name: good\n"
        "Cookie: a=1\nCookie: b=2\nAccept: a\nAccept: b\nContent-Type: text/plain\nContent-Length: 0\n\n"
    )
    got = answer_of(opened(port, head, path="/%C3%A4/b%20c?d=%20"))[1]["environ"]
    assert {name: value for name, value in got.items() if name.startswith("HTTP_")} == {
        "HTTP_HOST": "127.0.0.1",
        "HTTP_MCP_NAME": "good",
        "HTTP_COOKIE": "a=1; b=2",
        "HTTP_ACCEPT": "a,b",
    }
    assert got["CONTENT_TYPE"] == "text/plain"
    assert (got["PATH_INFO"].encode("latin-1").decode(), got["QUERY_STRING"]) == ("/ä/b c", "d=%20")
    assert (got["REMOTE_ADDR"], got["SERVER_PORT"], got["REQUEST_METHOD"]) == ("127.0.0.1", str(port), "POST")


def test_clients_that_do_not_take_their_answers_hold_no_threads(port: int) -> None:
    readers = [opened(port, "Content-Length: 0\n\n", path="/large") for _ in range(CROWD)]
    assert ask(port, "/", b"x")["bytes"] == 1
    for reader in readers:
        reader.close()


def test_a_stream_ends_with_its_client(port: int) -> None:
    before = ask(port, "/")["closed"]
    for _ in range(CROWD):
        with opened(port, "Content-Length: 0\n\n", path="/stream") as connection:
            assert b"200 OK" in connection.recv(1000)
    deadline = time.monotonic() + 60
    while ask(port, "/")["closed"] < before + CROWD:
        assert time.monotonic() < deadline


def test_a_request_under_way_is_answered_before_the_process_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / HELD)
    with served(tmp_path) as (own, process), socket.create_connection(("127.0.0.1", own.port), 30) as held:
        held.sendall(b"GET /hold HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        # Opening waits until the request has the pipe open, too.
        with (tmp_path / HELD).open("wb") as pipe:
            process.terminate()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            pipe.write(b"x")
        assert answer_of(held)[0] == 200
        assert process.wait(20) == 0
