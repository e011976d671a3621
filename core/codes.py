"""The hub's error codes, read from codes.txt: a new code is a line there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

ErrorClass = Literal["execution", "validation", "timeout", "resource", "security", "network", "dependency"]
Severity = Literal["low", "medium", "high", "critical"]


@dataclass(frozen=True)
class Code:
    """One of the hub's codes: class, severity, HTTP status, what it means and what to do."""

    name: str
    type: ErrorClass
    severity: Severity
    status: int
    recoverable: bool
    meaning: str
    remedy: str


def _code(line: str) -> Code:
    facts, meaning, remedy = line.split(" | ")
    name, kind, severity, status, recoverable = facts.split()
    return Code(
        name,
        cast("ErrorClass", kind),
        cast("Severity", severity),
        int(status),
        {"yes": True, "no": False}[recoverable],
        meaning,
        remedy,
    )


_LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
CODES = {code.name: code for code in (_code(line) for line in _LINES if not line.startswith("#"))}
