"""Clients: each repeats a call under one key until it is answered, and remembers what it heard."""

import http.client
import itertools
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

TOOLS = {
    "world_pure": 3,
    "world_quick": 3,
    "world_once": 2,
    "world_again": 2,
    "world_think": 2,
    "world_flaky": 2,
    "world_asked": 1,
    "world_effect": 2,
    "prime_factors": 2,
}
SANDBOXED = "prime_factors"
AT_ONCE = ("world_pure", "world_quick")
# Seconds of work, each order of magnitude as often as any other.
SHORTEST_S, LONGEST_S = 0.02, 20.0
THINK_S = (0.05, 0.3)
# Of a hundred calls so many are sent again with their key, of those that wait so many are cancelled, so many
# have a callback, and of those with effects so many have one that fails.
AGAIN, CANCEL, CALLBACK, FAIL = 10, 5, 20, 30
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

    def __init__(self, hub: Hub, seed: int, count: int, callback_url: str) -> None:
        self.told: list[Told] = []
        self.answers: Counter[int] = Counter()
        self._hub, self._over, self._lock = hub, threading.Event(), threading.Lock()
        self._patience = math.inf
        self._callback_url = callback_url
        self._tools = {
            tool: share for tool, share in TOOLS.items() if tool != SANDBOXED or not hub.no_sandbox
        }
        self._threads = [
            threading.Thread(
                target=self._call_on, args=(Random(f"{seed}:client:{number}"), f"s{number}"), name="client"
            )
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

    def _call_on(self, random: Random, session: str) -> None:
        while not self._over.wait(random.uniform(*THINK_S)):
            tool = random.choices(list(self._tools), list(self._tools.values()))[0]
            told = Told(str(UUID(int=random.getrandbits(128))), tool)
            with self._lock:
                self.told.append(told)
            arguments = self._arguments(tool, random)
            body: dict[str, Any] = {"arguments": arguments, "context": {"session_id": session}}
            if random.randrange(100) < CALLBACK:
                body["callback_url"] = self._callback_url
            wait = f"wait={random.choice((0, 1, 5))}" if tool not in AT_ONCE else "wait=30"
            self._call(told, body, wait)
            if told.run and random.randrange(100) < AGAIN:
                self._call(told, body, wait)
            if told.run and told.end is None and random.randrange(100) < CANCEL:
                self._send("POST", f"/api/v1/runs/{told.run}/cancel", {}, {})

    def _arguments(self, tool: str, random: Random) -> dict[str, Any]:
        if tool == SANDBOXED:
            return {"number": random.randrange(2, 10_000)}
        arguments: dict[str, Any] = {"file": str(self._hub.world)}
        if tool not in AT_ONCE:
            arguments["seconds"] = round(SHORTEST_S * (LONGEST_S / SHORTEST_S) ** random.random(), 3)
        if tool == "world_effect":
            arguments["fail"] = random.randrange(100) < FAIL
        return arguments

    def _call(self, told: Told, sent: dict[str, Any], wait: str) -> None:
        headers = {"Idempotency-Key": told.key, "Prefer": wait}
        while True:
            status, body = self._send("POST", f"/api/v1/tools/{told.tool}/execute", sent, headers)
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

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and body; status 0 where no whole answer came."""
        status, content = send(self._hub, self._hub.token, method, path, body, headers)
        with self._lock:
            self.answers[status] += 1
        return status, content


class Approver:
    """A thread that approves every call that waits for a person."""

    def __init__(self, hub: Hub) -> None:
        self._hub, self._over = hub, threading.Event()
        self._thread = threading.Thread(target=self._approve_on, name="approver")
        self._thread.start()

    def end(self) -> None:
        """No more approvals."""
        self._over.set()
        self._thread.join()

    def _approve_on(self) -> None:
        while not self._over.wait(0.5):
            status, content = send(self._hub, self._hub.approver, "GET", "/api/v1/approvals", None, {})
            waiting = json.loads(content)["approvals"] if status == 200 else []
            for one in waiting:
                send(self._hub, self._hub.approver, "POST", f"/api/v1/approvals/{one['id']}/approve", {}, {})


def send(
    hub: Hub, token: str, method: str, path: str, body: Any, headers: dict[str, str]
) -> tuple[int, bytes]:
    """Status and body of a request to one of the hub's web processes; status 0 where no whole answer came."""
    port = hub.ports[next(_TURNS) % len(hub.ports)]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
    sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


_TURNS = itertools.count()
