"""Parts of one contract that cannot both be true: the table of those that are refused.

Doubtful pairs are warnings (lint/contradictions.py): a deterministic tool may ask a server that always gives
the same answer, and an effect that counts may be meant to count once a call.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.problem import Contradiction, Problem
from toolhub_sdk.runtimes.registry import runtimes

# The last word of a capability that lets a call change something.
CHANGING = frozenset({"write", "delete"})
_IMPURE = 'Write "sideEffects": "impure", or leave it out.'


def _is_pure(contract: Mapping[str, Any]) -> bool:
    return contract.get("sideEffects") == "pure"


def _is_paranoid(contract: Mapping[str, Any]) -> bool:
    return contract.get("isolation") == "paranoid"


def _changes(capabilities: list[str]) -> bool:
    return any(each.lower().rpartition(":")[2] in CHANGING for each in capabilities)


_OF_ALL: tuple[Contradiction, ...] = (
    Contradiction(
        _is_pure,
        "filesystem/write",
        bool,
        "A pure tool changes nothing outside its result, and this one writes in folders that stay.",
        f"Leave the folders out. {_IMPURE}",
    ),
    Contradiction(
        _is_pure,
        "effects",
        bool,
        "A pure tool changes nothing outside its result, and this one has effects.",
        f"Leave the effects out. {_IMPURE}",
    ),
    Contradiction(
        _is_pure,
        "requiredCapabilities",
        _changes,
        "A pure tool changes nothing outside its result, and this one requires a right to write or delete.",
        f"Leave the capability out. {_IMPURE}",
    ),
    Contradiction(
        _is_paranoid,
        "network/allow",
        bool,
        "The isolation paranoid is a sandbox without network, and this tool reaches hosts.",
        'Leave the hosts out, or write "isolation": "strict".',
    ),
)


def contradictions() -> tuple[Contradiction, ...]:
    """The whole table: those of every contract, and those of members that only one runtime has."""
    return (*_OF_ALL, *(one for each in runtimes().values() for one in each.contradictions))


def contradiction_problems(contract: Mapping[str, Any], at: str) -> Iterator[Problem]:
    """Yield a problem for each contradiction in a contract whose form is right, at its JSON Pointer."""
    for one in contradictions():
        value: Any = contract
        for name in one.place.split("/"):
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None and one.said(contract) and one.breaks(value):
            yield Problem(f"{at}/{one.place}", one.why, one.remedy)
