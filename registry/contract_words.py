"""A tool's contract as people read it: what it needs, what it touches, what it promises."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.contracts import isolation_of
from registry.models import ToolVersion
from registry.retry_policies import policy_words
from registry.runtimes import hub_runtimes
from security.sharing.groups import group_exists

_SIZES = {"memoryBytes": "memory", "diskBytes": "disk"}
_ISOLATION = {
    "none": "a process",
    "basic": "a process",
    "strict": "a sandbox",
    "paranoid": "a sandbox without any way out",
}


@dataclass(frozen=True)
class Line:
    """One statement: `values` one below the other, as code where `code` says so, or a size in bytes."""

    label: str
    values: tuple[Any, ...]
    code: bool = False
    kind: str = "text"


@dataclass(frozen=True)
class Group:
    """Statements under one heading."""

    id: str
    heading: str
    lines: tuple[Line, ...]


def contract_groups(version: ToolVersion) -> list[Group]:
    """The contract of a version. What it is silent about stands with the hub's reading."""
    declared = version.declared
    return [
        Group("needs", "What it needs", tuple(_needs(version, declared))),
        Group("touches", "What it touches", tuple(_touches(version, declared))),
        Group("promises", "What it promises", tuple(_promises(version, declared))),
    ]


def _texts(label: str, values: Iterable[Any], *, code: bool = False) -> Iterator[Line]:
    if found := tuple(values):
        yield Line(label, found, code)


def _needs(version: ToolVersion, declared: Mapping[str, Any]) -> Iterator[Line]:
    yield Line(
        "Capabilities", tuple(version.required_capabilities) or ("none",), bool(version.required_capabilities)
    )
    yield from _texts("Before a run", map(_precondition, declared.get("preconditions", ())))
    if declared.get("requiresApproval"):
        yield Line("Approval", ("a person approves each call",))
    yield from _texts("Rules of a call", (each["message"] for each in declared.get("validators", ())))
    hooks = declared.get("hooks", {})
    if "schema" in hooks:
        yield Line("Arguments", ("their schema depends on the context",))
    if "validate" in hooks:
        yield Line("Arguments", ("judged by the tool before the call",))
    if declared.get("sanitise"):
        yield Line("Texts", ("come without control and bidi characters",))
    checks = {"block": "calls that look like attacks are refused", "off": "off"}.get(version.content_mode)
    if checks:
        yield Line("Attack checks", (checks,))
    runtime = hub_runtimes().get(version.runner)
    if runtime is not None and runtime.is_sandboxed:
        isolation = isolation_of(declared)
        yield Line("Held by", (f"{_ISOLATION.get(isolation, isolation)} ({isolation})",))
    wanted = declared.get("resourceRequirements", {})
    for name, label in _SIZES.items():
        if name in wanted:
            yield Line(f"Free {label}", (wanted[name],), kind="size")
    if "cpuPercent" in wanted:
        yield Line("Processor", (f"{wanted['cpuPercent']} % of one core",))
    variables = declared.get("environment", {})
    yield from _texts(
        "Environment", (f"{name}={value}" for name, value in sorted(variables.items())), code=True
    )


def _precondition(one: Mapping[str, Any]) -> str:
    optional = one.get("critical") is False or one.get("availability") == "preferred"
    return f"{one['description']}{' (runs degraded without it)' if optional else ''}"


def _touches(version: ToolVersion, declared: Mapping[str, Any]) -> Iterator[Line]:
    yield Line("Side effects", ("none (pure)" if version.is_pure else "has some (impure)",))
    hosts = declared.get("network", {}).get("allow", ())
    yield Line("Network", tuple(hosts) or ("none",), bool(hosts))
    files = declared.get("filesystem", {})
    yield from _texts("Reads", files.get("read", ()), code=True)
    yield from _texts("Writes", files.get("write", ()), code=True)
    keys = declared.get("memory", {})
    yield from _texts("Memory", (f"{scope}: {key}" for scope in keys for key in keys[scope]), code=True)
    yield from _texts("After a run", map(_effect, declared.get("effects", ())))


def _effect(one: Mapping[str, Any]) -> str:
    when = {"failure": "after a failure", "always": "after every outcome"}.get(one.get("on", "success"))
    undone = one.get("reversible", one["type"] != "notification")
    more = [*([when] if when else []), *([] if undone else ["cannot be undone"])]
    return f"{one['description']} ({', '.join(more)})" if more else str(one["description"])


def _promises(version: ToolVersion, declared: Mapping[str, Any]) -> Iterator[Line]:
    yield Line("Called twice", ("as once (idempotent)" if version.is_idempotent else "may act twice",))
    yield Line("Determinism", (version.determinism.replace("_", " "),))
    yield Line("Time limit", (version.timeout_ms,), kind="ms")
    yield Line("Output limit", (version.max_output_bytes,), kind="size")
    bounds = declared.get("resourceBounds", {})
    if bounds.get("maxMemoryBytes"):
        yield Line("Memory limit", (bounds["maxMemoryBytes"],), kind="size")
    if bounds.get("maxDiskBytes"):
        yield Line("Disk limit", (bounds["maxDiskBytes"],), kind="size")
    if bounds.get("maxCpuMs"):
        yield Line("Processor time", (bounds["maxCpuMs"],), kind="ms")
    if bounds.get("maxConcurrency"):
        yield Line("Runs at once", (bounds["maxConcurrency"],))
    if retry := declared.get("retry"):
        yield Line("Retried", policy_words(retry))
    if recovery := declared.get("recovery"):
        yield Line("When all fails", (_recovery(recovery),))


def _recovery(declared: Mapping[str, Any]) -> str:
    most = declared.get("maxAttempts")
    words = {
        "retry": "it has failed",
        "fallback": f"{declared.get('fallbackTool')} is called with the same arguments",
        "skip": "a chain goes on without it",
        "abort": "a chain ends, also one that goes on after errors",
        "manual": "a person decides",
    }[declared["type"]]
    if escalation := declared.get("escalation"):
        to = escalation["to"]
        known = "" if group_exists(to) else ", which does not exist here: nobody is notified"
        words += f", and after {escalation['after']} the group {to} is notified{known}"
    return f"after {most} attempt{'s' if most > 1 else ''}: {words}" if most else words
