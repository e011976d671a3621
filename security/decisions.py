"""The one decision function: may this call be made, and why (not)?

It works on values only, so that the execute path, the list of tools, the console and the
simulator all ask the same function.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from security.capabilities import covers
from security.conditions import SESSION
from security.content.violation import Violation
from security.facts import CallFacts, GrantFact, LimitFact, RestrictionFact
from security.held import Held, asks_approval, held
from toolhub_sdk.visible_text import text_seen

# What is to be asked is allowed once a person has approved the call.
Verdict = Literal["pass", "warn", "fail", "ask"]
APPROVED = "approved"
"""A grant of `approved:TOOL` approves calls of the tool in advance."""
# Who can change what a rule says, by the least role that can (security/accounts/roles.py); else an admin.
_ADMIN, _OPERATOR, _PUBLISHER = "an admin", "an operator or an admin", "a publisher or an admin"
_WHO = {"persona": _OPERATOR, "pause": _OPERATOR, "restrictions": _OPERATOR, "version": _PUBLISHER}
VIOLATIONS_NAMED = 3
_WINDOWS = {1: "a second", 60: "a minute", 3600: "an hour", 86_400: "a day"}
_GROUNDS = frozenset({"assignment", "capabilities"})


@dataclass(frozen=True)
class Check:
    """One rule's verdict. `code` is the error a failure leads to; `who` can change it, by `remedy`."""

    name: str
    verdict: Verdict
    reason: str
    code: str = ""
    remedy: str = ""
    who: str = ""
    # After how many seconds the failure is over by itself.
    retry_after: int | None = None


@dataclass(frozen=True)
class Decision:
    """Allowed when no check fails. The first failure decides the code."""

    checks: tuple[Check, ...]
    # What looks like an attack in the arguments.
    violations: tuple[Violation, ...] = ()

    @property
    def allowed(self) -> bool:
        return all(check.verdict != "fail" for check in self.checks)

    @property
    def failure(self) -> Check | None:
        return next((check for check in self.checks if check.verdict == "fail"), None)

    @property
    def asks(self) -> Check | None:
        """The check that a person has to meet, where one has to."""
        return next((check for check in self.checks if check.verdict == "ask"), None)

    @property
    def grounds(self) -> tuple[str, ...]:
        """What somebody did that allows the call, in words: assigned the tool, granted what it needs."""
        return tuple(check.reason for check in self.checks if check.name in _GROUNDS)

    @property
    def warnings(self) -> list[str]:
        return [check.reason for check in self.checks if check.verdict == "warn"]

    def as_dict(self) -> dict[str, Any]:
        """`{allowed, checks: [{name, verdict, reason, code, remedy, who}]}`."""
        return {"allowed": self.allowed, "checks": [_told(check) for check in self.checks]}


def _told(check: Check) -> dict[str, Any]:
    told = asdict(check)
    if check.retry_after is None:
        del told["retry_after"]
    return told


def _fail(name: str, reason: str, code: str, remedy: str) -> Check:
    return Check(name, "fail", reason, code, remedy, _WHO.get(name, _ADMIN))


def _token(facts: CallFacts) -> Check:
    if facts.token_state in {"expired", "revoked"}:
        reason = f"The token is {facts.token_state}."
        return _fail("token", reason, "UNAUTHENTICATED", "Use a valid token of the persona.")
    if not facts.responsible_active:
        remedy = "Let another responsible person make a token or schedule."
        return _fail("token", "The person responsible has left.", "PERMISSION_DENIED", remedy)
    valid = facts.token_state == "valid"
    return Check("token", "pass", "The token is valid." if valid else "No token is involved.")


def _persona(facts: CallFacts) -> Check:
    if facts.persona_active:
        return Check("persona", "pass", f"The persona {facts.persona} is active.")
    reason = f"The persona {facts.persona} is switched off."
    return _fail("persona", reason, "PERMISSION_DENIED", "Switch the persona on.")


def _assignment(facts: CallFacts) -> Check:
    if facts.assigned_by:
        return Check("assignment", "pass", f"{facts.tool} is assigned: {facts.assigned_by}.")
    reason = f"{facts.tool} is not assigned to {facts.persona}."
    remedy = f"Assign {facts.tool}, its package or a collection of it to {facts.persona}."
    return _fail("assignment", reason, "TOOL_NOT_FOUND", remedy)


def _pause(facts: CallFacts) -> Check:
    pause = next((one for one in facts.policy.restrictions if one.is_pause), None)
    if pause is None:
        return Check("pause", "pass", "Nothing is paused.")
    what = (
        f"The persona {facts.persona}"
        if pause.of_persona
        else f"The tool {pause.tool}"
        if pause.tool
        else "The hub"
    )
    return _fail("pause", f"{what} is paused by {_said(pause)}", "PAUSED", "End the pause.")


def _version_state(facts: CallFacts) -> Check:
    named = f"{facts.tool} {facts.version}"
    why = f" {facts.version_reason}" if facts.version_reason else ""
    match facts.version_state:
        case "active":
            return Check("version", "pass", f"{named} is published.")
        case "deprecated":
            reason = f"{named} is deprecated.{why}"
            return Check("version", "warn", reason, remedy="Move to another version.", who=_PUBLISHER)
        case "yanked":
            return _fail("version", f"{named} was withdrawn.{why}", "VERSION_YANKED", "Call another version.")
    return _fail("version", f"{named} is in quarantine.{why}", "QUARANTINED", "Review it, and restore it.")


def _capabilities(facts: CallFacts) -> Check:
    if not facts.required:
        return Check("capabilities", "pass", f"{facts.tool} needs no capability.")
    unheld: dict[str, Held] = {}
    words: list[str] = []
    for needed in facts.required:
        found = _held(needed, facts)
        if found.by is None:
            unheld[needed] = found
        else:
            words.append(f"{needed} by {found.by.capability}{found.why}")
    if not unheld:
        return Check("capabilities", "pass", f"Held: {', '.join(words)}.")
    reason = f"{facts.persona} may not: {'; '.join(f'{name} {one.why}' for name, one in unheld.items())}."
    hints = " ".join(dict.fromkeys(one.hint for one in unheld.values() if one.hint))
    remedy = f"Grant {', '.join(unheld)} to {facts.persona}. {hints}".rstrip()
    return _fail("capabilities", reason, "CAPABILITY_MISSING", remedy)


def _held(needed: str, facts: CallFacts) -> Held:
    return held(needed, facts.grants, persona=facts.persona, now=facts.now, arguments=facts.arguments)


def _flag(facts: CallFacts) -> Check:
    flag, tier = facts.policy.flag, facts.standing.tier
    if flag is None or flag.state == "on":
        return Check(
            "flag", "pass", f"The flag {flag.name} is on." if flag else f"{facts.tool} needs no flag."
        )
    needs = f"{facts.tool} needs the flag {flag.name}, which"
    if flag.state == "off":
        return _fail("flag", f"{needs} is off.", "PERMISSION_DENIED", f"Switch the flag {flag.name} on.")
    if flag.name in facts.standing.flags:
        return Check("flag", "pass", f"{needs} the tier {tier} has.")
    if not tier:
        reason = f"{needs} tiers have; {facts.persona} is on none."
    else:
        reason = f"{needs} the tier {tier} does not have."
    remedy = f"Move {facts.persona} to a tier that has the flag {flag.name}."
    return _fail("flag", reason, "PERMISSION_DENIED", remedy)


def _restrictions(facts: CallFacts) -> Check:
    for one in facts.policy.restrictions:
        if one.is_pause or not _fits(one, facts):
            continue
        parts = (f"with {one.tool}" * bool(one.tool), f"by {facts.persona}" * one.of_persona)
        needs = f"that need {one.capability}" * bool(one.capability)
        what = " ".join(part for part in (*parts, needs) if part)
        reason = f"A restriction denies calls {what}. Made by {_said(one)}"
        return _fail("restrictions", reason, "PERMISSION_DENIED", f"Lift the restriction on calls {what}.")
    return Check("restrictions", "pass", "No restriction denies it.")


def _fits(one: RestrictionFact, facts: CallFacts) -> bool:
    return not one.capability or any(covers(one.capability, needed) for needed in facts.required)


def _limits(facts: CallFacts) -> Check:
    limits = [limit for limit in facts.policy.limits if limit.used is not None]
    for limit in limits:
        if limit.used is not None and limit.used >= limit.most:
            code = "RATE_LIMIT" if limit.kind == "rate" else "QUOTA_EXCEEDED"
            left = limit.ends_at - facts.now if limit.ends_at else timedelta(0)
            after = max(1, math.ceil(left.total_seconds()))
            reason = f"{limit_words(limit)} {limit.of} {'are' if limit.most > 1 else 'is'} used up."
            remedy = f"Wait {after} s, or raise the limit. To raise it, set a higher one and delete this one."
            return Check("limits", "fail", reason, code, remedy, _ADMIN, after)
    used = ", ".join(f"{_used(limit)} of {limit_words(limit)} {limit.of}" for limit in limits)
    return Check("limits", "pass", f"Used: {used}." if used else "No limit is reached.")


def _used(limit: LimitFact) -> int:
    """In the measure's own unit."""
    return (limit.used or 0) // (1000 if limit.measure == "seconds" else 1)


def limit_words(limit: LimitFact) -> str:
    """As a person reads it: 10 calls a day."""
    amount = limit.most // 1000 if limit.measure == "seconds" else limit.most
    measure = limit.measure.removesuffix("s") if amount == 1 else limit.measure
    return f"{amount:,} {measure} {window_words(limit.window_s)}"


def window_words(seconds: int) -> str:
    """A window's length: a second, a day, in 90 s."""
    return _WINDOWS.get(seconds, f"in {seconds} s")


def _said(one: RestrictionFact) -> str:
    """Who, until when and why."""
    until = f" until {one.until:%Y-%m-%d %H:%M} UTC" if one.until else ""
    return f"{one.by}{until}: {one.reason}"


def _content(facts: CallFacts) -> Check:
    content = facts.content
    if content is None:
        return _NO_CONTENT
    found = content.violations
    if not found:
        return Check("content", "pass", "No argument looks like an attack.")
    named = ", ".join(f"{one.pointer} ({one.type}, {one.severity})" for one in found[:VIOLATIONS_NAMED])
    more = f" and {len(found) - VIOLATIONS_NAMED} more" if len(found) > VIOLATIONS_NAMED else ""
    reason = f"Arguments look like an attack: {named}{more}. {found[0].description}"
    if content.mode == "block":
        remedy = f"{found[0].remediation} Where it is none, set the content checks of {facts.tool} to record."
        return _fail("content", reason, "SECURITY_VIOLATION", remedy)
    return Check("content", "warn", reason, remedy=found[0].remediation, who=_ADMIN)


def _approval(facts: CallFacts) -> Check:
    why = [facts.asks] if facts.asks else []
    wanting = any(asks_approval(grant) for grant in facts.grants)
    for needed in facts.required if wanting else ():
        grant = _held(needed, facts).by
        if grant is not None and asks_approval(grant):
            why.append(f"the grant of {grant.capability} wants it")
    if not why:
        return _NO_APPROVAL
    if facts.approved:
        return Check("approval", "pass", f"Approved by {facts.approved}.")
    standing, own = _standing(facts)
    if standing is not None:
        until = f" until {standing.expires_at:%Y-%m-%d %H:%M} UTC" if standing.expires_at else ""
        where = f" in the session {text_seen(standing.session)}" if standing.session else ""
        return Check(
            "approval", "pass", f"Approved in advance by the grant of {standing.capability}{where}{until}."
        )
    return Check(
        "approval",
        "ask",
        f"A person has to approve the call: {', '.join(dict.fromkeys(why))}.{own}",
        "APPROVAL_REQUIRED",
        f"Approve it, or grant {APPROVED}:{facts.tool} to {facts.persona} until a time.",
        "who may approve calls",
    )


def _standing(facts: CallFacts) -> tuple[GrantFact | None, str]:
    """A grant that approves calls of the tool in advance; or None, and which does not count by four eyes."""
    mine = tuple(_in_session(standing_grants(facts.tool, facts.grants), facts.session))
    needed = f"{APPROVED}:{facts.tool}"
    other = tuple(grant for grant in mine if not facts.same_eyes or grant.granted_by != facts.same_eyes)
    found = _held(needed, replace(facts, grants=other)).by
    own = _held(needed, replace(facts, grants=mine)).by
    if found is not None or own is None:
        return found, ""
    return None, f" The grant of {own.capability} is by who is responsible for the caller: it does not count."


def _in_session(grants: Sequence[GrantFact], session: str) -> Iterator[GrantFact]:
    """Those that count in the session: without a condition on it, which these meet."""
    for grant in grants:
        named = [one for one in grant.conditions if one["kind"] == SESSION]
        if not named:
            yield grant
        elif session and all(one["values"] == [session] for one in named):
            others = tuple(one for one in grant.conditions if one["kind"] != SESSION)
            yield replace(grant, conditions=others, session=session)


def standing_grants(tool: str, grants: Sequence[GrantFact]) -> tuple[GrantFact, ...]:
    """What approves calls of the tool in advance by its name; `*` and tiers are for what tools do."""
    named = {f"{APPROVED}:{tool}", f"{APPROVED}:*", APPROVED}
    return tuple(grant for grant in grants if grant.capability in named and not grant.tier)


_NO_CONTENT = Check("content", "pass", "No argument is checked for attacks.")
_NO_APPROVAL = Check("approval", "pass", "No approval is needed.")

# In this order; the first failure names the error. Later rules are lines of their own here.
RULES: tuple[Callable[[CallFacts], Check], ...] = (
    _token,
    _persona,
    # Before all that names the tool: who may not see it hears nothing else of it.
    _assignment,
    _pause,
    _version_state,
    _capabilities,
    _flag,
    # After the grants: explicit denies win.
    _restrictions,
    _content,
    _limits,
    _approval,
)


def decide(facts: CallFacts) -> Decision:
    """Runs every rule, also after a failure, so that the explanation is whole."""
    violations = facts.content.violations if facts.content else ()
    return Decision(tuple(rule(facts) for rule in RULES), violations)
