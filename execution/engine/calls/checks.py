"""Everything that comes before a run, and nothing else: found, allowed, arguments, bounds.

The execute path, `validate` and the simulator all ask here.
"""

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import ToolHubError
from core.json.canonical import CanonicalError, canonical
from execution.engine.calls.dynamic_schemas import problems_by, schema_kept
from execution.engine.calls.next_call import next_call_add, next_call_of_name
from execution.engine.calls.sanitise import cleaned_words, sanitised
from execution.engine.features import CALLBACK, LIFE, NONE
from execution.engine.requests import Bounds, CallRequest, bounds_of
from registry.config.selectors import settings_check
from registry.models import ToolVersion
from registry.rules.judge import Rule, rule_values, rules_broken, rules_of
from registry.schemas import input_validator, problems_of, problems_of_part, size_problems_of
from registry.selectors import ResolvedTool, call_decide, tool_missing, tool_resolve
from security.decisions import Check, Decision
from security.facts import LimitFact
from security.principals import PersonaPrincipal

KEY_MAX = 255
_BROUGHT = frozenset({CALLBACK})
Refuse = Callable[[str, ToolHubError, dict[str, Any]], None]


@dataclass(frozen=True)
class Checked:
    """A call that would be accepted now. `arguments` is their canonical form."""

    found: ResolvedTool
    decision: Decision
    bounds: Bounds
    arguments: bytes
    # As it was made, with sanitised arguments where the tool wants that.
    request: CallRequest

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.decision.warnings, *self.bounds.warnings, *cleaned_words(self.request))


def unrecorded(tool: str, error: ToolHubError, why: dict[str, Any]) -> None:
    """What a refusal leaves behind when a call was only looked at: nothing."""


def call_check(
    principal: PersonaPrincipal,
    name: str,
    request: CallRequest,
    *,
    found: ResolvedTool | None = None,
    refuse: Refuse = unrecorded,
    open_arguments: Collection[str] = (),
) -> Checked:
    """Everything that comes before a run, and nothing else: found, allowed, arguments, bounds.

    `open_arguments` names arguments whose values are not known yet. `refuse` hears of each refusal
    with what the ledger is to say of it. Raises NotFound (404) and ToolHubError (403, 422).
    """
    # Where some are not known yet, conditions are judged when they are.
    if found is None or request.version:
        found = _resolve(principal, name, request, refuse)
    request, problems = arguments_judged(found, request, open_arguments)
    known = None if open_arguments or request.hook else request.arguments
    # A call that is denied and does not fit is denied: the schema is for callers that may call.
    decision = _decide(principal, found, known, request, refuse, fits=not problems)
    version = found.version
    try:
        if problems:
            raise _unfit(version, problems)
        if not (open_arguments or request.hook):
            _values_check(found, principal, request)
        bounds = bounds_of(version, request, principal.standing)
        settings_check(version)
        for look in LIFE.acting("before_accept", _BROUGHT if request.callback_url is not None else NONE):
            look(principal, found, request)
        encoded = canonical(request.arguments)
        canonical(request.recorded())
    except CanonicalError as error:
        raise ToolHubError(f"The request is not exact JSON: {error}", code="INVALID_REQUEST") from error
    except ToolHubError as error:
        if error.code == "INVALID_ARGUMENTS" and not open_arguments:
            rules = functools.partial(_rules_hold, found, principal, request)
            next_call_add(error, found, request.arguments, context=request.context, fits=rules)
        refuse(found.name, error, {"errors": [e["pointer"] for e in error.errors]})
        raise
    return Checked(found, decision, bounds, encoded, request)


def call_allow(principal: PersonaPrincipal, found: ResolvedTool, request: CallRequest) -> Decision:
    """The decision that allows a call, its arguments not known yet. Raises ToolHubError (403) with it."""
    return _decide(principal, found, None, request, unrecorded)


def key_check(key: str | None) -> None:
    """Raises ToolHubError (422) for an Idempotency-Key that is empty or too long."""
    if key is not None and not 1 <= len(key) <= KEY_MAX:
        message = f"Idempotency-Key: expected 1 to {KEY_MAX} characters; got {len(key)}."
        errors = [{"pointer": "/Idempotency-Key", "message": message}]
        raise ToolHubError(message, code="INVALID_REQUEST", errors=errors)


def _resolve(principal: PersonaPrincipal, name: str, request: CallRequest, refuse: Refuse) -> ResolvedTool:
    try:
        return tool_resolve(name, principal.persona_id, request.version)
    except ToolHubError as error:
        refuse(name, error, {"reason": error.message})
        meant = error.data.get("near", [name.partition("@")[0]])
        if meant:
            next_call_of_name(error, meant[0], principal.persona_id, request)
        raise


def _decide(
    principal: PersonaPrincipal,
    found: ResolvedTool,
    arguments: Mapping[str, Any] | None,
    request: CallRequest,
    refuse: Refuse,
    *,
    fits: bool = True,
) -> Decision:
    """The decision on a call that is allowed; raises for one that is not."""
    decision = call_decide(principal, found, arguments=arguments, session=request.session, fits=fits)
    failed = decision.failure
    if failed is None:
        return decision
    error: ToolHubError = denied(failed, decision)
    if found.assigned_by is None:  # whatever else is wrong, too: the caller hears of a missing tool only
        error = tool_missing(found.name, principal.persona_id)
    refuse(found.name, error, _explained(decision))
    if error.code == "VERSION_YANKED":
        next_call_of_name(error, found.name, principal.persona_id, request)
    raise error


def _explained(decision: Decision) -> dict[str, Any]:
    explained: dict[str, Any] = {"decision": decision.as_dict()}
    if decision.violations:
        explained["violations"] = [one.as_dict() for one in decision.violations]
    return explained


def denied(failed: Check, decision: Decision) -> ToolHubError:
    """What the caller hears of a decision that a check denies: the whole of it, and what would help."""
    pointed = decision.violations if failed.code == "SECURITY_VIOLATION" else ()
    return ToolHubError(
        failed.reason,
        code=failed.code,
        suggestions=[f"{failed.remedy} ({failed.who} can.)"] if failed.remedy else [],
        data=_explained(decision),
        errors=[{"pointer": f"/arguments{one.pointer}", "message": one.description} for one in pointed],
        retry_after=failed.retry_after,
    )


def limit_denied(
    principal: PersonaPrincipal, found: ResolvedTool, request: CallRequest, told: tuple[LimitFact, ...]
) -> ToolHubError:
    """What the caller hears when limits are used up, which only counting could tell."""
    policy = dataclasses.replace(found.policy, limits=told)
    decision = call_decide(
        principal,
        dataclasses.replace(found, policy=policy),
        arguments=request.arguments,
        session=request.session,
    )
    failed = decision.failure
    if failed:
        return denied(failed, decision)
    return ToolHubError("A limit is used up.", code="RATE_LIMIT", retry_after=1)


def arguments_judged(
    found: ResolvedTool, request: CallRequest, open_arguments: Collection[str] = ()
) -> tuple[CallRequest, list[dict[str, str]]]:
    """The request with sanitised arguments, where the tool wants that, and what does not fit its schema.

    The schema's sizes hold for the arguments as they were sent, too: what is too large is not sanitised.
    """
    if request.hook:
        return sanitised(found, request), []
    validator = input_validator(found.version.digest, found.version.definition)
    if found.sanitises and (problems := size_problems_of(validator, request.arguments)):
        return request, problems
    request = sanitised(found, request)
    if open_arguments:
        return request, problems_of_part(validator, request.arguments, open_arguments)
    return request, problems_of(validator, request.arguments)


def _unfit(version: ToolVersion, problems: Sequence[Mapping[str, str]]) -> ToolHubError:
    errors = [{"pointer": f"/arguments{p['pointer']}", "message": p["message"]} for p in problems]
    return ToolHubError(
        f"The arguments do not fit {version.tool.name}. {errors[0]['pointer']}: {errors[0]['message']}",
        code="INVALID_ARGUMENTS",
        errors=errors,
    )


def _values_check(found: ResolvedTool, principal: PersonaPrincipal, request: CallRequest) -> None:
    """What few tools have: a schema for the context, where it is known, and rules."""
    version = found.version
    if version.is_dynamic:
        # Where it is not known, the worker has the tool make it, and holds the arguments to it.
        kept = schema_kept(version, principal.persona_id, request.recorded())
        if kept and (problems := problems_by(kept, request.arguments)):
            raise ToolHubError(
                f"The arguments do not fit {version.tool.name} in this context: {problems[0]['message']}",
                code="INVALID_ARGUMENTS",
                errors=problems,
            )
    if rules := (*rules_of(version.definition), *found.rules):
        _rules_check(rules, principal, request)


def _rules_hold(
    found: ResolvedTool, principal: PersonaPrincipal, request: CallRequest, arguments: dict[str, Any]
) -> bool:
    """Whether other arguments for the same call keep the tool's rules."""
    try:
        _values_check(found, principal, dataclasses.replace(request, arguments=arguments))
    except ToolHubError:
        return False
    return True


def _rules_check(rules: Sequence[Rule], principal: PersonaPrincipal, request: CallRequest) -> None:
    who = principal.persona, principal.standing.tier
    values = rule_values(request.arguments, request.context, request.context_data, *who)
    broken = rules_broken(rules, values)
    if broken:
        expressions = [{"rule": number, "expression": rules[number]["expression"]} for number, _ in broken]
        raise ToolHubError(
            broken[0][1]["message"],
            code="INVALID_ARGUMENTS",
            errors=[error for _, error in broken],
            data={"rules": expressions},
        )
