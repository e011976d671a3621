"""Reads the body of an execute call into a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings

from core.errors import InvalidRequest, ToolHubError
from execution.engine.runtimes import RUNTIMES
from registry.models import ToolVersion
from registry.schemas import pointer
from security.facts import Standing
from toolhub_sdk.checks.mismatch import given_words, listed, unknown_words
from toolhub_sdk.checks.near import did_you_mean, plain_name
from toolhub_sdk.package import CONTRACT

MEMBERS: dict[str, type] = {
    "arguments": dict,
    "version": str,
    "context": dict,
    "context_data": dict,
    "hints": dict,
    "limits": dict,
    "isolation_level": str,
    "callback_url": str,
}
CONTEXT_MEMBERS = ("session_id", "task_id", "loop_id", "agent_id", "user_id", "project")
LIMITS = ("timeoutMs", "maxOutputBytes", "deadlineMs")
ISOLATION_LEVELS = ("none", "basic", "strict", "paranoid")
MEMBER_SHOWN = 80
_WORDS: dict[type, str] = {dict: "an object", str: "a string"}


@dataclass(frozen=True)
class CallRequest:
    """What the caller asks for, checked for form but not yet against the tool."""

    arguments: dict[str, Any]
    version: str | None = None
    context: dict[str, Any] = field(default_factory=dict)
    context_data: dict[str, Any] = field(default_factory=dict)
    hints: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    isolation_level: str | None = None
    callback_url: str | None = None
    # Which chain the call is part of, `{id, step}`; never the caller's to set.
    chain: dict[str, Any] = field(default_factory=dict)
    # The run that this call repeats, and what a replay takes from it (execution/runs/replay.py); as `chain`.
    origin: UUID | None = None
    replay_of: dict[str, str] = field(default_factory=dict)
    # The arguments before they were sanitised (sanitise.py), where they differ; as `chain`.
    given: dict[str, Any] = field(default_factory=dict)
    # The run that this call follows from, the first of them all, and how deep it lies; as `chain`.
    parent: UUID | None = None
    root: UUID | None = None
    depth: int = 0
    # The tool's hook that is called in place of the tool (execution/entry/dynamic); as `chain`.
    hook: str = ""

    @property
    def session(self) -> str:
        """The session that the call is in; empty where its caller names none."""
        return str(self.context.get("session_id", ""))

    def recorded(self) -> dict[str, Any]:
        """What stands in the run beside the arguments; empty members are left out."""
        members = {
            "context": self.context,
            "context_data": self.context_data,
            "hints": self.hints,
            "limits": self.limits,
            "isolation_level": self.isolation_level,
            "callback_url": self.callback_url,
            "chain": self.chain,
            "replay_of": self.replay_of,
            "hook": self.hook,
            "given": self.given,
        }
        return {name: value for name, value in members.items() if value}


def request_read(body: Any) -> CallRequest:
    """Return the call request in a parsed body; a member that is null counts as left out.

    Raises InvalidRequest and UNKNOWN_MEMBER with a pointer to each fault.
    """
    if not isinstance(body, dict):
        message = f'Expected an object such as {{"arguments": {{…}}}}; got {given_words(body)}.'
        raise InvalidRequest(message, errors=[{"pointer": "", "message": message}])
    unknown = [name for name in body if name not in MEMBERS]
    if unknown:
        raise _unknown_members(unknown)
    if None in body.values():
        body = {name: value for name, value in body.items() if value is not None}
    errors = [
        {"pointer": f"/{name}", "message": f"Expected {_WORDS[MEMBERS[name]]}; got {given_words(value)}."}
        for name, value in body.items()
        if not isinstance(value, MEMBERS[name])
    ]
    if not errors:
        errors = [*_context_errors(body.get("context", {})), *_limit_errors(body.get("limits", {}))]
    level = body.get("isolation_level")
    if not errors and level is not None and level not in ISOLATION_LEVELS:
        expected = f"Expected one of {listed(ISOLATION_LEVELS, 4)}; got {given_words(level)}."
        near = did_you_mean(level, ISOLATION_LEVELS)
        errors = [{"pointer": "/isolation_level", "message": f"{expected}{near}"}]
    if errors:
        message = f"The request does not fit. {errors[0]['pointer']}: {errors[0]['message']}"
        raise InvalidRequest(message, errors=errors)
    return CallRequest(**{"arguments": {}, **body})


def _unknown_members(names: Sequence[str]) -> ToolHubError:
    errors = [{"pointer": pointer([name[:MEMBER_SHOWN]]), "message": _unknown(name)} for name in names[:20]]
    return ToolHubError(
        f"The request has unknown members. {errors[0]['pointer']}: {errors[0]['message']}",
        code="UNKNOWN_MEMBER",
        suggestions=['Put the tool\'s arguments under "arguments": {"arguments": {…}}.'],
        errors=errors,
    )


def _unknown(name: str) -> str:
    if plain_name(name) == "idempotencykey":
        return (
            "Unknown member. Send the key as the header Idempotency-Key; over MCP as idempotency_key in "
            "_meta's io.toolhub/call."
        )
    return f"{unknown_words(name, list(MEMBERS))} The tool's arguments belong under arguments."


def _context_errors(context: Mapping[str, Any]) -> list[dict[str, str]]:
    errors = []
    for name, value in context.items():
        if name not in CONTEXT_MEMBERS:
            errors.append(
                {
                    "pointer": pointer(["context", name]),
                    "message": unknown_words(name, CONTEXT_MEMBERS),
                }
            )
        elif name != "project" and not (
            isinstance(value, str) and 1 <= len(value) <= 128 and "\0" not in value
        ):
            message = f"Expected a string of 1 to 128 characters without NUL; got {given_words(value)}."
            errors.append({"pointer": f"/context/{name}", "message": message})
    return errors


def _limit_errors(limits: Mapping[str, Any]) -> list[dict[str, str]]:
    errors = []
    for name, value in limits.items():
        if name not in LIMITS:
            at = pointer(["limits", name])
            errors.append({"pointer": at, "message": unknown_words(name, list(LIMITS))})
        elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
            message = f"Expected a whole number above 0; got {given_words(value)}."
            errors.append({"pointer": f"/limits/{name}", "message": message})
    return errors


@dataclass(frozen=True)
class Bounds:
    """The bounds in force for a run, and what was asked in vain.

    The timeout of an attempt in ms, the output in bytes, and the ms within which the run has to begin once it
    is due.

    `isolation` is the least that caller and persona ask for, in a manifest's words; empty: as the tool asks.
    """

    timeout_ms: int
    max_output_bytes: int
    deadline_ms: int
    isolation: str
    warnings: tuple[str, ...]


def deadline_ms_of(recorded: Mapping[str, Any]) -> int:
    """The ms within which a run with this recorded request has to begin once it is due."""
    most = settings.QUEUE_DEADLINE_S * 1000
    return min(int(recorded.get("limits", {}).get("deadlineMs", most)), most)


def bounds_of(version: ToolVersion, request: CallRequest, standing: Standing) -> Bounds:
    """The tool's bounds, tightened by caller and persona. A looser wish is ignored with a warning.

    Raises ToolHubError for isolation that the tool's runner cannot give.
    """
    values = {
        "timeoutMs": version.timeout_ms,
        "maxOutputBytes": version.max_output_bytes,
        "deadlineMs": settings.QUEUE_DEADLINE_S * 1000,
    }
    warnings = []
    for name, asked in request.limits.items():
        if asked > values[name]:
            who = "the hub" if name == "deadlineMs" else "the tool"
            warnings.append(f"limits.{name} was ignored: {who} allows at most {values[name]}.")
        values[name] = min(values[name], asked)
    isolation = _isolation(version, request, standing, warnings)
    return Bounds(
        values["timeoutMs"], values["maxOutputBytes"], values["deadlineMs"], isolation, tuple(warnings)
    )


def _isolation(version: ToolVersion, request: CallRequest, standing: Standing, warnings: list[str]) -> str:
    asked, least = request.isolation_level or "", standing.isolation
    wanted = max(asked, least, key=_strength)
    runtime = RUNTIMES[version.runner]
    if runtime.is_trusted and _strength(wanted) >= _strength("strict"):
        who = "The persona" if _strength(least) > _strength(asked) else "The call"
        raise ToolHubError(
            f"{version.tool.name} is built in: it runs as trusted code without a sandbox. "
            f"{who} asks for {wanted}.",
            code="SANDBOX_UNAVAILABLE",
        )
    declared = runtime.least_level(version)
    floor = max(declared, least, key=_strength)
    if asked == "none" or (asked and _strength(asked) < _strength(floor)):
        held = f"; this one is held at {floor}" if _strength(floor) > 0 else ""
        warnings.append(f"isolation_level {asked} was ignored: a call may only ask for more isolation{held}.")
    return wanted


def _strength(word: str) -> int:
    return ISOLATION_LEVELS.index(word) if word else -1


def at_once_of(version: ToolVersion) -> int | None:
    """How many runs of its tool a version allows at once; None for any number."""
    bounds = version.definition.get("_meta", {}).get(CONTRACT, {}).get("resourceBounds", {})
    most = bounds.get("maxConcurrency")
    return most if isinstance(most, int) else None
