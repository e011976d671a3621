"""The arms of the bench: kinds of calls, the arm that each is compared with, and the goals of that ratio."""

import itertools
import json
import random
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.calls import BARE, BODY, ECHO, FLOOR, IMPURE_ECHO, ISOLATED_ECHO, MCP
from bench.load import request_bytes

World = Mapping[str, Any]
"""What `bench_prepare` made: `tokens` by persona, and `many`, `{tokens, tools}`."""
Requests = Callable[[World], Iterator["Request"]]

ONE, CROWD = 1, 32
# Calls of a batch, and how many clients send them.
BATCH, SENDERS = 400, 16
# Names of an arm's company: what goes on meanwhile.
CHANGES, SANDBOXES = "changes", "sandboxes"
# Clients that call a sandboxed tool beside echo.
SANDBOX_CLIENTS = 4
# An agent thinks between two calls; the next program in a sandbox gets ready meanwhile.
PAUSE_S = 0.1
# So many personas, each with a token, that may call so many tools.
PERSONAS, TOOLS = 32, 8
REVISION = "2026-07-28"
SEED = 17


@dataclass(frozen=True)
class Request:
    """A POST of a body to a path, with a token and more headers."""

    path: str
    token: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def wire(self, port: int) -> bytes:
        """The whole HTTP request."""
        return request_bytes(port, self.path, self.body, self.token, self.headers)


@dataclass(frozen=True)
class Goal:
    """A bound for a figure at so many clients.

    It bounds the ratio to the other arm, or the figure itself where it `is_absolute` (ms). A rate must reach
    the bound, a latency must not exceed it.
    """

    figure: str
    bound: float
    clients: int = CROWD
    is_absolute: bool = False

    def is_met(self, found: float) -> bool:
        """Whether a figure, or a ratio, is within the bound."""
        return found >= self.bound if self.figure == "rate" else found <= self.bound


@dataclass(frozen=True)
class Arm:
    """A kind of call. `against` names the arm that it is compared with; empty for none.

    `is_batch` arms send BATCH calls that workers carry out, and are measured until the last outcome; the
    others are called for a time by each number of `clients`. `is_hubs` says that the hub carries the calls
    out and records a run of each.
    """

    title: str
    requests: Requests | None
    against: str = ""
    goals: tuple[Goal, ...] = ()
    clients: tuple[int, ...] = (ONE, CROWD)
    company: str = ""
    pause_s: float = 0.0
    # So many calls, not those of a time, until the hub has seen what they ask for.
    warm_up: int | None = None
    is_batch: bool = False
    is_hubs: bool = True
    needs_sandbox: bool = False

    def wires(self, world: World, port: int) -> Iterator[bytes]:
        """The arm's requests, without end."""
        assert self.requests
        return (request.wire(port) for request in self.requests(world))


def _same(path: str, **headers: str) -> Requests:
    """Always the same request of the persona `bench`."""
    return lambda world: itertools.repeat(
        Request(path, world["tokens"]["bench"], json.dumps(BODY).encode(), headers)
    )


def _limited(path: str) -> Requests:
    return lambda world: itertools.repeat(
        Request(path, world["tokens"]["limited"], json.dumps(BODY).encode())
    )


def _mcp(world: World) -> Iterator[Request]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }
    headers = {"MCP-Protocol-Version": REVISION, "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
    for number in itertools.count():
        params = {"name": "echo", **BODY, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        yield Request(MCP, world["tokens"]["bench"], json.dumps(message).encode(), headers)


def _keyed(world: World) -> Iterator[Request]:
    body, series = json.dumps(BODY).encode(), secrets.token_hex(8)
    for number in itertools.count():
        yield Request(ECHO, world["tokens"]["bench"], body, {"Idempotency-Key": f"{series}-{number}"})


def _many(world: World) -> Iterator[Request]:
    """Each pair of a token and a tool, in an order that is the same each time."""
    body = json.dumps(BODY).encode()
    pairs = list(itertools.product(world["many"]["tokens"], world["many"]["tools"]))
    random.Random(SEED).shuffle(pairs)
    requests = [Request(f"/api/v1/tools/{tool}/execute", token, body) for token, tool in pairs]
    return itertools.cycle(requests)


def _sessions(world: World) -> Iterator[Request]:
    """Calls for the workers, each in a session of its own."""
    series = secrets.token_hex(8)
    for number in itertools.count():
        body = {**BODY, "context": {"session_id": f"{series}-{number}"}}
        headers = {"Prefer": "respond-async"}
        yield Request(ECHO, world["tokens"]["bench"], json.dumps(body).encode(), headers)


ARMS: dict[str, Arm] = {
    "floor": Arm("the same by DRF behind startproject's middleware", _same(FLOOR), is_hubs=False),
    "bare": Arm("the same by DRF without any middleware", _same(BARE), "floor", is_hubs=False),
    "echo": Arm("REST execute", _same(ECHO), "floor", (Goal("rate", 2.0), Goal("p50_ms", 0.6, ONE))),
    "impure": Arm("a tool with effects", _same(IMPURE_ECHO), "floor", (Goal("rate", 1.1),)),
    "mcp": Arm("MCP tools/call", _mcp, "echo", (Goal("rate", 0.8),)),
    "keyed": Arm("with an Idempotency-Key", _keyed, "echo", (Goal("rate", 0.7),)),
    "limited": Arm("with a rate limit and quotas", _limited(ECHO), "echo", (Goal("rate", 0.7),)),
    "limited_impure": Arm(
        "a tool with effects, with limits", _limited(IMPURE_ECHO), "impure", (Goal("rate", 0.9),)
    ),
    "many": Arm(f"of {PERSONAS} tokens, each to {TOOLS} tools", _many, "echo", warm_up=2 * PERSONAS * TOOLS),
    "changes": Arm(
        "while rights of another persona change", _same(ECHO), "echo", (Goal("rate", 0.9),), company=CHANGES
    ),
    "isolated": Arm(
        "a call of Python code in a warm sandbox, from end to end",
        _same(ISOLATED_ECHO),
        goals=(Goal("p50_ms", 10.0, ONE, is_absolute=True),),
        clients=(ONE,),
        pause_s=PAUSE_S,
        needs_sandbox=True,
    ),
    "beside": Arm(
        f"REST execute beside {SANDBOX_CLIENTS} clients that call a sandboxed tool",
        _same(ECHO),
        "echo",
        company=SANDBOXES,
        needs_sandbox=True,
    ),
    "celery": Arm("tasks of raw Celery", None, clients=(SENDERS,), is_batch=True, is_hubs=False),
    "queued": Arm(
        "accepted, carried out by a worker and recorded",
        _same(ECHO, Prefer="respond-async"),
        "celery",
        (Goal("rate", 0.5, SENDERS),),
        clients=(SENDERS,),
        is_batch=True,
    ),
    "sessions": Arm(
        "the same, each in a session of its own: without the default session's lock",
        _sessions,
        "queued",
        clients=(SENDERS,),
        is_batch=True,
    ),
}


def chosen(names: Collection[str]) -> dict[str, Arm]:
    """The named arms and those that they are compared with, in the table's order. Raises ValueError."""
    unknown = [name for name in names if name not in ARMS]
    if unknown:
        raise ValueError(f"There is no arm {', '.join(unknown)}. The arms are {', '.join(ARMS)}.")
    wanted = {*names, *(ARMS[name].against for name in names)}
    return {name: arm for name, arm in ARMS.items() if name in wanted}
