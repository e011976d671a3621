"""The simulator: would this persona be allowed this call, and why (not)? Nothing runs, nothing is recorded.

It asks the execute path's own checks, so the two cannot differ.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from core.errors import InvalidRequest, ToolHubError
from execution.engine.calls.checks import arguments_judged, call_allow, call_check, denied
from execution.engine.requests import CallRequest, bounds_of
from registry.selectors import call_decide, tool_missing, tool_resolve
from security.acting import PERSONAS, reading
from security.capabilities import is_capability
from security.decisions import Check, Decision, decide
from security.facts import CallFacts, GrantFact
from security.models import Persona, User
from security.policy.usage import policy_told
from security.principals import PersonaPrincipal
from security.sharing.reach import within
from security.tokens import principal_supposed

VIEW = "security.view_persona"


@dataclass(frozen=True)
class Simulated:
    """What would become of a call. `refusal` is the error that its caller would get; None when accepted.

    `decision` is None for who may not know that the tool exists.
    """

    persona: str
    tool: str
    version: str | None
    decision: Decision | None
    refusal: ToolHubError | None = None
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The call in words."""
        return f"{self.persona} calls {self.tool} {self.version or ''}".rstrip()

    @property
    def waits(self) -> bool:
        """Whether a person would have to approve the call."""
        return self.decision is not None and self.decision.asks is not None

    def as_dict(self) -> dict[str, Any]:
        """As POST decisions/simulate answers."""
        refusal = self.refusal
        return {
            "persona": self.persona,
            "tool": self.tool,
            "version": self.version,
            "allowed": refusal is None,
            "status": refusal.known.status if refusal else 202 if self.waits else 200,
            "decision": self.decision.as_dict() if self.decision else None,
            "error": _error(refusal) if refusal else None,
            "errors": refusal.errors if refusal else [],
            "warnings": list(self.warnings),
        }


def _error(refusal: ToolHubError) -> dict[str, Any]:
    """The error object without the decision, which stands beside it."""
    error = refusal.as_error()
    error["details"].pop("decision", None)
    return error


def persona_asked(by: User | PersonaPrincipal, name: str) -> Persona:
    """The persona that a question is about. An agent asks about itself freely, else as `asker_check` says.

    Raises Denied, InvalidRequest.
    """
    own = isinstance(by, PersonaPrincipal) and by.persona == name
    rows = Persona.objects.filter(name=name)
    if not own:
        rows = within(asker_check(by), rows, VIEW)
    persona = rows.first() if "\0" not in name else None
    if persona is None:
        message = f"There is no persona {name[:64]!r}."
        raise InvalidRequest(message, errors=[{"pointer": "/persona", "message": message}])
    return persona


def asker_check(by: User | PersonaPrincipal) -> User:
    """The person who asks. Raises Denied unless they see personas, for an agent without PERSONAS, too."""
    return reading(by, VIEW, PERSONAS)


def call_simulate(
    persona: Persona, name: str, request: CallRequest, *, known: bool = True, responsible_id: int = 0
) -> Simulated:
    """What a call of the tool by the persona, with a valid token, would lead to now.

    Where the arguments are not `known` yet, conditions on them count as met. `responsible_id` is who answers
    for the call, where that is known. Raises NotFound for a tool or version that does not exist.
    """
    principal = dataclasses.replace(principal_supposed(persona), responsible_id=responsible_id)
    resolved = tool_resolve(name, persona.pk, request.version)
    found = dataclasses.replace(resolved, policy=policy_told(resolved.policy, persona.pk))
    judged, problems = arguments_judged(found, request) if known else (request, [])
    arguments = judged.arguments if known else None
    decision = call_decide(principal, found, arguments=arguments, session=request.session, fits=not problems)
    refusal, warnings = None, tuple(decision.warnings)
    try:
        if known:
            warnings = call_check(principal, name, request, found=resolved).warnings
        else:
            call_allow(principal, resolved, request)
            warnings += bounds_of(found.version, request, principal.standing).warnings
        # Last, as a call is counted when nothing else is in its way.
        if failed := decision.failure:
            refusal = denied(failed, decision)
    except ToolHubError as error:
        refusal = error
    return Simulated(persona.name, found.name, found.version.version, decision, refusal, warnings)


def own_simulate(
    persona: Persona, name: str, request: CallRequest, *, known: bool = True, responsible_id: int = 0
) -> Simulated:
    """As `call_simulate` for the agent itself: a tool that it may not see is like one that does not exist."""
    try:
        found = call_simulate(persona, name, request, known=known, responsible_id=responsible_id)
    except ToolHubError as error:
        return Simulated(persona.name, name, None, None, error)
    if found.refusal and found.refusal.code == "TOOL_NOT_FOUND":
        return Simulated(persona.name, name, None, None, tool_missing(name.partition("@")[0], persona.pk))
    return found


def capabilities_simulate(required: Iterable[str], held: Iterable[str]) -> tuple[Check, list[str]]:
    """Whether capabilities that are held satisfy those that are required; and what is none of either.

    The decision's own check, on a call that has every other right.
    """
    required, held = tuple(required), tuple(held)
    facts = CallFacts(
        now=datetime.now(UTC),
        persona="the persona",
        persona_active=True,
        token_state="none",
        responsible_active=True,
        tool="the tool",
        version="",
        version_state="active",
        assigned_by="by name",
        required=required,
        grants=tuple(GrantFact(name, None) for name in held),
    )
    check = next(check for check in decide(facts).checks if check.name == "capabilities")
    none = [text for text in dict.fromkeys((*required, *held)) if not is_capability(text)]
    return check, [
        f"{text[:120]!r} is no capability: no tool asks for it, and nobody is granted it." for text in none
    ]


def request_supposed(body: Mapping[str, Any]) -> CallRequest:
    """The call that a question supposes."""
    wanted = {name: body[name] for name in ("arguments", "version", "isolation_level") if name in body}
    return CallRequest(**{"arguments": {}, **wanted})
