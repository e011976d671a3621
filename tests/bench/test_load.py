"""The load generator counts every call, and says when a server does not play along."""

import itertools
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench.load import BenchError, Stream, load, loads, post

Start = Callable[[list[int]], tuple[int, list[bytes]]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a server that answers with these statuses in turn (0: it closes); gives port and bodies got."""
    servers: list[ThreadingHTTPServer] = []

    def do(statuses: list[int]) -> tuple[int, list[bytes]]:
        bodies: list[bytes] = []
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    status = statuses[len(bodies) % len(statuses)]
                    bodies.append(body)
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Length", "3")
                self.end_headers()
                self.wfile.write(b"yes")

            def log_message(self, *values: object) -> None:
                """Quiet."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_address[1], bodies

    yield do
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("clients", [1, 4, 32])
def test_so_many_calls_as_asked_are_sent_and_counted(start: Start, clients: int) -> None:
    port, bodies = start([200])
    run = load(port, post(port, "/x", {"text": "ä"}, "token"), clients=clients, calls=20)
    assert run.statuses == {200: 20}
    assert bodies == [b'{"text": "\\u00e4"}'] * 20
    assert len(run.latencies) == 20
    assert 0 < run.percentile_ms(50) <= run.percentile_ms(95)


def test_what_was_under_way_when_the_time_ended_is_counted(start: Start) -> None:
    port, bodies = start([200])
    run = load(port, post(port, "/x", {}, "token"), clients=3, seconds=0.2)
    assert run.answered == len(bodies) >= 3


def test_other_answers_than_200_do_not_count_as_answered(start: Start) -> None:
    port, _ = start([200, 503])
    run = load(port, post(port, "/x", {}, "token"), clients=1, calls=10)
    assert run.statuses == {200: 5, 503: 5}
    assert run.answered == 5


def test_a_server_that_hangs_up_stops_the_bench(start: Start) -> None:
    port, _ = start([200, 0])
    with pytest.raises(BenchError, match="closed a connection"):
        load(port, post(port, "/x", {}, "token"), clients=1, calls=10)


def test_streams_are_sent_at_the_same_time_and_counted_apart(start: Start) -> None:
    port, bodies = start([200])
    requests = [post(port, "/x", {"stream": number}, "token") for number in range(2)]
    first, second = loads(
        port,
        [
            Stream(itertools.repeat(requests[0]), 3, calls=10),
            Stream(itertools.repeat(requests[1]), 1, calls=4),
        ],
    )
    assert (first.statuses, second.statuses) == ({200: 10}, {200: 4})
    assert (bodies.count(b'{"stream": 0}'), bodies.count(b'{"stream": 1}')) == (10, 4)
    assert (len(first.latencies), len(second.latencies)) == (10, 4)


def test_a_stream_sends_its_requests_in_turn_and_pauses_after_each(start: Start) -> None:
    port, bodies = start([200])
    requests = (post(port, "/x", number, "token") for number in itertools.count())
    (run,) = loads(port, [Stream(requests, 1, pause_s=0.05, calls=4)])
    assert bodies == [b"0", b"1", b"2", b"3"]
    assert run.seconds >= 3 * 0.05
