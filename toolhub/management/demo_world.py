"""A demo world as values: who there is, what they may do, and what they call; the same every time."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Given:
    """A grant: capability, reason, and the days until it ends (None: it does not)."""

    capability: str
    reason: str
    days: float | None = None


@dataclass(frozen=True)
class Cast:
    """A persona with its packages and single tools, its grants, its tokens (name → days) and its calls.

    `calls` of them become runs; `refused` are asked and not accepted. One that is not `active` is
    switched off after its calls.
    """

    name: str
    title: str
    description: str
    packages: tuple[str, ...]
    tools: tuple[str, ...]
    grants: tuple[Given, ...]
    tokens: dict[str, int]
    calls: int
    refused: tuple["Planned", ...] = ()
    active: bool = True


@dataclass(frozen=True)
class Planned:
    """One call. `detached` asks for 202 and leaves it to a worker."""

    tool: str
    arguments: Arguments
    detached: bool = False
    context: dict[str, str] = field(default_factory=dict)


DATA, CALCULATION, SYSTEM = "toolhub-data", "toolhub-calculation", "toolhub-system"
# Every so many calls of a persona one goes over a worker.
DETACHED_EVERY = 9

WORLD = (
    Cast(
        "support-agent",
        "Support agent",
        "Answers tickets: checks order codes, times and attachments.",
        (DATA, SYSTEM),
        (),
        (
            Given("memory.read", "Looks up earlier tickets of the same customer."),
            Given("network:api.example", "Reads the status page of the shop.", 90),
        ),
        {"ticket queue": 90, "evening shift": 30},
        90,
        (
            Planned("calculate", {"operation": "add", "num1": 1, "num2": 1}),
            Planned("echo", {"txt": "a misspelt parameter"}),
            Planned("send_mail", {"to": "shop@example.org"}),
        ),
    ),
    Cast(
        "data-analyst",
        "Data analyst",
        "Turns exports into figures for the weekly report.",
        (DATA, CALCULATION),
        (),
        (
            Given("file.read", "Reads the exports of the warehouse."),
            Given("data", "Works with every tool that only turns data into data."),
            Given("database:reports", "Quarter-end report; ends with it.", 2),
        ),
        {"notebook": 60},
        120,
        (
            Planned("current_time", {}),
            Planned("calculate", {"operation": "power", "num1": 2, "num2": 8}),
            Planned("calculate", {"operation": "divide", "num1": "one", "num2": 8}),
        ),
    ),
    Cast(
        "release-bot",
        "Release bot",
        "Hashes what is built and notes when it was released.",
        (SYSTEM,),
        ("hash", "json_parse"),
        (
            Given("file.read", "Reads build results."),
            Given("network:registry.example:*", "Uploads releases, every host of the registry.", 180),
        ),
        {"pipeline": 180},
        60,
        (Planned("echo", {"text": "not assigned"}),),
    ),
    Cast(
        "night-watch",
        "Night watch",
        "Looks every now and then whether all is well.",
        (SYSTEM,),
        ("calculate",),
        (Given("monitor.read", "Reads the figures that it watches."),),
        {"scheduler": 30},
        25,
    ),
    Cast(
        "newcomer",
        "Newcomer",
        "Just made: sees one tool and has not called it yet.",
        (),
        ("echo",),
        (),
        {},
        0,
    ),
    Cast(
        "old-crawler",
        "Old crawler",
        "Replaced by the data analyst; switched off, kept for its record.",
        (DATA,),
        (),
        (Given("network", "Fetched pages; to be taken back when the persona goes.", 7),),
        {"crawler": 14},
        12,
        (Planned("echo", {"text": "am I still here?"}), Planned("hash", {"text": "page"})),
        active=False,
    ),
)


def calls_of(cast: Cast, tools: list[str]) -> list[Planned]:
    """The persona's calls that become runs, of the given tools: always the same ones."""
    chance = random.Random(cast.name)  # noqa: S311  (a demo, no secret)
    makers = [MAKERS[name] for name in tools if name in MAKERS]
    return [_planned(cast, chance.choice(makers)(chance), number) for number in range(cast.calls)]


def _planned(cast: Cast, call: tuple[str, Arguments], number: int) -> Planned:
    context = {"agent_id": cast.name, "session_id": f"{cast.name}-{number // 12 + 1}"}
    return Planned(*call, detached=number % DETACHED_EVERY == DETACHED_EVERY - 1, context=context)


def _echo(chance: random.Random) -> tuple[str, Arguments]:
    order = f"order {chance.randrange(10_000, 99_999)}"
    return "echo", {
        "text": chance.choice(("Where is {}?", "Thank you for {}.", "Grüße wegen {} 🙂")).format(order)
    }


def _hash(chance: random.Random) -> tuple[str, Arguments]:
    arguments: Arguments = {
        "text": f"build {chance.randrange(100, 999)}",
        "algorithm": chance.choice(("blake3", "sha256")),
    }
    if chance.random() < 0.1:
        arguments["base64"] = "YWJj"  # both at once: the tool refuses it, and the run fails
    return "hash", arguments


def _json_parse(chance: random.Random) -> tuple[str, Arguments]:
    good = f'{{"id": {chance.randrange(1000)}, "open": true, "tags": ["a", "b"]}}'
    return "json_parse", {"text": good if chance.random() < 0.85 else good[:-1]}


def _calculate(chance: random.Random) -> tuple[str, Arguments]:
    operation = chance.choice(("add", "subtract", "multiply", "divide", "divide"))
    return "calculate", {
        "operation": operation,
        "num1": chance.randrange(-500, 500),
        "num2": chance.choice((0, 2, 3, 8, 12.5, 40)),
    }


def _current_time(chance: random.Random) -> tuple[str, Arguments]:
    zones = ("UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York", "Berlin")
    return "current_time", {"timezone": chance.choice(zones)}


MAKERS = {
    "echo": _echo,
    "hash": _hash,
    "json_parse": _json_parse,
    "calculate": _calculate,
    "current_time": _current_time,
}


def runs_planned() -> int:
    """How many runs the whole world has."""
    return sum(cast.calls for cast in WORLD)


def names() -> Iterator[str]:
    """The personas' names."""
    return (cast.name for cast in WORLD)
