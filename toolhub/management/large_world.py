"""A large world as rows: packages, tools, personas, runs with their two events; the same every time."""

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from audit.ledger import commitment, leaf_hash
from core.json.canonical import canonical
from execution.event_kinds import RUN_ACCEPTED, RUN_OUTCOME
from registry.contracts import CATEGORIES
from toolhub.management.copying import Value, json_text

Row = dict[str, Value]
SUBJECTS = (
    "weather",
    "invoice",
    "ticket",
    "calendar",
    "repository",
    "customer",
    "report",
    "image",
    "order",
    "page",
)
VERBS = ("read", "list", "search", "create", "update", "convert", "check", "send", "count", "export")
TOOLS_PER_PACKAGE = 100
DAYS = 30
STATUSES = ("completed",) * 184 + ("failed",) * 11 + ("timeout",) * 3 + ("cancelled",) * 2
UNKNOWN_EVERY = 50_000
MANIFEST = json_text({"manifestVersion": "1", "note": "made by seed_large"})


@dataclass(frozen=True)
class Size:
    """How much there is of each. Ids begin behind `after`, where the database has rows already."""

    tools: int
    runs: int
    personas: int
    after: dict[str, int]
    person_id: int
    person: str

    @property
    def packages(self) -> int:
        return -(-self.tools // TOOLS_PER_PACKAGE)


def tool_name(number: int) -> str:
    """The name of a tool by its number."""
    verb, subject = VERBS[number % 10], SUBJECTS[number // 10 % 10]
    return f"{verb}_{subject}_{number:06}"


def persona_name(number: int) -> str:
    return f"team-{SUBJECTS[number % 10]}-{number:04}"


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def packages(size: Size) -> Iterator[Row]:
    for number in range(1, size.packages + 1):
        own = size.after["package"] + number
        name = f"{SUBJECTS[number % 10]}-kit-{number:04}"
        active = size.after["release"] + number
        yield {"id": own, "name": name, "title": name.replace("-", " ").title(), "active_id": active}


def releases(size: Size) -> Iterator[Row]:
    for number in range(1, size.packages + 1):
        own, package = size.after["release"] + number, size.after["package"] + number
        yield {"id": own, "package_id": package, "digest": _hex(f"release {number}")}


def tools(size: Size) -> Iterator[Row]:
    for number in range(1, size.tools + 1):
        yield {
            "id": size.after["tool"] + number,
            "name": tool_name(number),
            "package_id": size.after["package"] + 1 + (number - 1) // TOOLS_PER_PACKAGE,
            "active_id": size.after["version"] + number,
            "category": CATEGORIES[number % len(CATEGORIES)],
        }


def versions(size: Size) -> Iterator[Row]:
    for number in range(1, size.tools + 1):
        yield {
            "id": size.after["version"] + number,
            "tool_id": size.after["tool"] + number,
            "release_id": size.after["release"] + 1 + (number - 1) // TOOLS_PER_PACKAGE,
            "digest": _hex(f"version {number}"),
            "definition": json_text(definition(number)),
        }


def definition(number: int) -> dict[str, object]:
    """A tool's definition as a package of the usual kind has it."""
    verb, subject = VERBS[number % 10], SUBJECTS[number // 10 % 10]
    text = {"type": "string", "description": f"Which {subject} is meant.", "maxLength": 200}
    limit = {
        "type": "integer",
        "minimum": 1,
        "maximum": 100,
        "default": 10,
        "description": "At most so many.",
    }
    return {
        "name": tool_name(number),
        "title": f"{verb.title()} {subject}",
        "description": f"{verb.title()}s a {subject} and says what it found. Made for measuring pages.",
        "inputSchema": {
            "type": "object",
            "properties": {"query": text, "limit": limit},
            "required": ["query"],
        },
    }


def personas(size: Size) -> Iterator[Row]:
    for number in range(1, size.personas + 1):
        name = persona_name(number)
        yield {"id": size.after["persona"] + number, "name": name, "title": name.replace("-", " ").title()}


def assignments(size: Size) -> Iterator[Row]:
    """Ten packages for each persona, where there are so many."""
    each = min(10, size.packages)
    for number in range(size.personas * each):
        persona, turn = divmod(number, each)
        yield {
            "id": size.after["assignment"] + 1 + number,
            "persona_id": size.after["persona"] + 1 + persona,
            "package_id": size.after["package"] + 1 + (persona * 7 + turn) % size.packages,
        }


def runs(size: Size, now: datetime) -> Iterator[Row]:
    """Runs over the last 30 days, oldest first."""
    return (row for row, _ in _made(size, now))


def events(size: Size, now: datetime) -> Iterator[Row]:
    """The events of each run, in the order of the runs: two, or one where nobody knows the outcome."""
    number = size.after["event"]
    for _, rows in _made(size, now):
        for row in rows:
            number += 1
            yield {"id": number, **row}


def _made(size: Size, now: datetime) -> Iterator[tuple[Row, list[Row]]]:
    chance = random.Random(20300131)  # noqa: S311 - the same world each time
    step = timedelta(days=DAYS) / max(1, size.runs)
    begin = now - timedelta(days=DAYS)
    for number in range(size.runs):
        yield _run(size, number, begin + step * number, chance)


def _run(size: Size, number: int, at: datetime, chance: random.Random) -> tuple[Row, list[Row]]:
    # A few tools are called much, most of them little.
    tool = min(size.tools, 1 + int(size.tools * chance.random() ** 3))
    persona = 1 + chance.randrange(size.personas)
    status = "outcome_unknown" if number % UNKNOWN_EVERY == 7 else chance.choice(STATUSES)
    took = round(chance.lognormvariate(3, 1.2), 3)
    key = UUID(int=(int(at.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | chance.getrandbits(60))
    salt, digest = key.bytes, hashlib.sha256(key.bytes).digest()
    name, done = tool_name(tool), status != "outcome_unknown"
    caller = ("persona", str(size.after["persona"] + persona), persona_name(persona))
    sealed = commitment(salt, digest)
    accepted = {"tool": name, "version": "1.0.0", "arguments": sealed, "responsible": size.person}
    outcome = {"tool": name, "version": "1.0.0", "status": status, "attempts": 1, "duration_ms": took}
    rows = [_event(RUN_ACCEPTED.name, caller, name, key, at, accepted)]
    if done:
        rows.append(_event(RUN_OUTCOME.name, ("system", "", "hub"), name, key, at, outcome))
    moment = at.isoformat()
    ended = (at + timedelta(milliseconds=took)).isoformat() if done else None
    row: Row = {
        "id": str(key),
        "persona_id": size.after["persona"] + persona,
        "tool_version_id": size.after["version"] + tool,
        "tool": name,
        "status": status,
        "arguments_hash": digest,
        "salt": salt,
        "created_at": moment,
        "due_at": moment,
        "started_at": moment,
        "completed_at": ended,
        "duration_ms": took if done else None,
        "result": json_text({"found": number % 100}) if status == "completed" else None,
        "result_hash": digest if status == "completed" else None,
        "error": ERRORS.get(status),
        "outcome_leaf": rows[-1]["leaf"] if done else None,
    }
    return row, rows


def _error(code: str, message: str) -> str:
    body = {"code": code, "type": "execution", "severity": "medium", "message": message, "recoverable": True}
    return json_text({**body, "retryable": False, "suggestions": ["Look at the run."], "details": {}})


ERRORS = {
    "failed": _error("EXECUTION_FAILED", "The tool failed."),
    "timeout": _error("TIMEOUT", "The tool took too long."),
    "cancelled": _error("CANCELLED", "Cancelled."),
}


def _event(
    kind: str, actor: tuple[str, str, str], tool: str, key: UUID, at: datetime, data: Mapping[str, object]
) -> Row:
    moment = at.isoformat(timespec="microseconds")
    body = {
        "at": moment,
        "kind": kind,
        "actor": {"kind": actor[0], "id": actor[1], "name": actor[2]},
        "subject": {"kind": "tool", "id": tool},
        "data": data,
        "run": str(key),
    }
    encoded = canonical(body)
    return {
        "at": moment,
        "kind": kind,
        "actor_kind": actor[0],
        "actor_id": actor[1],
        "actor_name": actor[2],
        "subject_id": tool,
        "run_id": str(key),
        "canonical": encoded.decode(),
        "leaf": leaf_hash(encoded),
    }
