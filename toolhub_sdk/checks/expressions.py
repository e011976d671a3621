"""Where a contract has expressions in CEL, and what each of them may name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolhub_sdk.checks.graph import Path

RETRY = ("error", "attempt")
RULE = ("arguments", "context", "context_data", "persona")
STATE = ("value",)
CUSTOM = ("arguments", "context", "now")
EFFECT = ("arguments", "result", "error", "current", "context", "now")


@dataclass(frozen=True)
class Expression:
    """An expression at a path of the contract, and the names that it may use."""

    path: Path
    text: str
    names: tuple[str, ...]


def expressions_of(contract: Mapping[str, Any]) -> Iterator[Expression]:
    """All expressions of a contract whose form is right."""
    for index, one in enumerate(contract.get("validators", [])):
        yield Expression(("validators", index, "expression"), one["expression"], RULE)
    retry = contract.get("retry")
    if isinstance(retry, Mapping) and "retryIf" in retry:
        yield Expression(("retry", "retryIf"), retry["retryIf"], RETRY)
    for index, one in enumerate(contract.get("preconditions", [])):
        if "expression" in one:
            names = STATE if one["type"] == "state" else CUSTOM
            yield Expression(("preconditions", index, "expression"), one["expression"], names)
    for index, one in enumerate(contract.get("effects", [])):
        for path, text in _of_effect(one):
            yield Expression(("effects", index, *path), text, EFFECT)


def _of_effect(effect: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for name in ("expression", "condition"):
        if name in effect:
            yield (name,), effect[name]
    for name, text in effect.get("arguments", {}).items():
        yield ("arguments", name), text
    for name, text in effect.get("rollback", {}).get("arguments", {}).items():
        yield ("rollback", "arguments", name), text
