"""The five types of preconditions, each with its check. No transaction may be open: some are CEL."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from core.cel import ConditionFailed, cel_holds, cel_names
from core.errors import ToolHubError
from execution.engine.changes import ABSENT
from execution.engine.selectors import first_id_at
from execution.features.preconditions.facts import HOLDS, Facts, Verdict
from execution.features.preconditions.registered import CHECKS
from execution.features.preconditions.resources import resource_look
from execution.memory.store import memory_find, same
from execution.models import Run, Status
from registry.config.selectors import settings_of
from registry.models import Tool, VersionState
from security.held import held

Declared = Mapping[str, Any]
_AVAILABLE = {VersionState.ACTIVE, VersionState.DEPRECATED}


def _resource(declared: Declared, facts: Facts) -> Verdict:
    """The named resource is up, or the package's setting or secret of that name is set."""
    name = declared["resource"]
    row = resource_look(name)
    if row is not None:
        return HOLDS if row.is_up else Verdict(False, f"{name} is down. {row.reason}".strip())
    if facts.version.takes_config:
        try:
            given = settings_of(facts.version)
        except ToolHubError as error:
            return Verdict(False, error.message, is_error=True)
        if given.values.get(name) is not None or name in given.secrets:
            return HOLDS
    return Verdict(False, f"There is no resource and no setting {name}. An admin can add it.")


def _state(declared: Declared, facts: Facts) -> Verdict:
    """The session's memory has the value that is expected."""
    key = declared["state"]
    value = memory_find(facts.place, key)
    if value is ABSENT:
        return Verdict(False, f"The session remembers nothing under {key}.")
    if "expression" in declared:
        return _condition(declared["expression"], {**facts.scope, "value": value})
    if same(value, declared["expectedValue"]):
        return HOLDS
    return Verdict(False, f"What the session remembers under {key} is not what is expected.")


def _permission(declared: Declared, facts: Facts) -> Verdict:
    """The persona holds the capability, by a grant whose conditions this call's arguments meet."""
    needed = declared["permission"]
    if facts.principal is None:
        return Verdict(False, "Nobody answers for this call.")
    who = facts.principal
    found = held(needed, who.grants, persona=who.persona, now=timezone.now(), arguments=facts.arguments)
    if found.by is not None:
        return HOLDS
    return Verdict(False, f"{who.persona} may not: {needed} {found.why}. An admin can grant it.")


def _dependency(declared: Declared, facts: Facts) -> Verdict:
    """The other tool succeeded in this session, or can be called."""
    name = declared["tool"]
    if declared["status"] == "completed":
        done = _completed(name, facts)
        return HOLDS if done else Verdict(False, f"{name} has not succeeded in this session.")
    tool = Tool.objects.select_related("active").filter(name=name).first()
    if tool is None or tool.active is None:
        return Verdict(False, f"There is no tool {name}.")
    if tool.active.state not in _AVAILABLE:
        state = VersionState(tool.active.state).label
        return Verdict(False, f"{name} {tool.active.version} is {state}. {tool.active.state_reason}".strip())
    return HOLDS


def _completed(name: str, facts: Facts) -> bool:
    session = facts.context.get("session_id", "")
    runs = Run.objects.filter(
        persona_id=facts.place.persona_id, session=session, tool=name, status=Status.COMPLETED
    )
    if not session:
        # The default session has no index of its own: what is older than a session is not looked for.
        runs = runs.filter(pk__gte=first_id_at(timezone.now() - timedelta(hours=settings.SESSION_HOURS)))
    return runs.exists()


def _custom(declared: Declared, facts: Facts) -> Verdict:
    """The expression is true, or the registered check says yes."""
    if "check" in declared:
        check = CHECKS.get(declared["check"])
        if check is None:
            reason = f"The hub has no check {declared['check']}; it has {', '.join(sorted(CHECKS))}."
            return Verdict(False, reason, is_error=True)
        return check(facts)
    return _condition(declared["expression"], facts.scope)


def _condition(expression: str, values: Mapping[str, Any]) -> Verdict:
    try:
        used = {name: value for name, value in values.items() if name in cel_names(expression)}
        return HOLDS if cel_holds(expression, used) else Verdict(False, f"It is not so that {expression}")
    except ConditionFailed as failure:
        return Verdict(False, f"The check failed: {failure}.", is_error=True)


KINDS: Mapping[str, Callable[[Declared, Facts], Verdict]] = {
    "resource": _resource,
    "state": _state,
    "permission": _permission,
    "dependency": _dependency,
    "custom": _custom,
}
