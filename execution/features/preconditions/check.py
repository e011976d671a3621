"""Checks all preconditions of a tool, and says of each how it is."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import Error

from execution.engine.places import place_of
from execution.features.preconditions.facts import Facts, Verdict
from execution.features.preconditions.kinds import KINDS
from registry.expressions import call_scope
from registry.models import ToolVersion
from security.principals import PersonaPrincipal

log = logging.getLogger(__name__)
Answer = dict[str, Any]


def preconditions_check(
    version: ToolVersion,
    persona_id: int,
    principal: PersonaPrincipal | None,
    arguments: Mapping[str, Any],
    recorded: Mapping[str, Any],
) -> Answer:
    """`{passed, critical_failed, can_proceed, degraded_mode, results}`, in the contract's order.

    `recorded` is the request beside the arguments, as a run keeps it. A check that cannot be carried out
    counts as failed.
    """
    context = recorded.get("context", {})
    place = place_of(persona_id, recorded)
    scope = call_scope(arguments, recorded, principal.persona if principal else "")
    facts = Facts(version, principal, place, arguments, context, scope)
    results = [_result(declared, facts) for declared in version.declared.get("preconditions", [])]
    failed = [one for one in results if not one["passed"]]
    critical = any(one["critical"] for one in failed)
    return {
        "passed": not failed,
        "critical_failed": critical,
        "can_proceed": not critical,
        "degraded_mode": bool(failed) and not critical,
        "results": results,
    }


def failed_descriptions(answer: Mapping[str, Any] | None) -> Sequence[str]:
    """What should have held and did not, in the words of the contract."""
    results = answer["results"] if answer else ()
    return [one["description"] for one in results if not one["passed"]]


def _result(declared: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    try:
        verdict = KINDS[declared["type"]](declared, facts)
    except Error:
        raise  # the database is away: that says nothing of the precondition
    except Exception as error:
        log.exception("the precondition %r of %s failed", declared["description"], facts.version.tool.name)
        verdict = Verdict(False, f"The check failed with {type(error).__name__}.", is_error=True)
    return {
        "type": declared["type"],
        "description": declared["description"],
        "critical": is_critical(declared),
        "passed": verdict.holds,
        "reason": verdict.reason or None,
        "error": verdict.reason if verdict.is_error else None,
    }


def is_critical(declared: Mapping[str, Any]) -> bool:
    """Whether its failure stops the run: unless the contract says no, or only prefers the resource."""
    return bool(declared.get("critical", True)) and declared.get("availability") != "preferred"
