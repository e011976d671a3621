"""Times decisions on values, as `python -m bench --only decision` prints them."""

import dataclasses
import json
import time
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand

from registry.content import content_fact, content_fields
from security.decisions import Decision, decide
from security.facts import CallFacts, FlagFact, GrantFact, LimitFact, Policy, RestrictionFact, Standing

A_ROUND = 500
_TEXT = {"type": "string"}
DEFINITION: dict[str, Any] = {
    "name": "report",
    "inputSchema": {
        "type": "object",
        "properties": {"path": _TEXT, "sql": _TEXT, "url": {**_TEXT, "format": "uri"}},
    },
}
ARGUMENTS = {
    "path": "/srv/reports/2026/november.csv",
    "sql": "SELECT region, sum(amount) FROM sales WHERE year = 2026 GROUP BY region ORDER BY 2 DESC",
    "url": "https://reports.example.org/november?format=csv",
}
IN_REPORTS = {"kind": "path", "argument": "/path", "values": ["/srv/reports"]}
IN_CEL = {"kind": "cel", "expression": 'arguments.path.startsWith("/srv/") && size(arguments.sql) < 500'}


class Command(BaseCommand):
    """`{case: {p50, p99}}` in microseconds, as JSON."""

    help = "Times decisions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How often."""
        parser.add_argument("--rounds", type=int, default=8)

    def handle(self, *_: object, rounds: int, **__: object) -> None:
        """Each case in turn, so that what else the machine does falls on all."""
        taken: dict[str, list[float]] = {name: [] for name in CASES}
        for number in range(rounds + 1):
            for name, (case, allowed) in CASES.items():
                times = [_timed(case, allowed=allowed) for _ in range(A_ROUND)]
                taken[name] += times if number else []  # the first warms up
        self.stdout.write(json.dumps({name: _told(sorted(times)) for name, times in taken.items()}))


def _timed(case: Callable[[], Decision], *, allowed: bool) -> float:
    begun = time.perf_counter()
    decision = case()
    took = time.perf_counter() - begun
    if decision.allowed is not allowed:
        raise AssertionError(decision.as_dict())
    return took * 1e6


def _told(times: list[float]) -> dict[str, float]:
    return {"p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100]}


def _facts(**more: Any) -> CallFacts:
    given: dict[str, Any] = {
        "now": datetime.now(UTC),
        "persona": "researcher",
        "persona_active": True,
        "token_state": "valid",
        "responsible_active": True,
        "tool": "report",
        "version": "1.0.0",
        "version_state": "active",
        "assigned_by": "by name",
        "required": (),
        "grants": (),
        "arguments": ARGUMENTS,
    }
    return CallFacts(**{**given, **more})


def _grants(count: int, condition: dict[str, Any]) -> tuple[GrantFact, ...]:
    ends = datetime.now(UTC) + timedelta(days=1)
    others = [GrantFact(f"service{number}:read", ends) for number in range(count - 2)]
    return (*others, GrantFact("file:read", None, (condition,)), GrantFact("db:read", ends))


def _policy(restrictions: int, limits: int) -> Policy:
    denied = [
        RestrictionFact(False, True, "", f"service{number}:write", "no", "admin", None)
        for number in range(restrictions)
    ]
    counted = [
        LimitFact(number, "quota", "calls", 1_000, 86_400, "of this persona", together=False, used=number)
        for number in range(limits)
    ]
    return Policy(restrictions=tuple(denied), flag=FlagFact("beta", "on"), limits=tuple(counted))


_NEEDS = ("file:read", "db:read")
_PLAIN = _facts()
_USUAL = _facts(required=_NEEDS, grants=_grants(20, IN_REPORTS), policy=_policy(5, 2))
_DENIED = dataclasses.replace(_USUAL, grants=_USUAL.grants[:-1])
_HEAVY = _facts(
    required=_NEEDS,
    grants=_grants(200, IN_CEL),
    policy=_policy(100, 20),
    standing=Standing("", "pro", ("beta",)),
)


def _heavy() -> Decision:
    fields = content_fields("0" * 64, DEFINITION)
    return decide(dataclasses.replace(_HEAVY, content=content_fact(fields, "block", ARGUMENTS)))


CASES: dict[str, tuple[Callable[[], Decision], bool]] = {
    "plain": (lambda: decide(_PLAIN), True),
    "usual": (lambda: decide(_USUAL), True),
    "denied": (lambda: decide(_DENIED), False),
    "heavy": (_heavy, True),
}
