"""The rules for a tool's calls beyond their schema: CEL, judged at the accept.

A rule of the contract sees what all expressions see (registry/expressions.py), one that people added the
persona's `tier`, too. One that cannot be judged is not kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from core.cel import ConditionFailed, cel_holds
from registry.expressions import call_scope
from toolhub_sdk.package import CONTRACT

Rule = Mapping[str, Any]


def rules_of(definition: Mapping[str, Any]) -> Sequence[Rule]:
    """The rules of a tool's contract; most have none."""
    found: Sequence[Rule] = definition.get("_meta", {}).get(CONTRACT, {}).get("validators", ())
    return found


def rules_broken(rules: Sequence[Rule], values: Mapping[str, Any]) -> list[tuple[int, dict[str, str]]]:
    """The rules that do not hold, by number, each with `{pointer, message}` into the arguments."""
    broken = []
    for number, rule in enumerate(rules):
        message = str(rule["message"])
        try:
            if cel_holds(rule["expression"], values):
                continue
        except ConditionFailed as error:
            message = f"{message} (This rule could not be judged: {error}.)"
        broken.append((number, {"pointer": f"/arguments{rule.get('pointer', '')}", "message": message}))
    return broken


def rule_values(
    arguments: Mapping[str, Any],
    context: Mapping[str, Any],
    context_data: Mapping[str, Any],
    persona: str,
    tier: str = "",
) -> dict[str, Any]:
    """What rules are judged by: a call's scope, and the persona's tier."""
    recorded = {"context": context, "context_data": context_data}
    return {**call_scope(arguments, recorded, persona), "tier": tier}
