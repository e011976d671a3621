"""The database's disk is full: nothing is accepted, and nothing acts unrecorded (faults 7)."""

import contextlib
import http.client
import json
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaos.disk import DiskMissing, SmallDisk
from chaos.hub import Hub, running
from chaos.postgres import PostgresMissing
from chaos.processes import children, wait_for
from chaos.verdict import executions_of, verdict
from tests.faults.conftest import missing

pytestmark = [pytest.mark.outages, pytest.mark.timeout(300)]
CALLS_MAX = 400


def answer_of(hub: Hub, tool: str) -> tuple[int, str | None, dict[str, object]]:
    """Status, Retry-After and body of one call."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    with contextlib.closing(connection):
        body = json.dumps({"arguments": {"file": str(hub.world)}})
        connection.request(
            "POST", f"/api/v1/tools/{tool}/execute", body, {"Authorization": f"Bearer {hub.token}"}
        )
        answer = connection.getresponse()
        return answer.status, answer.headers["Retry-After"], json.loads(answer.read())


def ready(hub: Hub) -> tuple[int, str]:
    """What /readyz answers."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


Room = Callable[[], None]


def refused_then_served(hub: Hub, make_room: Room) -> None:
    """Calls until a call is refused, makes room, and is served again; all is recorded."""
    tools = ("world_quick", "world_pure")
    for tool in tools:
        answers = (answer_of(hub, tool) for _ in range(CALLS_MAX))
        status, retry_after, body = next(found for found in answers if found[0] != 200)
        assert (status, retry_after) == (503, "5")
        assert body["error"]["code"] == "RECORD_UNAVAILABLE"  # type: ignore[index]
    wait_for(lambda: ready(hub)[0] == 503)
    assert "takes no writes" in ready(hub)[1]
    make_room()
    wait_for(lambda: ready(hub)[0] == 200)
    for tool in tools:
        assert answer_of(hub, tool)[0] == 200
    found = verdict(json.loads(hub.count(90)), (), executions_of(hub.world))
    # Nobody here keeps what the answers told; all the rest holds.
    assert [fault for fault in found.faults if not fault.startswith("Nobody was told")] == []


@contextlib.contextmanager
def small_disk(hub: Hub, table: str) -> Iterator[Room]:
    """A table lies on a disk without room, until somebody makes some."""
    assert hub.database
    try:
        disk = SmallDisk(hub.database.server, (table,), megabytes=8)
    except DiskMissing as error:
        missing(str(error))
    try:
        disk.fill()
        yield disk.clear
    finally:
        disk.remove()


def files_limit(hub: Hub, longest: int) -> None:
    """The web process may make no file longer than so many bytes."""
    web = next(role for role in hub.roles if role.name == "web")
    for pid in children(web.process):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY))


@pytest.mark.parametrize("table", ["execution_run", "audit_event"])
def test_on_postgresql(tmp_path: Path, table: str) -> None:
    try:
        with running(tmp_path, "redis", 3) as hub, small_disk(hub, table) as make_room:
            refused_then_served(hub, make_room)
    except PostgresMissing as error:
        missing(str(error))


def test_on_sqlite(tmp_path: Path) -> None:
    with running(tmp_path, "embedded", 3) as hub:
        log = tmp_path / "data" / "toolhub.sqlite3-wal"
        files_limit(hub, log.stat().st_size)
        refused_then_served(hub, lambda: files_limit(hub, resource.RLIM_INFINITY))
