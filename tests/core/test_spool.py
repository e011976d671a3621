"""The embedded broker: messages in a folder, each read once, none half."""

import multiprocessing
import os
import time
from collections import Counter
from multiprocessing.queues import Queue as ProcessQueue
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from core.spool import Transport

MESSAGES = 250  # of each of two writers
SPAWN = multiprocessing.get_context("spawn")


def wire(folder: Path) -> Connection:
    return Connection(transport=Transport, transport_options={"folder": str(folder)})


def put(folder: Path, start: int, many: int) -> None:
    with wire(folder) as connection, connection.SimpleQueue("bells") as queue:
        for number in range(start, start + many):
            queue.put({"number": number, "padding": "x" * 2000})


def take(folder: Path, out: "ProcessQueue[list[int]]") -> None:
    """Reads until nobody writes any more and nothing is left."""
    taken: list[int] = []
    with wire(folder) as connection, connection.SimpleQueue("bells") as queue:
        while True:
            finished = (folder / "finished").exists()
            try:
                message = queue.get_nowait()
            except queue.Empty:
                if finished:
                    break
                continue
            assert len(message.payload["padding"]) == 2000
            taken.append(message.payload["number"])
            message.ack()
    out.put(taken)


def test_processes_that_write_and_read_at_once_lose_nothing_and_read_nothing_twice(tmp_path: Path) -> None:
    out: ProcessQueue[list[int]] = SPAWN.Queue()
    readers = [SPAWN.Process(target=take, args=(tmp_path, out)) for _ in range(2)]
    writers = [SPAWN.Process(target=put, args=(tmp_path, i * MESSAGES, MESSAGES)) for i in range(2)]
    for process in (*readers, *writers):
        process.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    (tmp_path / "finished").touch()
    taken = Counter(number for _ in readers for number in out.get(timeout=60))
    for reader in readers:
        reader.join(60)
        assert reader.exitcode == 0
    assert taken == Counter(range(2 * MESSAGES))
    assert os.listdir(tmp_path / "bells") == []


def channel(folder: Path) -> Any:
    return wire(folder).default_channel


def test_messages_come_oldest_first(tmp_path: Path) -> None:
    own = channel(tmp_path)
    for number in range(5):
        own._put("bells", {"n": number})
    assert [own._get("bells")["n"] for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(Empty):
        own._get("bells")


def test_a_message_that_is_still_being_written_is_not_seen(tmp_path: Path) -> None:
    own = channel(tmp_path)
    own._put("bells", {"n": 1})
    (tmp_path / "bells" / f".{time.time_ns():020d}-half").write_bytes(b'{"n":')
    assert own._size("bells") == 1
    assert own._get("bells") == {"n": 1}
    with pytest.raises(Empty):
        own._get("bells")


def test_a_damaged_message_is_passed_over(tmp_path: Path) -> None:
    own = channel(tmp_path)
    own._put("bells", {"n": 1})
    (tmp_path / "bells" / "0-damaged").write_bytes(b'{"n":')
    assert own._get("bells") == {"n": 1}


def test_a_queue_that_was_never_written_is_empty(tmp_path: Path) -> None:
    own = channel(tmp_path)
    assert own._size("nothing") == 0
    assert own._purge("nothing") == 0
    with pytest.raises(Empty):
        own._get("nothing")


def test_purging_takes_all(tmp_path: Path) -> None:
    own = channel(tmp_path)
    for number in range(3):
        own._put("bells", {"n": number})
    assert own._purge("bells") == 3
    assert own._size("bells") == 0


def test_a_queues_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    channel(folder)._put("../../out/side", {"n": 1})
    assert list(tmp_path.iterdir()) == [folder]
    assert [each.name for each in folder.iterdir()] == ["..%2F..%2Fout%2Fside"]


def test_only_the_hubs_own_account_may_read_the_queue(tmp_path: Path) -> None:
    channel(tmp_path)._put("bells", {"n": 1})
    assert (tmp_path / "bells").stat().st_mode & 0o077 == 0
