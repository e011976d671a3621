"""What `@tool` takes: the terms of a tool's contract, and what they are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from toolhub_sdk.hooks import Hook
from toolhub_sdk.memory import Scope

Category: TypeAlias = Literal["system", "file", "network", "data", "memory", "code", "mcp", "custom"]
SideEffects: TypeAlias = Literal["pure", "impure"]
Determinism: TypeAlias = Literal["deterministic", "bounded", "non_deterministic"]
ErrorType: TypeAlias = Literal[
    "execution", "validation", "timeout", "resource", "security", "network", "dependency"
]
Severity: TypeAlias = Literal["low", "medium", "high", "critical"]
Isolation: TypeAlias = Literal["none", "basic", "strict", "paranoid"]
ContentChecks: TypeAlias = Literal["record", "block", "off"]
FieldKind: TypeAlias = Literal["path", "command", "sql", "url", "html", "text", "code"]


@dataclass(frozen=True)
class DeclaredError:
    """A code of the tool's own that its ToolErrors may carry, and what a caller can do about it.

    `description` says when it comes; `type` is its class. An error of this code has these where it says
    nothing else, and is never recoverable where it is declared not to be.
    """

    code: str
    recoverable: bool = True
    suggestions: Sequence[str] = ()
    description: str = ""
    type: ErrorType = "execution"
    severity: Severity = "medium"

    def __post_init__(self) -> None:
        if self.type not in get_args(ErrorType) or self.severity not in get_args(Severity):
            raise ValueError(
                f"{self.code}: {self.type} or {self.severity} is no class or severity of errors."
            )


@dataclass(frozen=True)
class Rule:
    """What must hold of a call beyond its schema: CEL over `arguments`, `context`, `context_data`, `persona`.

    `message` is what a caller reads when it does not; `pointer` the argument that it is about (RFC 6901).
    """

    expression: str
    message: str
    pointer: str = ""


@dataclass(frozen=True)
class Example:
    """A call that shows the tool, run as the self-test when its package is installed.

    Without a `result` the result only has to fit the output schema, for tools that depend on the clock.
    """

    arguments: Mapping[str, Any]
    result: Any = ...
    description: str = ""


class Terms(TypedDict, total=False):
    """A tool's contract as its author writes it. Times are ms, sizes bytes.

    What is left out or None is as ToolSpec has it; a bound that is not named is the hub's.
    """

    title: str | None
    category: Category
    tags: Sequence[str]

    # What a call does to the world, and whether it may be done again.
    side_effects: SideEffects
    idempotent: bool
    determinism: Determinism
    cache_seconds: int | None

    # What it may: the capabilities that a persona needs for it, the `host:port` that it reaches, folders.
    capabilities: Sequence[str]
    isolation: Isolation
    network: Sequence[str]
    filesystem: Mapping[Literal["read", "write"], Sequence[str]] | None
    environment: Mapping[str, str] | None
    # A person approves each call.
    requires_approval: bool

    # What it may use. What a machine has to have free is as in toolhub.json.
    timeout_ms: int
    max_output_bytes: int
    max_memory_bytes: int | None
    max_disk_bytes: int | None
    max_cpu_ms: int | None
    max_concurrency: int | None
    resource_requirements: Mapping[str, int] | None
    # For the hub's own tools that wait for nothing and end soon whatever they are given: no thread carries
    # them out that could be left behind. Packages' tools run in the sandbox all the same.
    quick: bool

    # What the hub does around a call. `memory` are the keys that the tool uses, by scope; `retry` is NONE,
    # QUICK, STANDARD, AGGRESSIVE or a policy; that, conditions, effects and recovery are as in toolhub.json.
    preconditions: Sequence[Mapping[str, Any]]
    effects: Sequence[Mapping[str, Any]]
    memory: Mapping[Scope, Sequence[str]] | None
    retry: str | Mapping[str, Any]
    recovery: Mapping[str, Any] | None

    # What is asked of arguments beyond their schema. The hooks are functions of the module, see
    # docs/authoring.md.
    validators: Sequence[Rule]
    validate: Hook | None
    schema: Hook | None
    shutdown: Hook | None
    # Texts come in NFC, without control and bidi characters.
    sanitise: bool
    # What is done about arguments that look like attacks, and which kind of field each is, by JSON Pointer,
    # where neither schema nor name says it.
    content_checks: ContentChecks
    field_kinds: Mapping[str, FieldKind] | None

    # What callers read; the documentation is a Markdown file of the package.
    errors: Sequence[DeclaredError]
    examples: Sequence[Example]
    documentation: str | None


_LISTS: Mapping[str, tuple[type, str]] = {
    "tags": (str, "texts"),
    "capabilities": (str, "texts"),
    "network": (str, "texts"),
    "preconditions": (Mapping, "objects"),
    "effects": (Mapping, "objects"),
    "validators": (Rule, "Rules"),
    "errors": (DeclaredError, "DeclaredErrors"),
    "examples": (Example, "Examples"),
}
_NUMBERS = (
    "timeout_ms",
    "max_output_bytes",
    "max_memory_bytes",
    "max_disk_bytes",
    "max_cpu_ms",
    "max_concurrency",
)


def terms_read(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The terms that say something, lists as tuples.

    Raises TypeError for one that is unknown or of another type, ValueError for a bound that is none.
    """
    said = {name: value for name, value in given.items() if value is not None}
    for name, value in said.items():
        if name not in Terms.__annotations__:
            raise TypeError(f"{tool}: @tool takes no {name}.{_near(name)}")
        if name in _LISTS:
            said[name] = _listed(tool, name, value)
        elif name in _NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{tool}: {name} is a whole number, not {value!r:.80}.")
            if value <= 0:
                raise ValueError(f"{tool}: {name} is greater than 0.")
    return said


def _near(name: str) -> str:
    near = [known for known in Terms.__annotations__ if known in name or name in known]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _listed(tool: str, name: str, value: Any) -> tuple[Any, ...]:
    kind, plural = _LISTS[name]
    if isinstance(value, kind):
        raise TypeError(f"{tool}: {name} is a list of {plural}. Write {name}=[{value!r:.80}].")
    if not isinstance(value, Sequence):
        raise TypeError(f"{tool}: {name} is a list of {plural}, not {value!r:.80}.")
    for item in value:
        if not isinstance(item, kind):
            raise TypeError(f"{tool}: {name} is a list of {plural}, and {item!r:.80} is none.")
    return tuple(value)
