"""Clients: each repeats a call under one key until it is answered, and remembers what it heard."""

import http.client
import json
import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

from chaos.hub import Hub

TOOLS = {"world_pure": 3, "world_quick": 3, "world_once": 2, "world_again": 2, "world_think": 2}
AT_ONCE = ("world_pure", "world_quick")
# Seconds of work, each order of magnitude as often as any other.
SHORTEST_S, LONGEST_S = 0.02, 20.0
THINK_S = (0.05, 0.3)
# Of a hundred calls so many are sent again with their key, and of those that wait so many are cancelled.
AGAIN, CANCEL = 10, 5
# Longer than any call asks to wait.
ANSWER_S = 45.0
FINAL = frozenset({"completed", "failed", "timeout", "cancelled"})


@dataclass
class Told:
    """A call, and what its client was told: the run, and how the run had ended then, if it had."""

    key: str
    tool: str
    run: str | None = None
    end: str | None = None
    wrong: list[str] = field(default_factory=list)


class Clients:
    """Threads of callers. `told` holds every call, `answers` counts HTTP statuses, 0 for none."""

    def __init__(self, hub: Hub, seed: int, count: int) -> None:
        self.told: list[Told] = []
        self.answers: Counter[int] = Counter()
        self._hub, self._over, self._lock = hub, threading.Event(), threading.Lock()
        self._patience = math.inf
        self._threads = [
            threading.Thread(target=self._call_on, args=(Random(f"{seed}:client:{number}"),), name="client")
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def end(self, patience_s: float) -> None:
        """No new calls; those that were made are repeated until they are answered, at most so long."""
        self._patience = time.monotonic() + patience_s
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _call_on(self, random: Random) -> None:
        while not self._over.wait(random.uniform(*THINK_S)):
            tool = random.choices(list(TOOLS), list(TOOLS.values()))[0]
            told = Told(str(UUID(int=random.getrandbits(128))), tool)
            with self._lock:
                self.told.append(told)
            arguments: dict[str, Any] = {"file": str(self._hub.world)}
            if tool not in AT_ONCE:
                arguments["seconds"] = round(SHORTEST_S * (LONGEST_S / SHORTEST_S) ** random.random(), 3)
            wait = f"wait={random.choice((0, 1, 5))}" if tool not in AT_ONCE else "wait=30"
            self._call(told, arguments, wait)
            if told.run and random.randrange(100) < AGAIN:
                self._call(told, arguments, wait)
            if told.run and told.end is None and random.randrange(100) < CANCEL:
                self._send("POST", f"/api/v1/runs/{told.run}/cancel", None, {})

    def _call(self, told: Told, arguments: dict[str, Any], wait: str) -> None:
        headers = {"Idempotency-Key": told.key, "Prefer": wait}
        while True:
            status, body = self._send("POST", f"/api/v1/tools/{told.tool}/execute", arguments, headers)
            if status in {200, 202}:
                self._hear(told, json.loads(body)["metadata"])
                return
            if status not in {0, 503}:
                told.wrong.append(f"was answered {status}: {body[:300]!r}")
                return
            if time.monotonic() > self._patience:
                return
            time.sleep(0.3)

    @staticmethod
    def _hear(told: Told, metadata: dict[str, Any]) -> None:
        run, status = metadata["run_id"], metadata["status"]
        if told.run not in {None, run}:
            told.wrong.append(f"was given two runs for one key, {told.run} and {run}")
        if told.end not in {None, status}:
            told.wrong.append(f"was told two outcomes, {told.end} and {status}")
        told.run = run
        if status in FINAL:
            told.end = status

    def _send(self, method: str, path: str, arguments: Any, headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and body; status 0 where no whole answer came."""
        connection = http.client.HTTPConnection("127.0.0.1", self._hub.port, timeout=ANSWER_S)
        sent = {"Authorization": f"Bearer {self._hub.token}", "Content-Type": "application/json", **headers}
        try:
            body = json.dumps({"arguments": arguments}) if arguments is not None else "{}"
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            status, content = answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            status, content = 0, b""
        finally:
            connection.close()
        with self._lock:
            self.answers[status] += 1
        return status, content
