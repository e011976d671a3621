"""The one decision function: may this call be made, and why (not)?

It works on values only, so that the execute path, the list of tools, the console and the
simulator all ask the same function.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from security.capabilities import holders
from security.conditions import Condition, condition_words, unmet

Verdict = Literal["pass", "warn", "fail"]
TokenState = Literal["valid", "expired", "revoked", "none"]


@dataclass(frozen=True)
class GrantFact:
    """A grant: capability, expiry (UTC; None for no end), and conditions on a call's arguments."""

    capability: str
    expires_at: datetime | None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class CallFacts:
    """All that a decision rests on."""

    now: datetime
    persona: str
    persona_active: bool
    token_state: TokenState
    responsible_active: bool
    tool: str
    version: str
    version_state: Literal["active", "deprecated", "yanked", "quarantined"]
    # Why it is deprecated or withdrawn, as a person wrote it.
    version_reason: str = field(default="", kw_only=True)
    # What assigns the tool to the persona, in words; None when nothing does.
    assigned_by: str | None
    required: tuple[str, ...]
    grants: tuple[GrantFact, ...]
    # None where no call is made yet, as in a list of tools: then conditions count as met.
    arguments: Mapping[str, Any] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Check:
    """One rule's verdict. `code` is the error a failure leads to; `who` can change it, by `remedy`."""

    name: str
    verdict: Verdict
    reason: str
    code: str = ""
    remedy: str = ""
    who: str = ""


@dataclass(frozen=True)
class Decision:
    """Allowed when no check fails. The first failure decides the code."""

    checks: tuple[Check, ...]

    @property
    def allowed(self) -> bool:
        return all(check.verdict != "fail" for check in self.checks)

    @property
    def failure(self) -> Check | None:
        return next((check for check in self.checks if check.verdict == "fail"), None)

    @property
    def grounds(self) -> tuple[str, ...]:
        """What somebody did that allows the call, in words: assigned the tool, granted what it needs."""
        return tuple(check.reason for check in self.checks if check.name in _GROUNDS)

    @property
    def warnings(self) -> list[str]:
        return [check.reason for check in self.checks if check.verdict == "warn"]

    def as_dict(self) -> dict[str, Any]:
        """`{allowed, checks: [{name, verdict, reason, code, remedy, who}]}`."""
        return {"allowed": self.allowed, "checks": [asdict(check) for check in self.checks]}


_ADMIN = "an admin"
_GROUNDS = frozenset({"assignment", "capabilities"})


def _token(facts: CallFacts) -> Check:
    if facts.token_state in {"expired", "revoked"}:
        return Check(
            "token",
            "fail",
            f"The token is {facts.token_state}.",
            "UNAUTHENTICATED",
            "Use a valid token of the persona.",
            _ADMIN,
        )
    if not facts.responsible_active:
        return Check(
            "token",
            "fail",
            "The person responsible has left.",
            "PERMISSION_DENIED",
            "Let another responsible person make a token or schedule.",
            _ADMIN,
        )
    return Check(
        "token", "pass", "The token is valid." if facts.token_state == "valid" else "No token is involved."
    )


def _persona(facts: CallFacts) -> Check:
    if facts.persona_active:
        return Check("persona", "pass", f"The persona {facts.persona} is active.")
    return Check(
        "persona",
        "fail",
        f"The persona {facts.persona} is switched off.",
        "PERMISSION_DENIED",
        "Switch the persona on.",
        _ADMIN,
    )


def _assignment(facts: CallFacts) -> Check:
    if facts.assigned_by:
        return Check("assignment", "pass", f"{facts.tool} is assigned: {facts.assigned_by}.")
    return Check(
        "assignment",
        "fail",
        f"{facts.tool} is not assigned to {facts.persona}.",
        "TOOL_NOT_FOUND",
        f"Assign {facts.tool} or its package to {facts.persona}.",
        _ADMIN,
    )


def _version_state(facts: CallFacts) -> Check:
    named = f"{facts.tool} {facts.version}"
    why = f" {facts.version_reason}" if facts.version_reason else ""
    match facts.version_state:
        case "active":
            return Check("version", "pass", f"{named} is published.")
        case "deprecated":
            reason = f"{named} is deprecated.{why}"
            return Check("version", "warn", reason, remedy="Move to another version.", who=_ADMIN)
        case "yanked":
            return Check(
                "version",
                "fail",
                f"{named} was withdrawn.{why}",
                "VERSION_YANKED",
                "Call another version.",
                _ADMIN,
            )
    return Check("version", "fail", f"{named} is quarantined.", "QUARANTINED", "Review what changed.", _ADMIN)


def _capabilities(facts: CallFacts) -> Check:
    if not facts.required:
        return Check("capabilities", "pass", f"{facts.tool} needs no capability.")
    unheld: dict[str, str] = {}
    held: list[str] = []
    for needed in facts.required:
        by, why = _held(needed, facts)
        if by is None:
            unheld[needed] = why
        else:
            held.append(f"{needed} by {by}{why}")
    if not unheld:
        return Check("capabilities", "pass", f"Held: {', '.join(held)}.")
    return Check(
        "capabilities",
        "fail",
        f"{facts.persona} may not: {'; '.join(f'{needed} {why}' for needed, why in unheld.items())}.",
        "CAPABILITY_MISSING",
        f"Grant {', '.join(unheld)} to {facts.persona}.",
        _ADMIN,
    )


def _held(needed: str, facts: CallFacts) -> tuple[str | None, str]:
    """The narrowest grant that counts for a capability, with a note; or None, and why none does."""
    known = {grant.capability: grant for grant in facts.grants}
    why = "is missing"
    for name in holders(needed):
        grant = known.get(name)
        if grant is None:
            continue
        if grant.expires_at is not None and grant.expires_at <= facts.now:
            why = "is expired" if why == "is missing" else why
            continue
        if not grant.conditions:
            return name, ""
        if facts.arguments is None:
            return name, f" where {' and '.join(map(condition_words, grant.conditions))}"
        failed = unmet(grant.conditions, facts.arguments)
        if failed is None:
            return name, f" where {' and '.join(map(condition_words, grant.conditions))}"
        # The rule and never the arguments: decisions stand in the ledger.
        why = f"is granted only where {condition_words(failed)}"
    return None, why


# In this order; the first failure names the error. Later rules are lines of their own here.
RULES: tuple[Callable[[CallFacts], Check], ...] = (
    _token,
    _persona,
    _assignment,
    _version_state,
    _capabilities,
)


def decide(facts: CallFacts) -> Decision:
    """Runs every rule, also after a failure, so that the explanation is whole."""
    return Decision(tuple(rule(facts) for rule in RULES))
